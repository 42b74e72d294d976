"""Canonical points: what a recording says about a pose, put into the proportions of our humanoid.

Twenty points stand for a pose: pelvis, trunk, head and nose, and of each side shoulder, elbow, wrist, hip, knee, ankle,
toe and the outer side of the foot. Bones keep their direction in the recording and get the length of our own; pelvis,
chest, feet and head keep their orientation. Without the side and nose points the roll of ankles and the turn of the
head would be left to chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sportsuite.characters import spec
from sportsuite.motion.body_points import BodyPoints, body_points
from sportsuite.motion.mujoco_model import model_scale
from sportsuite.motion.skeletons import Skeleton, foot_axes, segment_frames, skeleton_of
from sportsuite.motion.source import SourceMotion

_SIDES = ("left", "right")

_HEAD_TOP = (0.0, 0.0, 0.175)
_NOSE = (0.1, 0.0, 0.1)
_TOE = (0.12, 0.0, -0.03)
_OUTER = (0.05, 0.06, -0.03)
"""Points that aren't body origins, in their body's frame at scale 1 [m]; ``_OUTER`` is the left foot's."""

_WEIGHTS = {
    "pelvis": 3.0,
    "torso": 1.0,
    "head": 0.3,
    "nose": 0.3,
    "shoulder": 0.7,
    "elbow": 1.0,
    "wrist": 2.0,
    "hip": 1.0,
    "knee": 1.0,
    "ankle": 3.0,
    "toe": 1.5,
    "outer": 1.0,
}
"""Weights of the points (ours): hands and feet matter most."""

_LIMBS = {"elbow": "lower_arm", "wrist": "hand", "knee": "shin", "ankle": "foot"}
"""Body whose offset is the bone that ends at a point."""


def _offset(body: str) -> np.ndarray:
    return np.array(spec.BODIES[spec.BODY_NAMES.index(body)].offset)


def _places() -> dict[str, tuple[str, tuple[float, float, float]]]:
    origin = (0.0, 0.0, 0.0)
    places = {"pelvis": ("pelvis", origin), "torso": ("torso", origin)}
    places |= {"head": ("head", _HEAD_TOP), "nose": ("head", _NOSE)}
    bodies = {"shoulder": "upper_arm", "hip": "thigh", **_LIMBS}
    for sign, side in zip((1.0, -1.0), _SIDES, strict=True):
        places |= {f"{side}_{point}": (f"{side}_{body}", origin) for point, body in bodies.items()}
        places[f"{side}_toe"] = (f"{side}_foot", _TOE)
        places[f"{side}_outer"] = (f"{side}_foot", (_OUTER[0], sign * _OUTER[1], _OUTER[2]))
    return places


_PLACES = _places()

POINT_NAMES: tuple[str, ...] = tuple(_PLACES)
"""Names of the 20 canonical points."""

POINT_WEIGHTS = np.array([_WEIGHTS[name.removeprefix("left_").removeprefix("right_")] for name in POINT_NAMES])
"""Weight of each point's error."""


@dataclass(frozen=True)
class Targets:
    """Where the canonical points of a character should be.

    Attributes:
        position: Shape (T, 20, 3), in the order of :data:`POINT_NAMES` [m].
        pelvis: Orientation of the pelvis, shape (T, 3, 3).
        scale: Factor from the recording's lengths to the character's.
        leg_length: Thigh and shin of the recorded skeleton [m].
    """

    position: np.ndarray
    pelvis: np.ndarray
    scale: float
    leg_length: float


def canonical_points(character: str) -> BodyPoints:
    """The canonical points on the bodies of a character."""
    scale = model_scale(character)
    return body_points([(body, scale * np.array(place)) for body, place in _PLACES.values()])


def canonical_targets(motion: SourceMotion, character: str) -> Targets:
    """Put a recorded motion into a character's proportions.

    The root's path is scaled by the ratio of leg lengths.

    Raises:
        BadInputError: If the skeleton is unknown or lacks a joint.
    """
    skeleton = skeleton_of(motion)
    size = model_scale(character)
    leg = _leg_length(motion, skeleton)
    own = size * float(np.linalg.norm(_offset("left_shin")) + np.linalg.norm(_offset("left_foot")))
    scale = own / leg
    pelvis = _trunk_frame(motion, skeleton, skeleton.pelvis, skeleton.hip)
    chest = _trunk_frame(motion, skeleton, skeleton.chest, skeleton.shoulder)
    hips = np.mean([_joint(motion, name) for name in skeleton.sided(skeleton.hip)], axis=0)
    points = {"pelvis": hips * scale}
    points["torso"] = points["pelvis"] + size * (pelvis @ _offset("torso"))
    _add_head(points, motion, skeleton, chest, size)
    for index, side in enumerate(_SIDES):
        points[f"{side}_hip"] = points["pelvis"] + size * (pelvis @ _offset(f"{side}_thigh"))
        points[f"{side}_shoulder"] = points["torso"] + size * (chest @ _offset(f"{side}_upper_arm"))
        _add_limb(points, motion, skeleton, ("shoulder", "elbow", "wrist"), index, size)
        _add_limb(points, motion, skeleton, ("hip", "knee", "ankle"), index, size)
        foot = segment_frames(motion, skeleton.sided(skeleton.foot)[index], foot_axes(motion, skeleton, index))
        for point in ("toe", "outer"):
            place = np.array(_PLACES[f"{side}_{point}"][1])
            points[f"{side}_{point}"] = points[f"{side}_ankle"] + size * (foot @ place)
    return Targets(np.stack([points[name] for name in POINT_NAMES], axis=1), pelvis, scale, leg)


def _joint(motion: SourceMotion, name: str) -> np.ndarray:
    return motion.position[:, motion.joint_names.index(name)]


def _leg_length(motion: SourceMotion, skeleton: Skeleton) -> float:
    lengths = []
    for side in range(2):
        hip, knee, ankle = (
            _joint(motion, skeleton.sided(name)[side]) for name in (skeleton.hip, skeleton.knee, skeleton.ankle)
        )
        lengths.append(np.median(np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)))
    return float(np.mean(lengths))


def _trunk_frame(motion: SourceMotion, skeleton: Skeleton, segment: str, pair: str) -> np.ndarray:
    """Orientation (T, 3, 3) of pelvis or chest: left along the line between two joints, up by the segment."""
    left_joint, right_joint = (_joint(motion, name) for name in skeleton.sided(pair))
    left = _unit(left_joint - right_joint)
    up = segment_frames(motion, segment, skeleton.trunk_axes)[..., 2]
    up = _unit(up - (up * left).sum(-1, keepdims=True) * left)
    return np.stack((np.cross(left, up), left, up), axis=-1)


def _add_head(
    points: dict[str, np.ndarray], motion: SourceMotion, skeleton: Skeleton, chest: np.ndarray, size: float
) -> None:
    head = segment_frames(motion, skeleton.head, skeleton.head_axes)
    base = points["torso"] + size * (chest @ _offset("head"))
    points["head"] = base + size * (head @ np.array(_HEAD_TOP))
    points["nose"] = base + size * (head @ np.array(_NOSE))


def _add_limb(
    points: dict[str, np.ndarray],
    motion: SourceMotion,
    skeleton: Skeleton,
    chain: tuple[str, str, str],
    side: int,
    size: float,
) -> None:
    """Place the middle and the end of a limb: recorded directions, our lengths."""
    for start, end in zip(chain[:-1], chain[1:], strict=True):
        one, two = (_joint(motion, skeleton.sided(getattr(skeleton, name))[side]) for name in (start, end))
        length = size * np.linalg.norm(_offset(f"{_SIDES[side]}_{_LIMBS[end]}"))
        points[f"{_SIDES[side]}_{end}"] = points[f"{_SIDES[side]}_{start}"] + length * _unit(two - one)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-9)
