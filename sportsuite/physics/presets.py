"""The physics backends of every task, as presets: one task id serves them all, chosen by ``physics=NAME``.

| name | what | default where |
| --- | --- | --- |
| mujoco_cpu | native MuJoCo on all cores, inside Isaac Lab's Newton path | the device is a CPU |
| newton_mjwarp | Newton with MuJoCo Warp | the device is a GPU |
| ovphysx | PhysX without Isaac Sim (extra ``ovphysx``) | |
| isaacsim_physx | PhysX inside Isaac Sim (extra ``isaacsim``) | |
| physx | whichever of the two PhysX variants the launch can have | |
"""

from __future__ import annotations

from isaaclab.physics import PhysicsCfg, PhysxAutoCfg
from isaaclab.utils import configclass
from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg
from isaaclab_ov.physics import OvPhysxCfg
from isaaclab_physx.physics import PhysxCfg
from isaaclab_tasks.utils import PresetCfg, preset

from sportsuite.physics.mujoco_cpu.cfg import MuJoCoCpuSolverCfg
from sportsuite.physics.preset_names import PRESET_NAMES

__all__ = ["PRESET_NAMES", "DeviceNewtonCfg", "for_device", "is_newton", "physics_presets"]


@configclass
class DeviceNewtonCfg(NewtonCfg):
    """Stands for "mujoco_cpu on a CPU, newton_mjwarp on a GPU" until the device is known (:func:`for_device`)."""


def _solver_settings(max_constraints: int, max_contacts: int) -> dict:
    return {
        "njmax": max_constraints,
        "nconmax": max_contacts,
        # the elliptic cone keeps a sliding ball from hopping: slip must not leak into the normal direction
        "cone": "elliptic",
        "integrator": "implicitfast",
        # enough for a humanoid with a ball (the residual no longer falls beyond these)
        "iterations": 30,
        "ls_iterations": 30,
    }


def physics_presets(max_constraints: int = 200, max_contacts: int = 48) -> PresetCfg:
    """Presets for a task, with room for its contacts.

    Args:
        max_constraints: Constraint rows per world (three per elliptic contact, one per joint limit).
        max_contacts: Contacts per world.

    Returns:
        Fresh presets, one field per name of :data:`PRESET_NAMES`; ``default`` follows the device.
    """
    settings = _solver_settings(max_constraints, max_contacts)
    return preset(
        mujoco_cpu=NewtonCfg(solver_cfg=MuJoCoCpuSolverCfg(**settings)),
        newton_mjwarp=NewtonCfg(solver_cfg=MJWarpSolverCfg(**settings)),
        ovphysx=OvPhysxCfg(),
        isaacsim_physx=PhysxCfg(),
        physx=PhysxAutoCfg(isaacsim_physx=PhysxCfg(), ovphysx=OvPhysxCfg()),
        default=DeviceNewtonCfg(solver_cfg=MJWarpSolverCfg(**settings)),
    )


def for_device(physics: PhysicsCfg | None, device: str) -> PhysicsCfg | None:
    """Replace the device-dependent default by the preset it stands for; other configs pass unchanged."""
    if not isinstance(physics, DeviceNewtonCfg):
        return physics
    settings = {name: getattr(physics, name) for name in NewtonCfg.__dataclass_fields__ if name != "class_type"}
    if not device.startswith("cuda"):
        shared = MJWarpSolverCfg.__dataclass_fields__.keys() - {"class_type", "solver_type"}
        settings["solver_cfg"] = MuJoCoCpuSolverCfg(**{name: getattr(physics.solver_cfg, name) for name in shared})
    return NewtonCfg(**settings)


def is_newton(physics: PhysicsCfg | None) -> bool:
    """Whether a backend steps through Newton (and so takes substeps and world hooks)."""
    return isinstance(physics, NewtonCfg)
