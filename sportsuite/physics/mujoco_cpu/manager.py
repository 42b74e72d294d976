"""Isaac Lab's Newton manager with native MuJoCo stepping on the CPU."""

from __future__ import annotations

from typing import Any

from isaaclab_newton.physics.mjwarp_manager import NewtonMJWarpManager
from newton import Model
from newton.solvers import SolverMuJoCo

from sportsuite.physics.mujoco_cpu.cfg import MuJoCoCpuSolverCfg
from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu


class NewtonMuJoCoCpuManager(NewtonMJWarpManager):
    """:class:`NewtonMJWarpManager` that steps with :class:`SolverMuJoCoCpu`.

    The substeps of one physics step run as one native call, unless a state-force callback wants to act before each of
    them. Sensors are read after the last substep either way, as upstream does; what happens between (a short touch of a
    ball) is what :meth:`SolverMuJoCoCpu.track_contacts` sums up. With ``decimation=1`` and ``num_substeps`` equal to
    the former decimation, one call covers the whole control step.
    """

    @classmethod
    def _create_solver(cls, model: Model, solver_cfg: MuJoCoCpuSolverCfg) -> SolverMuJoCoCpu:
        kwargs = cls._filter_solver_kwargs(SolverMuJoCo, solver_cfg)
        kwargs.pop("ls_parallel", None)
        return SolverMuJoCoCpu(model, num_threads=solver_cfg.num_threads, **kwargs)

    @classmethod
    def _can_fuse_substeps(cls) -> bool:
        return bool(cls._use_single_state and not cls._state_force_callbacks and cls._solver.can_fuse_substeps)

    @classmethod
    def _run_solver_substeps(cls, contacts: Any) -> None:
        if not cls._can_fuse_substeps():
            super()._run_solver_substeps(contacts)
            return
        state: Any = cls.backend.state_0
        cls._apply_staged_body_forces(state)
        cls._solver.step_substeps(state, state, cls.backend.control, cls._solver_dt, cls._num_substeps)
        state.clear_forces()
