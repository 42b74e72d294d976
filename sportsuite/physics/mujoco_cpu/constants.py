"""Derives MuJoCo's model constants natively, once per distinct world.

MJWarp's ``set_const_0`` would compile its whole forward pipeline for this; ``mj_setConst`` on a scratch model gives the
same constants. Worlds with equal parameters share one computation, and only worlds whose parameters changed since the
last call are computed at all.
"""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np

from sportsuite.physics.mujoco_cpu import fields


def rows_of(mjw_model: object, name: str) -> np.ndarray:
    """Return a view of a batched model field, shape (worlds or 1, values per world)."""
    array = getattr(mjw_model, name).numpy()
    return array.reshape(array.shape[0], -1)


def row(rows: np.ndarray, world: int) -> np.ndarray:
    """Return one world's values; fields that are not batched have a single row."""
    return rows[min(world, rows.shape[0] - 1)]


class DerivedConstants:
    """Keeps the constants of every world up to date in Newton's arrays.

    Args:
        template: Compiled model of the first world.
        num_worlds: Number of worlds.

    Attributes:
        dof_m0: (worlds, nv) diagonal of the inertia matrix at ``qpos0``, which MJWarp does not keep.
    """

    def __init__(self, template: mujoco.MjModel, num_worlds: int) -> None:
        self._scratch = copy.copy(template)
        self._data = mujoco.MjData(self._scratch)
        self._num_worlds = num_worlds
        self._inputs: np.ndarray | None = None
        self.dof_m0 = np.zeros((num_worlds, template.nv))

    def _key(self, mjw_model: Any) -> np.ndarray:
        rows = [rows_of(mjw_model, name) for name in fields.CONSTANT_INPUTS]
        wide = [np.broadcast_to(r, (self._num_worlds, r.shape[1])) for r in rows if r.shape[1]]
        return np.concatenate(wide, axis=1)

    def update(self, mjw_model: Any) -> None:
        """Recompute the constants of worlds whose parameters changed and write them to ``mjw_model``.

        As in MJWarp, the second anchors of equality rows are among them: those that other code wrote are lost.

        Args:
            mjw_model: Newton's batched model in MJWarp's layout.
        """
        inputs = self._key(mjw_model)
        changed = np.arange(self._num_worlds)
        if self._inputs is not None:
            changed = np.flatnonzero((inputs != self._inputs).any(axis=1))
        if changed.size:
            self._derive(mjw_model, inputs, changed)
        # Some inputs are rewritten too (anchors, damping ratios): remember them as they are now.
        self._inputs = self._key(mjw_model)

    def _derive(self, mjw_model: Any, inputs: np.ndarray, changed: np.ndarray) -> None:
        _, first, group = np.unique(inputs[changed], axis=0, return_index=True, return_inverse=True)
        for index, world in enumerate(changed[first]):
            self._compute(mjw_model, int(world))
            members = changed[group.ravel() == index]
            for name in fields.DERIVED_FIELDS:
                self._store(rows_of(mjw_model, name), members, getattr(self._scratch, name))
            self._store(mjw_model.stat.meaninertia.numpy().reshape(-1, 1), members, self._scratch.stat.meaninertia)
            self.dof_m0[members] = self._scratch.dof_M0

    def _compute(self, mjw_model: Any, world: int) -> None:
        model = self._scratch
        for name in fields.CONSTANT_INPUTS:
            target = getattr(model, name)
            if target.size:
                target[...] = row(rows_of(mjw_model, name), world).reshape(target.shape)
        # Shortcuts that were compiled from the template's frames.
        model.body_sameframe[:] = 0
        mujoco.mj_setConst(model, self._data)

    @staticmethod
    def _store(rows: np.ndarray, worlds: np.ndarray, values: object) -> None:
        if rows.size and worlds.size:
            rows[worlds if rows.shape[0] > 1 else 0] = np.asarray(values, np.float32).ravel()
