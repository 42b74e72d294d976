"""A recorded motion of any skeleton, as the importers return it: world poses of its joints over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sportsuite.motion.clip import ObjectTrack


@dataclass(frozen=True)
class SourceMotion:
    """World poses of the joints of a source skeleton, evenly spaced, in metres and z up.

    Attributes:
        name: Name of the clip.
        fps: Frames per second [Hz].
        skeleton: Naming family of the joints, a key of :data:`sportsuite.motion.skeletons.SKELETONS`.
        joint_names: Names of the K joints, end sites included (``<parent>_end``).
        parents: Index of each joint's parent; -1 for the root.
        position: Joint centres in the world frame, shape (T, K, 3) [m].
        quat: Orientation of the segment that starts at each joint, xyzw, shape (T, K, 4). Its zero pose is the file's.
        source: File, data set, subject and trial.
        licence: Licence of the data.
        labels: What it shows.
        loop: Whether the file says that the motion repeats.
        ball: Track of the ball where the recording has one.
        notes: What was noticed on import, e.g. repeated frames or joints that flip; one sentence each.
    """

    name: str
    fps: float
    skeleton: str
    joint_names: tuple[str, ...]
    parents: tuple[int, ...]
    position: np.ndarray
    quat: np.ndarray
    source: str
    licence: str
    labels: tuple[str, ...] = ()
    loop: bool = False
    ball: ObjectTrack | None = None
    notes: tuple[str, ...] = ()
