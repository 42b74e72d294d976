"""What the importers share: reading text, forward kinematics of foreign skeletons, turning the world z up."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from sportsuite.errors import BadInputError
from sportsuite.motion.npz import read_bytes

__all__ = [
    "MAX_JOINTS",
    "UNIT_TOLERANCE",
    "Z_UP",
    "bad_file",
    "check_finite",
    "check_fps",
    "clean_name",
    "continuous",
    "parse_floats",
    "read_text",
    "snap_fps",
    "to_z_up",
    "unit_quats",
    "world_poses",
    "wxyz_to_xyzw",
]

MAX_JOINTS = 1000
"""Most joints of a skeleton that is believed (ours: full bodies with fingers and face have about 100)."""

MAX_FPS = 10_000.0
UNIT_TOLERANCE = 0.05
"""How far a quaternion's length in a file may be from 1 (ours: text files round to few decimals)."""

Z_UP: dict[str, np.ndarray] = {
    # y up, z forward, x left becomes x forward, y left, z up
    "y": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
"""Rotation of a file's axes into ours by the letter of its up axis."""


def bad_file(path: str | Path, message: str) -> BadInputError:
    """Make the error for a motion file."""
    return BadInputError(f"motion file {path}: {message}")


def read_text(path: str | Path) -> str:
    """Read a text file; bytes that are no UTF-8 are replaced, since comments come in all encodings.

    Raises:
        BadInputError: If it can't be read, is empty or is binary.
    """
    data = read_bytes(path)
    if b"\0" in data[:4096]:
        raise bad_file(path, "expected text, found a binary file")
    text = data.decode("utf-8", errors="replace")
    if not text.strip():
        raise bad_file(path, "it is empty")
    return text


def parse_floats(words: Sequence[str], path: str | Path, where: str) -> np.ndarray:
    """Turn words into finite numbers.

    Raises:
        BadInputError: Naming the first word that is none.
    """
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise bad_file(path, f"{where}: expected a number, found {wrong[:40]!r}") from None
    if not np.isfinite(values).all():
        wrong = words[int(np.argmin(np.isfinite(values)))]
        raise bad_file(path, f"{where}: expected finite numbers, found {wrong[:40]!r}")
    return values


def _is_number(word: str) -> bool:
    try:
        np.array([word], dtype=np.float64)
    except ValueError:
        return False
    return True


def check_finite(values: np.ndarray, path: str | Path, what: str, largest: float = 1e6) -> None:
    """Refuse numbers that are not finite or beyond what a motion can hold.

    Raises:
        BadInputError: Naming the first frame that has one.
    """
    bad = ~np.isfinite(values) | (np.abs(np.nan_to_num(values)) > largest)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise bad_file(
            path, f"{what}: frame {index[0]} has {float(values[index]):g}, expected a number up to {largest:g}"
        )


def check_fps(fps: float, path: str | Path) -> float:
    """Refuse a frame rate that no recording has.

    Raises:
        BadInputError: If it isn't a number above 0 and at most 10 kHz.
    """
    if not (math.isfinite(fps) and 0.0 < fps <= MAX_FPS):
        raise bad_file(path, f"frame rate {fps:g} Hz: expected a number above 0 and at most {MAX_FPS:g}")
    return float(fps)


def snap_fps(fps: float) -> float:
    """Undo the rounding of a written frame time: 30.00003 Hz is 30 Hz."""
    whole = round(fps)
    return float(whole) if whole and abs(fps - whole) < 1e-3 * whole else fps


def wxyz_to_xyzw(quat: np.ndarray) -> np.ndarray:
    """Reorder quaternions (..., 4)."""
    return quat[..., [1, 2, 3, 0]]


def unit_quats(quat: np.ndarray, path: str | Path, what: str, tolerance: float = UNIT_TOLERANCE) -> np.ndarray:
    """Normalise quaternions (T, ..., 4) that are nearly of length 1.

    Raises:
        BadInputError: Naming the first frame whose length differs from 1 by more than the tolerance.
    """
    length = np.linalg.norm(quat, axis=-1, keepdims=True)
    bad = ~(np.abs(length - 1.0) <= tolerance)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise bad_file(
            path, f"{what}: frame {index[0]} has a quaternion of length {float(length[index]):.3g}, expected 1"
        )
    return quat / length


def continuous(quat: np.ndarray) -> np.ndarray:
    """Choose the signs of quaternions over time, (T, ..., 4), so that neighbouring frames are near each other."""
    flips = np.where((quat[1:] * quat[:-1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.concatenate((quat[:1], quat[1:] * np.cumprod(flips, axis=0)))


def world_poses(parents: Sequence[int], local_quat: np.ndarray, local_pos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forward kinematics of any skeleton whose parents stand before their children.

    Args:
        parents: Index of each joint's parent, -1 for a root.
        local_quat: Orientations in the parents' frames, xyzw, shape (T, K, 4).
        local_pos: Positions in the parents' frames, shape (T, K, 3) or (K, 3) [m].

    Returns:
        World positions (T, K, 3) [m] and orientations (T, K, 4), xyzw, without sign flips over time.
    """
    frames, joints = local_quat.shape[:2]
    offsets = np.broadcast_to(local_pos, (frames, joints, 3))
    position = np.empty((frames, joints, 3))
    turns: list[Rotation] = []
    for joint, parent in enumerate(parents):
        own = Rotation.from_quat(local_quat[:, joint])
        if parent < 0:
            turns.append(own)
            position[:, joint] = offsets[:, joint]
        else:
            turns.append(turns[parent] * own)
            position[:, joint] = position[:, parent] + turns[parent].apply(offsets[:, joint])
    return position, continuous(np.stack([turn.as_quat() for turn in turns], axis=1))


def to_z_up(
    position: np.ndarray, quat: np.ndarray, axes: np.ndarray, scale: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Express world poses in our axes.

    Args:
        position: (..., 3) in the file's unit.
        quat: xyzw, (..., 4).
        axes: Rotation matrix from the file's axes to ours, (3, 3), e.g. of :data:`Z_UP`.
        scale: Metres per unit of the file.

    Returns:
        Positions [m] and orientations, xyzw.
    """
    turned = np.concatenate((quat[..., :3] @ axes.T, quat[..., 3:]), axis=-1)
    return scale * (position @ axes.T), turned


def clean_name(text: str) -> str:
    """Strip what modelling programs put before joint names: ``mixamorig:Hips`` is ``Hips``."""
    return re.sub(r"^.*[:|]", "", text.strip())
