"""SMPL parameters in npz files, as AMASS has them: root path, axis-angle poses and a frame rate.

The body model that turns them into positions isn't ours to ship. Joints are placed by a skeleton of the user's own
body model if it is given, otherwise by one with our character's proportions in SMPL's rest pose, which a note says.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from sportsuite.characters import spec
from sportsuite.motion.importers._common import bad_file, check_finite, check_fps, to_z_up, world_poses
from sportsuite.motion.npz import read_npz
from sportsuite.motion.source import SourceMotion

__all__ = ["JOINTS", "PARENTS", "is_smpl", "read_smpl", "rest_joints"]

JOINTS: tuple[str, ...] = (
    "Pelvis",
    "L_Hip",
    "R_Hip",
    "Torso",
    "L_Knee",
    "R_Knee",
    "Spine",
    "L_Ankle",
    "R_Ankle",
    "Chest",
    "L_Toe",
    "R_Toe",
    "Neck",
    "L_Thorax",
    "R_Thorax",
    "Head",
    "L_Shoulder",
    "R_Shoulder",
    "L_Elbow",
    "R_Elbow",
    "L_Wrist",
    "R_Wrist",
)
"""The 22 body joints that all SMPL models share, in their order; fingers, face and hands are left out."""

PARENTS: tuple[int, ...] = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)

_RATE_KEYS = ("mocap_framerate", "mocap_frame_rate", "fps")


def is_smpl(arrays: dict[str, np.ndarray]) -> bool:
    """Whether arrays of an npz file are SMPL parameters."""
    return "poses" in arrays and "trans" in arrays


def read_smpl(
    path: str | Path,
    *,
    fps: float | None = None,
    skeleton: str | Path | None = None,
    name: str | None = None,
    up: str = "z",
) -> SourceMotion:
    """Read SMPL, SMPL+H or SMPL-X parameters.

    Args:
        path: The npz file with ``poses`` (T, at least 66) [rad], ``trans`` (T, 3) [m] and a rate.
        fps: Frames per second [Hz], where the file doesn't say.
        skeleton: An npz file with ``joints``, the body model's joints in its rest pose, (22 or more, 3) [m].
        name: Name of the clip; the file's name by default.
        up: Letter of the world's up axis, ``z`` as in AMASS or ``y``.

    Returns:
        The motion. ``trans`` moves the body model's origin, so that the pelvis is at its rest position plus ``trans``.

    Raises:
        BadInputError: If an entry is missing or wrong.
    """
    from sportsuite.errors import BadInputError
    from sportsuite.motion.importers._common import Z_UP

    path = Path(path)
    if up not in Z_UP:
        raise BadInputError(f"up axis {up!r}: expected y or z")
    arrays = read_npz(path, "motion file")
    poses, trans = _numbers(arrays, "poses", path), _numbers(arrays, "trans", path)
    if poses.ndim != 2 or poses.shape[1] < 66 or len(poses) < 2 or trans.shape != (len(poses), 3):
        raise bad_file(path, f"poses {poses.shape} and trans {trans.shape}: expected (T, 66 or more) and (T, 3)")
    rest = rest_joints() if skeleton is None else _own_rest(Path(skeleton))
    local = Rotation.from_rotvec(poses[:, :66].reshape(-1, 3)).as_quat().reshape(len(poses), 22, 4)
    offsets = np.tile(rest - rest[[max(parent, 0) for parent in PARENTS]], (len(poses), 1, 1))
    offsets[:, 0] = rest[0] + trans
    position, quat = world_poses(PARENTS, local, offsets)
    position, quat = to_z_up(position, quat, Z_UP[up])
    motion = SourceMotion(
        name=name or path.stem,
        fps=check_fps(_rate(arrays, fps, path), path),
        skeleton="smpl",
        joint_names=JOINTS,
        parents=PARENTS,
        position=position,
        quat=quat,
        source=f"SMPL file {path.name}",
        licence="not stated",
    )
    if skeleton is not None:
        return motion
    note = "No skeleton was given: joints were placed by our character's proportions; give one for exact directions."
    return replace(motion, notes=(note,))


def rest_joints() -> np.ndarray:
    """The joints of our character in SMPL's rest pose: y up, facing z, arms stretched out sideways.

    Returns:
        Shape (22, 3) [m], the pelvis at the origin.
    """
    offset = {body.name: np.array(body.offset) for body in spec.BODIES}
    spine, neck = offset["torso"][2], offset["head"][2]
    hip, thigh, shin = offset["left_thigh"][1], -offset["left_shin"][2], -offset["left_foot"][2]
    shoulder, high = offset["left_upper_arm"][1], spine + offset["left_upper_arm"][2]
    upper, lower = -offset["left_lower_arm"][2], -offset["left_hand"][2]
    places = {"Pelvis": (0.0, 0.0, 0.0), "Neck": (0.0, spine + 0.9 * neck, 0.0), "Head": (0.0, spine + 1.3 * neck, 0.0)}
    places |= {"Torso": (0.0, 0.5 * spine, 0.0), "Spine": (0.0, spine, 0.0), "Chest": (0.0, spine + 0.3 * neck, 0.0)}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        places[f"{side}_Hip"] = (sign * hip, 0.0, 0.0)
        places[f"{side}_Knee"] = (sign * hip, -thigh, 0.0)
        places[f"{side}_Ankle"] = (sign * hip, -thigh - shin, 0.0)
        places[f"{side}_Toe"] = (sign * hip, -thigh - shin - 0.03, 0.12)
        places[f"{side}_Thorax"] = (sign * 0.4 * shoulder, high, 0.0)
        places[f"{side}_Shoulder"] = (sign * shoulder, high, 0.0)
        places[f"{side}_Elbow"] = (sign * (shoulder + upper), high, 0.0)
        places[f"{side}_Wrist"] = (sign * (shoulder + upper + lower), high, 0.0)
    return np.array([places[joint] for joint in JOINTS])


def _own_rest(path: Path) -> np.ndarray:
    arrays = read_npz(path, "skeleton file")
    joints = _numbers(arrays, "joints", path)
    if joints.ndim != 2 or len(joints) < 22 or joints.shape[1] != 3:
        raise bad_file(path, f"joints {joints.shape}: expected (22 or more, 3)")
    return joints[:22]


def _numbers(arrays: dict[str, np.ndarray], key: str, path: Path) -> np.ndarray:
    if key not in arrays:
        raise bad_file(path, f"SMPL parameters: {key!r} missing")
    value = arrays[key]
    if value.dtype.kind not in "fiu" or value.ndim == 0:
        raise bad_file(path, f"{key}: expected numbers, found {value.dtype} of shape {value.shape}")
    value = value.astype(np.float64)
    check_finite(value.reshape(len(value), -1), path, key, largest=1e4)
    return value


def _rate(arrays: dict[str, np.ndarray], fps: float | None, path: Path) -> float:
    if fps is not None:
        return fps
    for key in _RATE_KEYS:
        if key in arrays and arrays[key].shape == () and arrays[key].dtype.kind in "fiu":
            return float(arrays[key])
    raise bad_file(path, f"its frame rate is missing: none of {', '.join(_RATE_KEYS)} is there; give it (--fps)")
