"""A motion clip of one of the suite's characters, in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ObjectTrack:
    """Motion of an object beside the character, e.g. the ball of a recording.

    Attributes:
        position: Centre in the world frame, shape (T, 3) [m].
        quat: Orientation, xyzw, shape (T, 4).
        contact: Whether the character touches it, shape (T,), bool.
    """

    position: np.ndarray
    quat: np.ndarray
    contact: np.ndarray


@dataclass(frozen=True)
class Clip:
    """Root pose and joint angles of a character over time, evenly spaced.

    The world is z up with the ground at z = 0. Velocities and body poses are not stored: they follow from these
    (:mod:`sportsuite.motion.kinematics`), so they can't contradict them.

    Attributes:
        name: Name of the clip.
        fps: Frames per second [Hz].
        joint_names: Names of the J joints, in the columns' order.
        root_pos: Root (pelvis) origin in the world frame, shape (T, 3) [m].
        root_quat: Root orientation, xyzw, shape (T, 4).
        joint_pos: Joint angles, shape (T, J) [rad].
        character: Size of the character it was made for, a key of :data:`sportsuite.characters.spec.VARIANTS`.
        source: Where it comes from: file, data set, subject and trial.
        licence: Licence of the data.
        labels: What it shows, e.g. ``("kick", "right")``.
        loop: Whether the motion may be repeated from its end.
        ball: Track of the ball where the recording has one.
    """

    name: str
    fps: float
    joint_names: tuple[str, ...]
    root_pos: np.ndarray
    root_quat: np.ndarray
    joint_pos: np.ndarray
    character: str
    source: str
    licence: str
    labels: tuple[str, ...] = ()
    loop: bool = False
    ball: ObjectTrack | None = None

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return len(self.root_pos)

    @property
    def duration(self) -> float:
        """Time from the first to the last frame [s]."""
        return (self.num_frames - 1) / self.fps

    def with_(self, **changes: Any) -> Clip:
        """Return a copy with some attributes replaced."""
        return replace(self, **changes)
