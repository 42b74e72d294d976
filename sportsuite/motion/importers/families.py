"""Telling skeletons apart by the names of their joints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sportsuite.errors import BadInputError
from sportsuite.motion.source import SourceMotion

__all__ = ["FAMILIES", "Family", "family_of", "is_hand", "leg_length"]


@dataclass(frozen=True)
class Family:
    """Joints by which a family of skeletons is known.

    Attributes:
        left: Names of the left side's hip, knee, ankle, shoulder, elbow and wrist.
        right: The right side's.
        middle: Names along the trunk.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    middle: tuple[str, ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """All names that a skeleton of this family has."""
        return self.middle + self.left + self.right


def _family(middle: str, one_side: str, left: str, right: str) -> Family:
    return Family(
        tuple(one_side.replace("*", left).split()), tuple(one_side.replace("*", right).split()), tuple(middle.split())
    )


FAMILIES: dict[str, Family] = {
    "deepmimic": _family("root chest neck", "*_hip *_knee *_ankle *_shoulder *_elbow *_wrist", "left", "right"),
    "daz": _family("hip abdomen chest neck head", "*Thigh *Shin *Foot *Shldr *ForeArm *Hand", "l", "r"),
    "snu": _family("Hips Spine Spine1 Neck Head", "*UpLeg *Leg *Foot *Arm *ForeArm *Hand", "Left", "Right"),
    "amc": _family("root lowerback thorax head", "*hipjoint *femur *tibia *clavicle *humerus *radius", "l", "r"),
    "amp_humanoid": _family(
        "pelvis torso head", "*_thigh *_shin *_foot *_upper_arm *_lower_arm *_hand", "left", "right"
    ),
    "smpl": _family("Pelvis Torso Spine Chest Neck Head", "*_Hip *_Knee *_Ankle *_Shoulder *_Elbow *_Wrist", "L", "R"),
}
"""Families by name. In ``amc`` a joint bears the name of the bone that ends there."""

_HAND_WORDS = ("hand", "wrist", "finger", "thumb", "index", "mid", "ring", "pinky", "eye")


def family_of(joint_names: Iterable[str]) -> str:
    """Find the family of a skeleton.

    Args:
        joint_names: Names of its joints.

    Returns:
        A key of :data:`FAMILIES`.

    Raises:
        BadInputError: If it has all joints of none; the nearest family and what it lacks are named.
    """
    names = set(joint_names)
    missing = {key: [name for name in family.joints if name not in names] for key, family in FAMILIES.items()}
    best = min(missing, key=lambda key: len(missing[key]) / len(FAMILIES[key].joints))
    if not missing[best]:
        return best
    found = ", ".join(sorted(names)[:8])
    raise BadInputError(
        f"unknown skeleton with joints {found}{' ...' if len(names) > 8 else ''}: the nearest known one is {best!r}, "
        f"which also has {', '.join(missing[best])} (known: {', '.join(FAMILIES)})"
    )


def leg_length(motion: SourceMotion) -> float:
    """Length of thigh and shin, the median over time and the mean of both sides [m]."""
    family = FAMILIES[motion.skeleton]
    legs = []
    for side in (family.left, family.right):
        hip, knee, ankle = (motion.position[:, motion.joint_names.index(name)] for name in side[:3])
        legs.append(np.median(np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)))
    return float(np.mean(legs))


def is_hand(joint: str) -> bool:
    """Whether a joint belongs to a hand or the face, whose recordings are unreliable and which we don't have."""
    return any(word in joint.lower() for word in _HAND_WORDS)
