"""Articulation configuration of the 28-DoF humanoid; its numbers are in :mod:`sportsuite.characters.spec`."""

from __future__ import annotations

import isaaclab.sim as sim_utils
from isaaclab.actuators import ImplicitActuatorCfg
from isaaclab.assets import ArticulationCfg

from sportsuite.assets import asset_path
from sportsuite.characters import spec
from sportsuite.errors import unknown_name

JOINT_VELOCITY_LIMIT = 100.0
"""Fastest joint speed on backends that limit it [rad/s], as in Isaac Lab's own 28-DoF humanoid."""


def humanoid28_cfg(
    variant: str = "football",
    foot: str = "boot",
    prim_path: str = "{ENV_REGEX_NS}/Robot",
    gains: str = "stiff",
) -> ArticulationCfg:
    """Make the articulation configuration of a humanoid, a fresh object per call.

    Joints come in the order of :data:`~sportsuite.characters.spec.JOINT_NAMES` on every backend. Links come in the
    order of :data:`~sportsuite.characters.spec.ALL_LINK_NAMES`: the 15 bodies, then 16 virtual links, so
    ``body_pos_w[:, :15]`` are the bodies. The initial state is the zero pose, standing with its soles on z = 0.

    Args:
        variant: Size, a key of :data:`~sportsuite.characters.spec.VARIANTS`.
        foot: ``boot`` or ``box``.
        prim_path: Where the character is spawned.
        gains: PD gains, a key of :data:`~sportsuite.characters.spec.GAINS`.

    Raises:
        BadInputError: If a name is unknown.
    """
    if gains not in spec.GAINS:
        raise unknown_name("gain set", gains, spec.GAINS)
    name = spec.asset_name(variant, foot)
    height = spec.standing_pelvis_height(spec.VARIANTS[variant].height, foot)
    return ArticulationCfg(
        prim_path=prim_path,
        spawn=sim_utils.UsdFileCfg(usd_path=str(asset_path(name)), activate_contact_sensors=True),
        init_state=ArticulationCfg.InitialStateCfg(pos=(0.0, 0.0, height)),
        joint_ordering=list(spec.JOINT_NAMES),
        body_ordering=list(spec.ALL_LINK_NAMES),
        actuators={"body": pd_actuators(gains)},
    )


def pd_actuators(gains: str = "stiff") -> ImplicitActuatorCfg:
    """PD control of all 28 joints inside the simulator, with the limits and armatures of the specification."""
    chosen = spec.GAINS[gains]
    return ImplicitActuatorCfg(
        joint_names_expr=list(spec.JOINT_NAMES),
        stiffness=dict(chosen.stiffness),
        damping=dict(chosen.damping),
        armature=dict(spec.ARMATURE),
        joint_effort_limit=dict(spec.EFFORT_LIMITS),
        joint_velocity_limit=JOINT_VELOCITY_LIMIT,
    )
