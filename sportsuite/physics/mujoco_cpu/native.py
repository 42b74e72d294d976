"""Binds Newton's batched arrays, the threads' models and the compiled loop together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import mujoco
import numpy as np
import warp as wp

from sportsuite.physics.mujoco_cpu import compile_cache, contact_arrays, fields, layout, plane_mesh, stepping
from sportsuite.physics.mujoco_cpu.context import (
    CONTACT_FLOATS,
    STAGE_FLOATS,
    STAGE_INTS,
    ContactArrays,
    LoopContext,
    RowArrays,
    Sizes,
)
from sportsuite.physics.mujoco_cpu.diagnostics import StepReport
from sportsuite.physics.mujoco_cpu.thread_models import ThreadModels
from sportsuite.physics.mujoco_cpu.workers import Failure, WorkerPool

logger = logging.getLogger(__name__)

# Worlds a thread takes at a time: small enough to share the work evenly, large enough to keep the counter cool.
_MAX_CHUNK = 8


class NativeLoop:
    """Steps all worlds of a batched MuJoCo model natively.

    Args:
        template: Compiled model of the first world.
        mjw_model: Newton's batched model in MJWarp's layout.
        mjw_data: Newton's batched data in MJWarp's layout, in host memory.
        num_threads: Number of threads.

    Attributes:
        report: Warnings and overflow so far.
        models: The threads' models and data.
    """

    def __init__(self, template: mujoco.MjModel, mjw_model: Any, mjw_data: Any, num_threads: int) -> None:
        self._mjw_model, self._data = mjw_model, mjw_data
        self._num_worlds = int(mjw_data.nworld)
        self._template = template
        self._dof_m0 = np.zeros((self._num_worlds, template.nv))
        self._num_threads = max(1, min(num_threads, self._num_worlds))
        self.report = StepReport(self._num_worlds)
        self._contact_rules = plane_mesh.installed if _has_plane_and_mesh(template) else nullcontext
        self._trackers: list[tuple[np.ndarray, np.ndarray, wp.array]] = []
        compile_cache.enable(stepping.step_worlds, contact_arrays.write_contacts)
        self._start()

    # -- set-up -----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Make models, buffers and threads; called again after an error cost a thread."""
        self.models = ThreadModels(self._template, self._mjw_model, self._num_worlds, self._num_threads)
        self._pool = WorkerPool(self._num_threads)
        capacity = int(self._data.naconmax)
        # Only the part that contacts are written to is ever backed by memory.
        self._stage = [
            (np.empty((capacity, STAGE_FLOATS), np.float32), np.empty((capacity, STAGE_INTS), np.int32))
            for _ in range(self._num_threads)
        ]
        self._nefc = self._data.nefc.numpy()
        self._context = self._make_context()
        self._compile()

    def _compile(self) -> None:
        """Have the loop compiled now, rather than in the first step: with no world to step it does nothing."""
        logger.info("preparing the compiled physics loop (takes some seconds once per machine)")
        idle = self._context._replace(sizes=self._context.sizes._replace(worlds=0))
        stepping.step_worlds(idle, 0)
        contact_arrays.write_contacts(idle)
        with self._contact_rules():
            pass

    def _make_context(self) -> LoopContext:
        threads, names, results = range(self._num_threads), self._inputs(), self._outputs()
        rows, row_at = self._rows()
        return LoopContext(
            functions=layout.step_functions(int(self._template.opt.integrator)),
            data_at=layout.data_offsets(),
            contact_at=layout.contact_offsets(),
            sizes=self._sizes(),
            report=self._row_arrays(),
            contacts=self._contact_arrays(),
            substeps=1,
            with_rne=False,
            time_step=0.0,
            models=_addresses([model._address for model in self.models.models]),
            datas=_addresses([data._address for data in self.models.datas]),
            inputs=_table([(self._array(name).ptr, self._width(name)) for name in names], 2),
            input_at=_table([[self._place(t, name) for name in names] for t in threads], len(names)),
            rows=rows,
            row_at=row_at,
            outputs=_table([(self._array(name).ptr, self._width(name)) for name in results], 2),
            output_at=_table([[self._place(t, name) for name in results] for t in threads], len(results)),
            trackers=self._tracker_addresses(),
            contact_floats=self._contact_floats(),
            counter=np.zeros(1, np.int64),
            current=np.zeros(self._num_threads, np.int32),
            seen=np.zeros((self._num_threads, len(self.report.warnings)), np.int32),
            warned=self.report.warned,
            staged=np.zeros((self._num_worlds, 4), np.int64),
            stage_float=_addresses([floats.ctypes.data for floats, _ in self._stage]),
            stage_int=_addresses([ints.ctypes.data for _, ints in self._stage]),
        )

    def _array(self, name: str) -> wp.array:
        return getattr(self._mjw_model if name in fields.LIVE_FIELDS else self._data, name)

    def _inputs(self) -> list[str]:
        return [name for name in (*fields.INPUT_FIELDS, *fields.LIVE_FIELDS) if self._width(name)]

    def _outputs(self) -> list[str]:
        return [name for name in (*fields.OUTPUT_FIELDS, *fields.RNE_FIELDS) if self._width(name)]

    def _owner(self, thread: int, name: str) -> Any:
        return self.models.models[thread] if name in fields.LIVE_FIELDS else self.models.datas[thread]

    def _width(self, name: str) -> int:
        """Values per world of a field, checked to be the same on both sides."""
        ours = getattr(self._owner(0, name), name).size
        array = self._array(name)
        theirs = int(np.prod(array.numpy().shape[1:], dtype=np.int64)) if array.shape[0] else 0
        if ours != theirs:
            raise ValueError(f"field {name} has {theirs} values per world in MJWarp, {ours} in MuJoCo")
        return ours

    def _place(self, thread: int, name: str) -> int:
        return getattr(self._owner(thread, name), name).ctypes.data

    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Tables copied verbatim: model values that differ between worlds, and which equality rows act."""
        rows, places = self.models.tables()
        neq = self._template.neq
        if neq == 0:
            return rows, places
        active = np.array([[self._data.eq_active.ptr, neq]], np.int64)
        active_at = np.array([[data.eq_active.ctypes.data] for data in self.models.datas], np.int64)
        return np.vstack([rows, active]), np.hstack([places, active_at])

    def _row_arrays(self) -> RowArrays:
        data = self._data
        arrays = (data.efc.force, data.nefc, data.ne, data.nf, data.nl, data.solver_niter)
        return RowArrays(*(int(array.ptr or 0) for array in arrays))

    def _contact_arrays(self) -> ContactArrays:
        """Addresses of the contact arrays; the fields of both sides have the same names."""
        counts = {"nacon": self._data.nacon, "ncollision": self._data.ncollision}
        arrays = {name: counts.get(name, getattr(self._data.contact, name, None)) for name in ContactArrays._fields}
        return ContactArrays(**{name: int(array.ptr or 0) for name, array in arrays.items()})

    def _contact_floats(self) -> np.ndarray:
        offsets, column, rows = layout.contact_offsets(), 0, []
        for name, count in CONTACT_FLOATS.items():
            rows.append((getattr(offsets, name), column, count, int(getattr(self._data.contact, name).ptr or 0)))
            column += count
        return _table(rows, 4)

    def _tracker_addresses(self) -> np.ndarray:
        rows = [
            (tracked.ctypes.data, slots.ctypes.data, out.ptr, out.shape[1]) for tracked, slots, out in self._trackers
        ]
        return _table(rows, 4)

    def _sizes(self) -> Sizes:
        return Sizes(
            worlds=self._num_worlds,
            chunk=max(1, min(_MAX_CHUNK, self._num_worlds // (4 * self._num_threads))),
            rows=int(self._data.efc.force.shape[1]),
            contacts=int(self._data.naconmax),
            pyramid=int(self._data.contact.efc_address.shape[1]),
            pyramidal=bool(self._template.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL),
        )

    # -- use --------------------------------------------------------------------------------------------------------

    def update_models(self, dof_m0: np.ndarray) -> None:
        """Take over changed model values.

        Args:
            dof_m0: (worlds, nv) diagonal of the inertia matrix at ``qpos0``.
        """
        self._dof_m0 = dof_m0
        self.models.update(dof_m0)
        rows, row_at = self._rows()
        self._context = self._context._replace(rows=rows, row_at=row_at)

    def add_tracker(self, tracked: np.ndarray, slots: np.ndarray, out: wp.array) -> None:
        """Accumulate normal impulses into ``out`` from now on; see ``SolverMuJoCoCpu.track_contacts``."""
        self._trackers.append((tracked.astype(np.uint8), slots.astype(np.int32), out))
        self._context = self._context._replace(trackers=self._tracker_addresses())

    def step(self, dt: float, substeps: int, with_rne: bool) -> None:
        """Step every world.

        Args:
            dt: Substep [s].
            substeps: Number of substeps with the same controls and applied forces.
            with_rne: Compute body accelerations and reaction forces in the last substep.

        Raises:
            RuntimeError: MuJoCo met an error; names the world. That world keeps the state it had, and so do worlds that
                were not reached.
        """
        context = self._context._replace(substeps=substeps, with_rne=with_rne, time_step=dt)
        context.counter[0] = 0
        self.models.set_time_step(dt)
        with self._contact_rules():
            failures = self._pool.run(lambda thread: stepping.step_worlds(context, thread))
        if failures:
            self._raise(failures)
        lost = contact_arrays.write_contacts(context)
        self.report.count_contacts(lost, context.sizes.contacts)
        self.report.count_rows(self._nefc, context.sizes.rows)
        self.report.read_warnings()

    def _raise(self, failures: list[Failure]) -> None:
        worlds = [int(self._context.current[failure.worker]) for failure in failures]
        text = "; ".join(f"world {w}: {f.message}" for w, f in zip(worlds, failures, strict=True))
        if any(failure.parked for failure in failures):
            # The parked thread still stands inside its data: leave both alone and start afresh.
            _abandoned.append((self.models, self._stage, self._context))
            self._pool.close()
            self._start()
            self.update_models(self._dof_m0)
        raise RuntimeError(f"MuJoCo error in {text}")

    def close(self) -> None:
        """Let the threads end."""
        self._pool.close()


def _has_plane_and_mesh(model: mujoco.MjModel) -> bool:
    kinds = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_MESH))
    return all(bool((model.geom_type == kind).any()) for kind in kinds)


_abandoned: list[tuple[object, ...]] = []


def _addresses(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int64)


def _table(rows: Sequence[Sequence[Any]], columns: int) -> np.ndarray:
    return np.array(rows, np.int64).reshape(len(rows), columns)
