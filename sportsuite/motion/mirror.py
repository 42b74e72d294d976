"""Left and right swapped: a kick with the other foot, a turn the other way."""

from __future__ import annotations

import re

import numpy as np

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip import Clip, ObjectTrack

_SUFFIX = "_mirrored"
_POSITION_SIGNS = np.array([1.0, -1.0, 1.0])
_QUAT_SIGNS = np.array([-1.0, 1.0, -1.0, 1.0])
"""A reflection in the x-z plane keeps a rotation about y and reverses those about x and z (xyzw)."""

_OTHER_SIDE = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
_SIDE = re.compile(r"(?<![A-Za-z])(left|right|Left|Right)(?![a-z])")


def mirror_clip(clip: Clip) -> Clip:
    """Reflect a clip in the world's x-z plane and swap the character's sides.

    Labels with a side (``right``, ``turn_left``) name the other one afterwards, and the name gains or loses the suffix
    ``_mirrored``, so that mirroring twice gives the clip back.

    Args:
        clip: A clip with the joints of :data:`sportsuite.characters.spec.JOINT_NAMES`, in that order.

    Returns:
        The mirrored clip; joint limits of the humanoid are symmetric, so it keeps them.

    Raises:
        BadInputError: If the joints are others or in another order.
    """
    if tuple(clip.joint_names) != spec.JOINT_NAMES:
        raise BadInputError(
            f"clip {clip.name!r} has joints {', '.join(clip.joint_names[:3])}...: expected the {spec.NUM_JOINTS} "
            f"joints of the humanoid in order, {', '.join(spec.JOINT_NAMES[:3])}..."
        )
    joint_pos = clip.joint_pos[:, spec.MIRROR_JOINTS] * np.asarray(spec.MIRROR_SIGNS, clip.joint_pos.dtype)
    return clip.with_(
        name=clip.name.removesuffix(_SUFFIX) if clip.name.endswith(_SUFFIX) else clip.name + _SUFFIX,
        root_pos=mirror_positions(clip.root_pos),
        root_quat=mirror_quats(clip.root_quat),
        joint_pos=joint_pos,
        labels=tuple(mirror_label(label) for label in clip.labels),
        ball=None if clip.ball is None else _mirror_track(clip.ball),
    )


def mirror_positions(position: np.ndarray) -> np.ndarray:
    """Reflect positions or linear velocities (..., 3) in the x-z plane."""
    return position * _POSITION_SIGNS.astype(position.dtype)


def mirror_quats(quat: np.ndarray) -> np.ndarray:
    """Reflect orientations (..., 4), xyzw, in the x-z plane."""
    return quat * _QUAT_SIGNS.astype(quat.dtype)


def mirror_label(label: str) -> str:
    """Label with its side swapped: ``kick_right`` becomes ``kick_left``; labels without a side stay."""
    return _SIDE.sub(lambda match: _OTHER_SIDE[match.group()], label)


def _mirror_track(track: ObjectTrack) -> ObjectTrack:
    return ObjectTrack(mirror_positions(track.position), mirror_quats(track.quat), track.contact)
