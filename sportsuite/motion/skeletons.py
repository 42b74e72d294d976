"""Which joint of a foreign skeleton is which, and which way its segments face."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.motion.source import SourceMotion

Axes = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
"""Forward, left and up of a character that stands upright, in the frame of one of its segments."""

ALIGNED: Axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""The segment's own axes are forward, left and up."""

_Y_UP: Axes = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))

_NOD = 0.1745  # the biped's head frame leans back by 10 degrees when the head is upright
_BIPED_HEAD: Axes = ((0.0, float(np.sin(_NOD)), float(np.cos(_NOD))), (1.0, 0.0, 0.0), (0.0, 0.9848, -0.1736))
_BIPED_FOOT: Axes = ((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0))


@dataclass(frozen=True)
class Skeleton:
    """Joints and segments of a naming family.

    Names with ``*`` stand for both sides, see ``sides``. A segment is given by the joint whose ``quat`` turns with it.

    Attributes:
        pelvis: Segment of the pelvis.
        chest: Segment that carries the shoulders.
        head: Segment of the head.
        hip: Centre of the hip; likewise the following.
        knee: Knee.
        ankle: Ankle.
        shoulder: Shoulder.
        elbow: Elbow.
        wrist: Wrist.
        foot: Segment of the foot.
        toe: Joint or end site in front of the ankle that moves with the foot; None where the segment points forward.
        sides: What replaces ``*``: left, right.
        trunk_axes: Axes of pelvis and chest.
        head_axes: Axes of the head.
        foot_axes: Axes of the feet.
        thigh: Segment of the thigh, where the feet's frames belong to a rest pose with spread legs; their axes are
            turned about forward by the thigh's angle. None where the rest pose stands upright.
    """

    pelvis: str
    chest: str
    head: str
    hip: str
    knee: str
    ankle: str
    shoulder: str
    elbow: str
    wrist: str
    foot: str
    toe: str | None = None
    sides: tuple[str, str] = ("left", "right")
    trunk_axes: Axes = field(default=ALIGNED)
    head_axes: Axes = field(default=ALIGNED)
    foot_axes: Axes = field(default=ALIGNED)
    thigh: str | None = None

    def sided(self, joint: str) -> tuple[str, str]:
        """Left and right name of a joint."""
        return joint.replace("*", self.sides[0]), joint.replace("*", self.sides[1])


_BVH = {
    "pelvis": "Hips",
    "head": "Head",
    "hip": "*UpLeg",
    "knee": "*Leg",
    "ankle": "*Foot",
    "shoulder": "*Arm",
    "elbow": "*ForeArm",
    "wrist": "*Hand",
    "foot": "*Foot",
    "sides": ("Left", "Right"),
}

SKELETONS: dict[str, Skeleton] = {
    "deepmimic": Skeleton(
        "root", "chest", "neck", "*_hip", "*_knee", "*_ankle", "*_shoulder", "*_elbow", "*_wrist", "*_ankle"
    ),
    "amp_humanoid": Skeleton(
        "pelvis",
        "torso",
        "head",
        "*_thigh",
        "*_shin",
        "*_foot",
        "*_upper_arm",
        "*_lower_arm",
        "*_hand",
        "*_foot",
    ),
    "daz": Skeleton(
        "hip",
        "chest",
        "head",
        "*Thigh",
        "*Shin",
        "*Foot",
        "*Shldr",
        "*ForeArm",
        "*Hand",
        "*Foot",
        "*Foot_end",
        sides=("l", "r"),
    ),
    # 3ds Max bipeds: bones along y, feet and arms with axes of their own
    "snu": Skeleton(
        **_BVH,
        chest="Spine2",
        toe="*Toe",
        trunk_axes=_Y_UP,
        head_axes=_BIPED_HEAD,
        foot_axes=_BIPED_FOOT,
    ),
    # the same names on CMU's skeleton: aligned with the world in a rest pose whose legs are spread by 20 degrees
    "snu_cmu": Skeleton(**_BVH, chest="Spine1", toe="*ToeBase", thigh="*UpLeg"),
    # a joint bears the name of the bone that ends there
    "amc": Skeleton(
        "root",
        "thorax",
        "head",
        "*hipjoint",
        "*femur",
        "*tibia",
        "*clavicle",
        "*humerus",
        "*radius",
        "*foot",
        "*foot",
        sides=("l", "r"),
        thigh="*femur",
    ),
    "smpl": Skeleton(
        "Pelvis",
        "Chest",
        "Head",
        "*_Hip",
        "*_Knee",
        "*_Ankle",
        "*_Shoulder",
        "*_Elbow",
        "*_Wrist",
        "*_Ankle",
        "*_Toe",
        sides=("L", "R"),
        trunk_axes=_Y_UP,
        head_axes=_Y_UP,
        foot_axes=_Y_UP,
    ),
}
"""Skeletons by naming family."""


def skeleton_of(motion: SourceMotion) -> Skeleton:
    """Find the skeleton of a motion by its naming family.

    Raises:
        BadInputError: If the family is unknown or the motion lacks one of its joints.
    """
    if motion.skeleton not in SKELETONS:
        raise unknown_name("skeleton", motion.skeleton, SKELETONS)
    family = motion.skeleton
    if family == "snu" and "LowerBack" in motion.joint_names:
        family = "snu_cmu"
    skeleton = SKELETONS[family]
    missing = [name for name in _needed(skeleton) if name not in motion.joint_names]
    if missing:
        raise BadInputError(
            f"motion {motion.name!r} of skeleton {family!r} lacks {', '.join(missing)}; "
            f"it has {', '.join(motion.joint_names[:10])}"
        )
    return skeleton


def _needed(skeleton: Skeleton) -> list[str]:
    middle = [skeleton.pelvis, skeleton.chest, skeleton.head]
    limbs = [skeleton.hip, skeleton.knee, skeleton.ankle, skeleton.shoulder, skeleton.elbow, skeleton.wrist]
    limbs += [name for name in (skeleton.foot, skeleton.toe, skeleton.thigh) if name is not None]
    return middle + [name for limb in limbs for name in skeleton.sided(limb)]


def segment_frames(motion: SourceMotion, joint: str, axes: np.ndarray | Axes) -> np.ndarray:
    """World orientation of a segment with x forward, y left and z up, shape (T, 3, 3).

    Args:
        motion: The motion.
        joint: Joint whose orientation turns with the segment.
        axes: Forward, left and up in the segment's frame, as rows.
    """
    x, y, z, w = motion.quat[:, motion.joint_names.index(joint)].T
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.einsum("ijt,kj->tik", matrix, np.asarray(axes))


def foot_axes(motion: SourceMotion, skeleton: Skeleton, side: int) -> np.ndarray:
    """Forward, left and up of a foot in its segment's frame, as rows of a (3, 3) array; ``side`` is 0 for left.

    The toes point along the foot's own bone, laid flat.
    """
    axes = np.array(skeleton.foot_axes)
    if skeleton.thigh is not None:
        axes = axes @ _spread(motion, skeleton, side).T
    if skeleton.toe is None:
        return axes
    forward, left, _ = _local_bone(motion, skeleton.sided(skeleton.ankle)[side], skeleton, skeleton.foot, side) @ axes.T
    size = np.hypot(forward, left)
    turn = np.array([[forward, left, 0.0], [-left, forward, 0.0], [0.0, 0.0, size]]) / size
    return turn @ axes


def _local_bone(motion: SourceMotion, start: str, skeleton: Skeleton, segment: str, side: int) -> np.ndarray:
    """Median vector from the ankle to the toe in the foot's frame, shape (3,) [m]."""
    assert skeleton.toe is not None
    names = motion.joint_names
    toe = skeleton.sided(skeleton.toe)[side]
    vector = motion.position[:, names.index(toe)] - motion.position[:, names.index(start)]
    frames = segment_frames(motion, skeleton.sided(segment)[side], ALIGNED)
    return np.median(np.einsum("tji,tj->ti", frames, vector), axis=0)


def _spread(motion: SourceMotion, skeleton: Skeleton, side: int) -> np.ndarray:
    """Rotation about forward by which the rest pose's legs are spread, shape (3, 3)."""
    assert skeleton.thigh is not None
    names = motion.joint_names
    hip, knee = (names.index(skeleton.sided(joint)[side]) for joint in (skeleton.hip, skeleton.knee))
    frames = segment_frames(motion, skeleton.sided(skeleton.thigh)[side], ALIGNED)
    bone = np.median(np.einsum("tji,tj->ti", frames, motion.position[:, knee] - motion.position[:, hip]), axis=0)
    angle = np.arctan2(bone[1], -bone[2])
    return np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
