"""What recordings have in common: a T-pose or a jump at the start, joints that flip, units that can't be right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sportsuite.errors import BadInputError
from sportsuite.motion.importers.families import is_hand, leg_length
from sportsuite.motion.source import SourceMotion

__all__ = ["FLIP_SPEED", "clean", "fast_joints", "start_of_motion"]

FLIP_SPEED = np.radians(2500.0)
"""Angular speed of a joint above which it flips rather than moves [rad/s]; kicks and throws stay below 1500 deg/s."""

_JUMP_SPEED = 2.0
"""Speed of the root [m/s] by which a jump at the start exceeds what follows (ours: runners gain 0.3 m/s in 1/30 s)."""

_TAIL = 1.5
"""How much faster than the calm frames behind it the rest of a jump turns (ours: CMU BVH files blend over 5 frames)."""

_START_FRAMES = 6
"""Frames at the start among which a jump is looked for (ours: CMU's BVH files need 5 left out)."""

_LEGS = (0.4, 1.3)
"""Leg lengths that are believed [m] (ours: from a child's to beyond the tallest player's)."""


def clean(motion: SourceMotion, path: Path, first_frame: int | None) -> SourceMotion:
    """Cut the start and note what is odd.

    Args:
        motion: What a reader returned.
        path: Its file, for errors.
        first_frame: Index of the first frame that is kept; None finds it by :func:`start_of_motion`.

    Raises:
        BadInputError: If fewer than two frames remain.
    """
    frames = len(motion.position)
    start = start_of_motion(motion) if first_frame is None else first_frame
    if not 0 <= start <= frames - 2:
        raise BadInputError(f"motion file {path}: first frame {start}, expected 0 to {frames - 2}")
    notes = list(motion.notes)
    if start and first_frame is None:
        notes.append(f"Frames up to {start - 1} jump, as a T-pose before the motion does; they were left out.")
    ball = motion.ball
    if ball is not None:
        ball = replace(ball, position=ball.position[start:], quat=ball.quat[start:], contact=ball.contact[start:])
    motion = replace(motion, position=motion.position[start:], quat=motion.quat[start:], ball=ball)
    return replace(motion, notes=(*notes, *_remarks(motion)))


def start_of_motion(motion: SourceMotion) -> int:
    """Index of the first frame after a jump at the start, 0 if there is none.

    A jump is a body joint (hands left out) that turns faster than :data:`FLIP_SPEED`, or a root that moves much faster
    than afterwards. Where there is one, what is left of it is cut too: frames that turn much faster than those behind.
    """
    steps = min(_START_FRAMES, len(motion.position) - 3)
    if steps < 1:
        return 0
    body = [index for index, name in enumerate(motion.joint_names) if not is_hand(name)]
    turning = _joint_speeds(motion)[: 2 * steps, body].max(axis=1)
    root = np.linalg.norm(np.diff(motion.position[: 2 * steps + 1, 0], axis=0), axis=1) * motion.fps
    calm_root, calm_turning = root[steps:].max(initial=0.0), turning[steps:].max(initial=0.0)
    jumps = np.flatnonzero((turning[:steps] > FLIP_SPEED) | (root[:steps] > calm_root + _JUMP_SPEED))
    if not len(jumps):
        return 0
    tail = np.flatnonzero(turning[:steps] > _TAIL * calm_turning)
    return int(max(jumps[-1], tail.max(initial=0))) + 1


def fast_joints(motion: SourceMotion) -> dict[str, int]:
    """Joints that turn faster than :data:`FLIP_SPEED` against their parents, and in how many frames."""
    count = (_joint_speeds(motion) > FLIP_SPEED).sum(axis=0)
    return {name: int(number) for name, number in zip(motion.joint_names, count, strict=True) if number}


def _joint_speeds(motion: SourceMotion) -> np.ndarray:
    """Angular speed of each joint against its parent between frames, (T - 1, K) [rad/s]; the root's in the world."""
    relative = motion.quat.copy()
    for joint, parent in enumerate(motion.parents):
        if parent >= 0:
            relative[:, joint] = _relative(motion.quat[:, parent], motion.quat[:, joint])
    likeness = np.abs((relative[1:] * relative[:-1]).sum(axis=-1)).clip(max=1.0)
    return 2.0 * np.arccos(likeness) * motion.fps


def _relative(parent: np.ndarray, child: np.ndarray) -> np.ndarray:
    """Conjugate of ``parent`` times ``child``, xyzw, (T, 4)."""
    a, w = -parent[:, :3], parent[:, 3:]
    vector = w * child[:, :3] + child[:, 3:] * a + np.cross(a, child[:, :3])
    return np.concatenate((vector, w * child[:, 3:] - (a * child[:, :3]).sum(axis=1, keepdims=True)), axis=1)


def _remarks(motion: SourceMotion) -> list[str]:
    remarks = []
    if flips := fast_joints(motion):
        text = ", ".join(f"{name} ({count})" for name, count in flips.items())
        remarks.append(f"Joints that turn by more than 2500 deg/s, with the number of frames: {text}.")
    leg = leg_length(motion)
    if not _LEGS[0] <= leg <= _LEGS[1]:
        remarks.append(f"Its legs are {leg:.3g} m long: the file's unit may be another one than was assumed.")
    return remarks
