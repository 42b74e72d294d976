"""Native MuJoCo stepping of every world on the CPU, inside Isaac Lab's Newton path.

Use it as ``NewtonCfg(solver_cfg=MuJoCoCpuSolverCfg(...))``. Names are loaded when first asked for, so that importing
this package stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sportsuite.physics.mujoco_cpu.cfg import MuJoCoCpuSolverCfg
    from sportsuite.physics.mujoco_cpu.manager import NewtonMuJoCoCpuManager
    from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu

_WHERE = {
    "MuJoCoCpuSolverCfg": "cfg",
    "NewtonMuJoCoCpuManager": "manager",
    "SolverMuJoCoCpu": "solver",
}

__all__ = ["MuJoCoCpuSolverCfg", "NewtonMuJoCoCpuManager", "SolverMuJoCoCpu"]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
