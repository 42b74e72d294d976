"""DeepMimic's json clips: quaternions wxyz, y up, x forward, z right, a duration in front of every frame."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from sportsuite.motion.importers._common import (
    UNIT_TOLERANCE,
    bad_file,
    check_finite,
    check_fps,
    read_text,
    snap_fps,
    to_z_up,
    unit_quats,
    world_poses,
    wxyz_to_xyzw,
)
from sportsuite.motion.resample import onto_even_times
from sportsuite.motion.source import SourceMotion

__all__ = ["JOINTS", "OFFSETS", "PARENTS", "read_deepmimic"]

JOINTS: tuple[str, ...] = (
    "root",
    "chest",
    "neck",
    "right_hip",
    "right_knee",
    "right_ankle",
    "right_shoulder",
    "right_elbow",
    "right_wrist",
    "left_hip",
    "left_knee",
    "left_ankle",
    "left_shoulder",
    "left_elbow",
    "left_wrist",
)
PARENTS: tuple[int, ...] = (-1, 0, 1, 0, 3, 4, 1, 6, 7, 0, 9, 10, 1, 12, 13)

OFFSETS = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.0, 0.236151, 0.0],
        [0.0, 0.223894, 0.0],
        [0.0, 0.0, 0.084887],
        [0.0, -0.421546, 0.0],
        [0.0, -0.40987, 0.0],
        [-0.02405, 0.24350, 0.18311],
        [0.0, -0.274788, 0.0],
        [0.0, -0.258947, 0.0],
        [0.0, 0.0, -0.084887],
        [0.0, -0.421546, 0.0],
        [0.0, -0.40987, 0.0],
        [-0.02405, 0.24350, -0.18311],
        [0.0, -0.274788, 0.0],
        [0.0, -0.258947, 0.0],
    ]
)
"""Joints in their parents' frames, from the humanoid that DeepMimic's clips were made for [m]."""

_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""x forward, y up, z right becomes x forward, y left, z up."""

_COLUMNS = ((0, 4), (1, 4), (2, 4), (3, 4), (4, 1), (5, 4), (6, 4), (7, 1), (9, 4), (10, 1), (11, 4), (12, 4), (13, 1))
"""Joint index and number of values, in the order of the columns after duration and root position."""

_WIDTH = 4 + sum(count for _, count in _COLUMNS)
_UNIT_TOLERANCE = 0.5
"""How far a quaternion may be from length 1 (ours: clips of the original collection reach 0.36, having been
blended without normalising)."""

_UNEVEN = 0.01
"""Relative difference of frame durations from which frames are put onto even times (ours: below it is rounding)."""


def read_deepmimic(path: str | Path, *, name: str | None = None) -> SourceMotion:
    """Read a DeepMimic clip.

    Args:
        path: The file, ``*.txt`` or ``*.json``.
        name: Name of the clip; the file's name by default.

    Returns:
        The motion. Where the frames of the file differ in duration, they are put onto even times, which a note says.

    Raises:
        BadInputError: If the file isn't such a clip: what is missing or wrong is named.
    """
    document = _load(path)
    frames = _frames(document.get("Frames"), path)
    times, fps = _times(frames[:, 0], path)
    local, uneven = _local_quats(frames, path)
    offsets = np.tile(OFFSETS, (len(frames), 1, 1))
    offsets[:, 0] = frames[:, 1:4]
    position, quat = world_poses(PARENTS, local, offsets)
    position, quat = to_z_up(position, quat, _AXES)
    path = Path(path)
    motion = SourceMotion(
        name=name or path.stem,
        fps=fps,
        skeleton="deepmimic",
        joint_names=JOINTS,
        parents=PARENTS,
        position=position,
        quat=quat,
        source=f"DeepMimic file {path.name}",
        licence="not stated",
        loop=document.get("Loop") == "wrap",
        notes=(f"Quaternions of {', '.join(uneven)} weren't of length 1; they were normalised.",) if uneven else (),
    )
    if np.abs(np.diff(times) * fps - 1.0).max() > _UNEVEN:
        return onto_even_times(motion, times, fps)
    return motion


def _load(path: str | Path) -> dict:
    text = read_text(path)
    if text.lstrip()[0] not in "{[":
        raise bad_file(path, "expected a DeepMimic clip (json), found other text")
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise bad_file(path, f"expected DeepMimic json; it is cut off or damaged ({error})") from None
    if not isinstance(document, dict) or "Frames" not in document:
        raise bad_file(path, "expected DeepMimic json with the entry 'Frames'")
    return document


def _frames(rows: object, path: str | Path) -> np.ndarray:
    if not isinstance(rows, list) or len(rows) < 2:
        raise bad_file(path, "'Frames': expected a list of at least 2 frames")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != _WIDTH:
            found = f"{len(row)} numbers" if isinstance(row, list) else repr(row)[:40]
            raise bad_file(path, f"frame {index}: found {found}, expected {_WIDTH} numbers")
        if not all(type(value) in (int, float) for value in row):
            raise bad_file(path, f"frame {index}: expected numbers only")
    try:
        frames = np.array(rows, dtype=np.float64)
    except OverflowError:
        raise bad_file(path, "a number is too large") from None
    check_finite(frames, path, "Frames", largest=1e4)
    return frames


def _local_quats(frames: np.ndarray, path: str | Path) -> tuple[np.ndarray, list[str]]:
    """Orientations in the parents' frames, xyzw, (T, 15, 4), and the joints whose quaternions had to be normalised."""
    local = np.tile([0.0, 0.0, 0.0, 1.0], (len(frames), len(JOINTS), 1))
    uneven = []
    column = 4
    for joint, count in _COLUMNS:
        values = frames[:, column : column + count]
        column += count
        if count == 4:
            if (np.abs(np.linalg.norm(values, axis=1) - 1.0) > UNIT_TOLERANCE).any():
                uneven.append(JOINTS[joint])
            local[:, joint] = unit_quats(wxyz_to_xyzw(values), path, f"joint {JOINTS[joint]}", _UNIT_TOLERANCE)
        else:
            # hinges turn about the body's z axis, which points right
            local[:, joint] = Rotation.from_rotvec(values * [0.0, 0.0, 1.0]).as_quat()
    return local, uneven


def _times(durations: np.ndarray, path: str | Path) -> tuple[np.ndarray, float]:
    """Time of each frame from the first [s], and the usual rate [Hz]. The last frame's duration means nothing."""
    steps = durations[:-1]
    if not (steps > 0.0).all():
        index = int(np.argmin(steps))
        raise bad_file(path, f"frame {index}: duration {steps[index]:g} s, expected a number above 0")
    fps = check_fps(snap_fps(1.0 / float(np.median(steps))), path)
    return np.concatenate(([0.0], np.cumsum(steps))), fps
