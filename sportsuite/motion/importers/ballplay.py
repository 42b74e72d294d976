"""BallPlay clips (SkillMimic): one tensor of 337 columns with an SMPL-X-like body, fingers, a ball and its contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from sportsuite.motion.clip import ObjectTrack
from sportsuite.motion.importers._common import bad_file, check_finite, check_fps, continuous
from sportsuite.motion.npz import MAX_BYTES, read_bytes
from sportsuite.motion.source import SourceMotion

__all__ = ["JOINTS", "PARENTS", "read_ballplay"]

_HAND = tuple(f"{finger}{part}" for finger in ("Index", "Middle", "Pinky", "Ring", "Thumb") for part in (1, 2, 3))
_LEG = ("Hip", "Knee", "Ankle", "Toe")
_ARM = ("Thorax", "Shoulder", "Elbow", "Wrist", *_HAND)

JOINTS: tuple[str, ...] = (
    "Pelvis",
    *(f"L_{part}" for part in _LEG),
    *(f"R_{part}" for part in _LEG),
    *("Torso", "Spine", "Spine2", "Chest", "Neck", "Head"),
    *(f"L_{part}" for part in _ARM),
    *(f"R_{part}" for part in _ARM),
)
"""The 53 joints in the order of the tensor's columns."""


def _parent(joint: str) -> str | None:
    side, _, part = joint.partition("_")
    above = {"Hip": "Pelvis", "Thorax": "Chest", "Torso": "Pelvis"}
    chain = {"Spine": "Torso", "Spine2": "Spine", "Chest": "Spine2", "Neck": "Chest", "Head": "Neck"}
    if joint == "Pelvis" or joint in chain or joint in above:
        return (chain | above).get(joint)
    if part in above:
        return above[part]
    if part in _HAND:
        return f"{side}_Wrist" if part.endswith("1") else f"{side}_{part[:-1]}{int(part[-1]) - 1}"
    line = _LEG if part in _LEG else _ARM
    return f"{side}_{line[line.index(part) - 1]}"


PARENTS: tuple[int, ...] = tuple(-1 if (parent := _parent(joint)) is None else JOINTS.index(parent) for joint in JOINTS)
"""Index of each joint's parent. Columns and parents were checked against stored positions: offsets stay constant."""

_WIDTH = 337
_ROOT, _TURNS, _BODIES, _BALL, _BALL_TURN, _CONTACT = 3, 9, 165, 324, 327, 336


def read_ballplay(path: str | Path, *, fps: float | None = None, name: str | None = None) -> SourceMotion:
    """Read a BallPlay clip.

    Joint rotations are exponential maps; the positions of the joints are stored and taken as they are (metres, z up).

    Args:
        path: The file, ``*.pt``.
        fps: Frames per second [Hz], which the file doesn't say; 60, as the data set has it, if None.
        name: Name of the clip; the file's name by default.

    Returns:
        The motion, with the ball's track and contact.

    Raises:
        BadInputError: If the file isn't such a clip, is damaged, or would have to be unpickled.
    """
    path = Path(path)
    rate = check_fps(60.0 if fps is None else fps, path)
    data = _load(path)
    check_finite(data, path, "values", largest=1e4)
    frames = len(data)
    turns = Rotation.from_rotvec(data[:, _TURNS:_BODIES].reshape(-1, 3)).as_quat().reshape(frames, -1, 4)
    root = Rotation.from_rotvec(data[:, _ROOT : _ROOT + 3]).as_quat()
    local = np.concatenate((root[:, None], turns), axis=1)
    ball_quat = Rotation.from_rotvec(data[:, _BALL_TURN : _BALL_TURN + 3]).as_quat()
    return SourceMotion(
        name=name or path.stem,
        fps=rate,
        skeleton="smpl",
        joint_names=JOINTS,
        parents=PARENTS,
        position=data[:, _BODIES:_BALL].reshape(frames, len(JOINTS), 3),
        quat=_world_quats(local),
        source=f"BallPlay file {path.name}",
        licence="not stated",
        ball=ObjectTrack(data[:, _BALL : _BALL + 3], continuous(ball_quat), data[:, _CONTACT] > 0.5),
    )


def _load(path: Path) -> np.ndarray:
    import torch

    read_bytes(path)
    try:
        tensor = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:
        # torch has no common class for "damaged" and "holds more than tensors"
        reason = str(error).partition("\n")[0][:120]
        raise bad_file(path, f"expected a tensor; it is damaged or would have to be unpickled ({reason})") from None
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or tensor.is_complex():
        raise bad_file(path, f"expected one tensor of numbers, found {type(tensor).__name__}")
    if tensor.ndim != 2 or tensor.shape[1] != _WIDTH or not 2 <= len(tensor) <= MAX_BYTES // (8 * _WIDTH):
        raise bad_file(path, f"a tensor of shape {tuple(tensor.shape)}, expected (T, {_WIDTH}) with 2 frames or more")
    return tensor.detach().to(torch.float64).numpy()


def _world_quats(local: np.ndarray) -> np.ndarray:
    turns: list[Rotation] = []
    for joint, parent in enumerate(PARENTS):
        own = Rotation.from_quat(local[:, joint])
        turns.append(own if parent < 0 else turns[parent] * own)
    return continuous(np.stack([turn.as_quat() for turn in turns], axis=1))
