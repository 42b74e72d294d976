"""One MuJoCo model and one data per thread, kept equal to Newton's batched model.

A value that all worlds share is written into the threads' models once. A value that differs between worlds becomes a
table with one row per world, which the compiled loop copies into a thread's model before it steps that world.
"""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from sportsuite.physics.mujoco_cpu import fields, layout
from sportsuite.physics.mujoco_cpu.constants import rows_of


def _compiled_short_cuts() -> int:
    """Flags: no silent jump to the default pose, no bounding volumes compiled from the template's frames."""
    return int(mujoco.mjtDisableBit.mjDSBL_AUTORESET | mujoco.mjtDisableBit.mjDSBL_MIDPHASE)


class ThreadModels:
    """The threads' models and data.

    Args:
        template: Compiled model of the first world.
        mjw_model: Newton's batched model in MJWarp's layout.
        num_worlds: Number of worlds.
        count: Number of threads.

    Attributes:
        models: The threads' models.
        datas: The threads' data.

    Raises:
        ValueError: A field has another size in MJWarp's layout than in MuJoCo's.
    """

    def __init__(self, template: mujoco.MjModel, mjw_model: object, num_worlds: int, count: int) -> None:
        self._template, self._mjw_model, self._num_worlds = template, mjw_model, num_worlds
        self._last: dict[str, np.ndarray] = {}
        self._tables: dict[str, np.ndarray] = {}
        self._places: dict[str, list[int]] = {}
        self._check_sizes()
        self.models = [self._new_model() for _ in range(count)]
        self.datas = [mujoco.MjData(model) for model in self.models]
        self._time_step = float("nan")

    def _new_model(self) -> mujoco.MjModel:
        model = copy.copy(self._template)
        model.opt.disableflags |= _compiled_short_cuts()
        gravcomp = rows_of(self._mjw_model, "body_gravcomp")
        model.body_gravcomp[:] = gravcomp.max(axis=0)  # a flag must be up if any world compensates gravity
        mujoco.mj_setConst(model, mujoco.MjData(model))
        # "Same frame" codes were compiled from the template's frames, which other worlds need not share.
        for name in ("body_sameframe", "geom_sameframe", "site_sameframe"):
            getattr(model, name)[:] = 0
        return model

    def _check_sizes(self) -> None:
        for name in (*fields.MODEL_FIELDS, *fields.LIVE_FIELDS):
            ours, theirs = getattr(self._template, name).size, rows_of(self._mjw_model, name).shape[1]
            if ours != theirs:
                raise ValueError(f"model field {name} has {theirs} values per world in MJWarp, {ours} in MuJoCo")

    def set_time_step(self, dt: float) -> None:
        """Set the substep of all models [s]."""
        if dt != self._time_step:
            for model in self.models:
                model.opt.timestep = dt
            self._time_step = dt

    def update(self, dof_m0: np.ndarray) -> None:
        """Bring the threads' models up to date with Newton's batched model.

        Args:
            dof_m0: (worlds, nv) from :class:`~sportsuite.physics.mujoco_cpu.constants.DerivedConstants`.
        """
        for name in fields.MODEL_FIELDS:
            base = np.asarray(getattr(self._template, name), np.float64).ravel()
            self._push_array(name, rows_of(self._mjw_model, name), base)
        self._push_array("dof_M0", dof_m0, None)
        for name in fields.OPTION_VECTORS:
            rows = getattr(self._mjw_model.opt, name).numpy().reshape(-1, 3)
            self._push(f"opt.{name}", rows, None, [getattr(model.opt, name).ctypes.data for model in self.models])
        for name in fields.OPTION_SCALARS:
            rows = getattr(self._mjw_model.opt, name).numpy().reshape(-1, 1)
            places = [layout.option_address(model, name) for model in self.models]
            self._push(f"opt.{name}", rows, np.array([getattr(self._template.opt, name)]), places)
        self._push("opt.impratio", self._impratio(), None, [layout.option_address(m, "impratio") for m in self.models])
        inertia = self._mjw_model.stat.meaninertia.numpy().reshape(-1, 1)
        self._push("stat.meaninertia", inertia, None, [layout.meaninertia_address(model) for model in self.models])

    def _impratio(self) -> np.ndarray:
        """Undo MJWarp's float32 ``1/sqrt``; ratios are round numbers in practice, so rounding noise is removed."""
        ratio = self._mjw_model.opt.impratio_invsqrt.numpy().astype(np.float64).reshape(-1, 1) ** -2
        return np.where(np.abs(ratio - np.round(ratio)) < 1e-5 * ratio, np.round(ratio), ratio)

    def _push_array(self, name: str, rows: np.ndarray, base: np.ndarray | None) -> None:
        if rows.shape[1]:
            self._push(name, rows, base, [getattr(model, name).ctypes.data for model in self.models])

    def _push(self, name: str, rows: np.ndarray, base: np.ndarray | None, places: list[int]) -> None:
        """Write shared values into the models, or keep a table of values that differ between worlds.

        Where the batched value is just the float32 rounding of the template's, the template's own is used.
        """
        last = self._last.get(name)
        if last is not None and np.array_equal(last, rows):
            return
        self._last[name] = rows.copy()
        wide = rows.astype(np.float64)
        if base is not None:
            wide = np.where(rows == base.astype(np.float32), base, wide)
        self._tables.pop(name, None)
        if rows.shape[0] == 1 or (rows == rows[:1]).all():
            for place in places:
                _write(place, wide[0])
        else:
            self._tables[name], self._places[name] = np.ascontiguousarray(wide), places

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the per-world tables for the compiled loop.

        Returns:
            (fields, 2) address and bytes per world, and (threads, fields) where each thread's copy is.
        """
        names = list(self._tables)
        rows = [(self._tables[n].ctypes.data, self._tables[n].strides[0]) for n in names]
        places = [[self._places[n][thread] for n in names] for thread in range(len(self.models))]
        return (
            np.array(rows, np.int64).reshape(len(names), 2),
            np.array(places, np.int64).reshape(len(self.models), len(names)),
        )

    @property
    def varying(self) -> tuple[str, ...]:
        """Names of the model values that differ between worlds."""
        return tuple(self._tables)


def _write(address: int, values: np.ndarray) -> None:
    import ctypes

    source = np.ascontiguousarray(values, np.float64)
    ctypes.memmove(address, source.ctypes.data, source.nbytes)
