"""Configuration of native MuJoCo stepping."""

from __future__ import annotations

from isaaclab.utils import configclass
from isaaclab_newton.physics import MJWarpSolverCfg


@configclass
class MuJoCoCpuSolverCfg(MJWarpSolverCfg):
    """Steps every world with native MuJoCo on the CPU's cores instead of MJWarp's kernels.

    Takes the same fields as :class:`MJWarpSolverCfg`; those of things it does not support (Newton's contacts, RK4)
    raise when the simulation is built.
    """

    class_type: type | str = "sportsuite.physics.mujoco_cpu.manager:NewtonMuJoCoCpuManager"
    """Manager class."""

    num_threads: int = 0
    """Threads that step worlds; 0 means every core this process may use."""
