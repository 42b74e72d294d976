"""The 28-DoF humanoid as plain numbers: bodies, joints, limits, gains, mirror map.

Nothing here needs a simulator, so motion tools, tests and documentation can read it cheaply.

Sources. Body names and order, joint order and ranges, body masses, armatures and the two gain columns are those of
the public AMP humanoid, which ASE, CALM and IsaacGymEnvs share (Peng et al. 2021; IsaacGymEnvs is BSD-3-Clause).
Effort limits are ours: that humanoid's PD mode has none, so we allow 1.5 times the motor gear of its torque mode.

Every joint with three degrees of freedom is a chain of three hinges about x, then y, then z (intrinsic), joined by two
nearly massless *virtual links*. Simulators that represent such a joint as one generic joint disagree about what its
three coordinates mean; three hinges mean the same thing everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sportsuite.errors import BadInputError, unknown_name


@dataclass(frozen=True)
class JointSpec:
    """One anatomical joint of the humanoid, with one hinge per letter of ``axes``.

    Attributes:
        axes: Hinge axes in the order they act, e.g. ``"xyz"`` or ``"y"``.
        limits_deg: Lower and upper limit per axis [deg].
        kp: Position gain of ASE and CALM [N m/rad].
        kd: Damping gain of ASE and CALM [N m s/rad].
        gear: Motor gear of the torque mode, from which the effort limit is derived [N m].
        kp_soft: Position gain of IsaacGymEnvs [N m/rad].
        kd_soft: Damping gain of IsaacGymEnvs [N m s/rad].
        armature: Rotor inertia about each axis [kg m^2].
    """

    axes: str
    limits_deg: tuple[tuple[float, float], ...]
    kp: float
    kd: float
    gear: float
    kp_soft: float
    kd_soft: float
    armature: float


@dataclass(frozen=True)
class BodySpec:
    """One of the 15 bodies.

    Attributes:
        name: Body name.
        parent: Name of the parent body; None for the pelvis.
        joint: Name of the joint that moves it against its parent; None where it is rigidly attached.
        offset: Origin in the parent's frame for a character of scale 1 [m].
        mass: Mass for a character of 48.9 kg [kg]; only the proportions are used.
    """

    name: str
    parent: str | None
    joint: str | None
    offset: tuple[float, float, float]
    mass: float


_SHOULDER_RIGHT = ((-180.0, 45.0), (-180.0, 60.0), (-90.0, 90.0))
_SHOULDER_LEFT = ((-45.0, 180.0), (-180.0, 60.0), (-90.0, 90.0))
_HIP_RIGHT = ((-60.0, 15.0), (-140.0, 60.0), (-60.0, 35.0))
_HIP_LEFT = ((-15.0, 60.0), (-140.0, 60.0), (-35.0, 60.0))
_ANKLE = ((-30.0, 30.0), (-55.0, 55.0), (-40.0, 40.0))
_ABDOMEN = ((-60.0, 60.0), (-60.0, 90.0), (-50.0, 50.0))
_NECK = ((-50.0, 50.0), (-40.0, 60.0), (-45.0, 45.0))

JOINTS: dict[str, JointSpec] = {
    "abdomen": JointSpec("xyz", _ABDOMEN, 1000.0, 100.0, 200.0, 600.0, 60.0, 0.025),
    "neck": JointSpec("xyz", _NECK, 100.0, 10.0, 50.0, 50.0, 5.0, 0.017),
    "right_shoulder": JointSpec("xyz", _SHOULDER_RIGHT, 400.0, 40.0, 100.0, 200.0, 20.0, 0.02),
    "right_elbow": JointSpec("y", ((-160.0, 0.0),), 300.0, 30.0, 70.0, 150.0, 15.0, 0.015),
    "left_shoulder": JointSpec("xyz", _SHOULDER_LEFT, 400.0, 40.0, 100.0, 200.0, 20.0, 0.02),
    "left_elbow": JointSpec("y", ((-160.0, 0.0),), 300.0, 30.0, 70.0, 150.0, 15.0, 0.015),
    "right_hip": JointSpec("xyz", _HIP_RIGHT, 500.0, 50.0, 200.0, 300.0, 30.0, 0.02),
    "right_knee": JointSpec("y", ((0.0, 160.0),), 500.0, 50.0, 150.0, 300.0, 30.0, 0.02),
    "right_ankle": JointSpec("xyz", _ANKLE, 400.0, 40.0, 90.0, 200.0, 20.0, 0.01),
    "left_hip": JointSpec("xyz", _HIP_LEFT, 500.0, 50.0, 200.0, 300.0, 30.0, 0.02),
    "left_knee": JointSpec("y", ((0.0, 160.0),), 500.0, 50.0, 150.0, 300.0, 30.0, 0.02),
    "left_ankle": JointSpec("xyz", _ANKLE, 400.0, 40.0, 90.0, 200.0, 20.0, 0.01),
}
"""Anatomical joints in DoF order."""

BODIES: tuple[BodySpec, ...] = (
    BodySpec("pelvis", None, None, (0.0, 0.0, 0.0), 10.0),
    BodySpec("torso", "pelvis", "abdomen", (0.0, 0.0, 0.236151), 12.0),
    BodySpec("head", "torso", "neck", (0.0, 0.0, 0.223894), 3.9),
    BodySpec("right_upper_arm", "torso", "right_shoulder", (-0.02405, -0.18311, 0.24350), 1.5),
    BodySpec("right_lower_arm", "right_upper_arm", "right_elbow", (0.0, 0.0, -0.274788), 1.0),
    BodySpec("right_hand", "right_lower_arm", None, (0.0, 0.0, -0.258947), 0.5),
    BodySpec("left_upper_arm", "torso", "left_shoulder", (-0.02405, 0.18311, 0.24350), 1.5),
    BodySpec("left_lower_arm", "left_upper_arm", "left_elbow", (0.0, 0.0, -0.274788), 1.0),
    BodySpec("left_hand", "left_lower_arm", None, (0.0, 0.0, -0.258947), 0.5),
    BodySpec("right_thigh", "pelvis", "right_hip", (0.0, -0.084887, 0.0), 4.5),
    BodySpec("right_shin", "right_thigh", "right_knee", (0.0, 0.0, -0.421546), 3.0),
    BodySpec("right_foot", "right_shin", "right_ankle", (0.0, 0.0, -0.409870), 1.0),
    BodySpec("left_thigh", "pelvis", "left_hip", (0.0, 0.084887, 0.0), 4.5),
    BodySpec("left_shin", "left_thigh", "left_knee", (0.0, 0.0, -0.421546), 3.0),
    BodySpec("left_foot", "left_shin", "left_ankle", (0.0, 0.0, -0.409870), 1.0),
)
"""The 15 bodies in body order."""

BODY_NAMES: tuple[str, ...] = tuple(body.name for body in BODIES)
"""Names of the 15 bodies."""

PARENTS: tuple[int, ...] = tuple(-1 if body.parent is None else BODY_NAMES.index(body.parent) for body in BODIES)
"""Parent index of each body in :data:`BODY_NAMES`; -1 for the pelvis."""


def hinge_name(joint: str, axis: str) -> str:
    """Name of one hinge: ``abdomen_x`` for a three-axis joint, ``right_knee`` for a single hinge."""
    return f"{joint}_{axis}" if len(JOINTS[joint].axes) > 1 else joint


def virtual_link_names(joint: str) -> tuple[str, ...]:
    """Names of the virtual links inside one joint: none for a hinge, two for a three-axis joint."""
    return tuple(f"{joint}_{axis}_link" for axis in JOINTS[joint].axes[:-1])


_HINGES = tuple((name, axis, index) for name, spec in JOINTS.items() for index, axis in enumerate(spec.axes))

JOINT_NAMES: tuple[str, ...] = tuple(hinge_name(name, axis) for name, axis, _ in _HINGES)
"""Names of the 28 hinges in DoF order."""

JOINT_AXES: tuple[str, ...] = tuple(axis for _, axis, _ in _HINGES)
"""Axis letter of each hinge, in the parent's frame at zero angles."""

VIRTUAL_LINK_NAMES: tuple[str, ...] = tuple(link for name in JOINTS for link in virtual_link_names(name))
"""Names of the 16 virtual links."""

ALL_LINK_NAMES: tuple[str, ...] = BODY_NAMES + VIRTUAL_LINK_NAMES
"""The 15 bodies followed by the virtual links: the link order of the simulated articulation."""

NUM_BODIES: int = len(BODY_NAMES)
NUM_JOINTS: int = len(JOINT_NAMES)

KEY_BODIES: tuple[str, ...] = ("right_hand", "left_hand", "right_foot", "left_foot")
"""Bodies whose positions enter motion features."""

FEET: tuple[str, ...] = ("right_foot", "left_foot")
HANDS: tuple[str, ...] = ("right_hand", "left_hand")
ARMS: tuple[str, ...] = BODY_NAMES[3:9]
"""Upper arm, lower arm and hand of both sides: what a footballer must not play the ball with."""


def _per_hinge(field: str) -> dict[str, float]:
    return {hinge_name(name, axis): getattr(JOINTS[name], field) for name, axis, _ in _HINGES}


JOINT_LIMITS: dict[str, tuple[float, float]] = {
    hinge_name(name, axis): (
        math.radians(JOINTS[name].limits_deg[index][0]),
        math.radians(JOINTS[name].limits_deg[index][1]),
    )
    for name, axis, index in _HINGES
}
"""Lower and upper limit of each hinge [rad]."""

ARMATURE: dict[str, float] = _per_hinge("armature")
"""Rotor inertia of each hinge [kg m^2]."""

EFFORT_SCALE: float = 1.5
"""Effort limit over motor gear (ours)."""

EFFORT_LIMITS: dict[str, float] = {name: EFFORT_SCALE * gear for name, gear in _per_hinge("gear").items()}
"""Largest torque of each hinge [N m]."""


@dataclass(frozen=True)
class Gains:
    """PD gains by hinge name: stiffness [N m/rad] and damping [N m s/rad]."""

    stiffness: dict[str, float]
    damping: dict[str, float]


GAINS: dict[str, Gains] = {
    "stiff": Gains(_per_hinge("kp"), _per_hinge("kd")),
    "soft": Gains(_per_hinge("kp_soft"), _per_hinge("kd_soft")),
}
"""Named gain sets: ``stiff`` is the ASE and CALM column, ``soft`` the IsaacGymEnvs column."""


def mirror_name(name: str) -> str:
    """Name of the body or hinge on the other side; names without a side are returned unchanged."""
    if name.startswith("right_"):
        return "left_" + name.removeprefix("right_")
    if name.startswith("left_"):
        return "right_" + name.removeprefix("left_")
    return name


MIRROR_BODIES: tuple[int, ...] = tuple(BODY_NAMES.index(mirror_name(name)) for name in BODY_NAMES)
"""``mirrored[i] = original[MIRROR_BODIES[i]]`` for quantities per body."""

MIRROR_JOINTS: tuple[int, ...] = tuple(JOINT_NAMES.index(mirror_name(name)) for name in JOINT_NAMES)
MIRROR_SIGNS: tuple[float, ...] = tuple(1.0 if axis == "y" else -1.0 for axis in JOINT_AXES)
"""``mirrored[i] = MIRROR_SIGNS[i] * original[MIRROR_JOINTS[i]]`` for joint angles, velocities and targets.

The mirror plane is the character's sagittal plane (x-z): rotations about y keep their sign, those about x and z flip.
"""


@dataclass(frozen=True)
class ActionMapping:
    """PD target = ``offset + scale * action``, per hinge in DoF order [rad]."""

    offset: tuple[float, ...]
    scale: tuple[float, ...]


def action_mapping() -> ActionMapping:
    """Action to PD target mapping of ASE and CALM, for actions in [-1, 1].

    Three-axis joints are centred on zero and reach ``min(1.2 max|limit|, pi)``, one common range for the three axes of
    a joint. Hinges are centred on the middle of their range and reach 0.7 of its width to either side, so that the PD
    controller can press against a limit.

    Returns:
        Offsets and scales, 28 each [rad].
    """
    offset, scale = [], []
    for name, axis, _ in _HINGES:
        low, high = JOINT_LIMITS[hinge_name(name, axis)]
        if len(JOINTS[name].axes) == 1:
            offset.append(0.5 * (low + high))
            scale.append(0.7 * (high - low))
        else:
            reach = max(abs(limit) for pair in JOINTS[name].limits_deg for limit in pair)
            offset.append(0.0)
            scale.append(min(1.2 * math.radians(reach), math.pi))
    return ActionMapping(tuple(offset), tuple(scale))


HEAD_TOP: float = 0.730045
"""Height of the crown above the pelvis origin at scale 1 [m]."""

ANKLE_DROP: float = 0.831416
"""Depth of the ankle below the pelvis origin at scale 1, legs straight [m]."""

SOLE_DROP: dict[str, float] = {"boot": 0.055, "box": 0.05}
"""Depth of the sole below the ankle at scale 1, by kind of foot [m]."""


@dataclass(frozen=True)
class Variant:
    """Size of a character: standing height [m] and total mass including virtual links [kg]."""

    height: float
    mass: float


VARIANTS: dict[str, Variant] = {"football": Variant(1.62, 47.0), "climbing": Variant(1.75, 47.0)}
"""Sizes of the characters we ship. 1.75 m and 47 kg are the climbing text's; 1.62 m is the stock humanoid's height."""


def body_scale(height: float, foot: str) -> float:
    """Factor on every length that makes the character ``height`` metres tall, boots included.

    Raises:
        BadInputError: If ``foot`` is not a known kind of foot or ``height`` is not positive.
    """
    if foot not in SOLE_DROP:
        raise unknown_name("kind of foot", foot, SOLE_DROP)
    if not height > 0.0:
        raise BadInputError(f"character height {height!r} m: expected a positive number")
    return height / (HEAD_TOP + ANKLE_DROP + SOLE_DROP[foot])


def standing_pelvis_height(height: float, foot: str) -> float:
    """Height of the pelvis origin above the ground when the soles rest on it with straight legs [m]."""
    return body_scale(height, foot) * (ANKLE_DROP + SOLE_DROP[foot])


def asset_name(variant: str, foot: str) -> str:
    """Name of the shipped USD file of a character, for :func:`sportsuite.assets.asset_path`.

    Raises:
        BadInputError: If the variant or the kind of foot is unknown.
    """
    if variant not in VARIANTS:
        raise unknown_name("character variant", variant, VARIANTS)
    if foot not in SOLE_DROP:
        raise unknown_name("kind of foot", foot, SOLE_DROP)
    return f"characters/humanoid28_{variant}_{foot}.usda"
