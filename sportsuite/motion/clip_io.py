"""Clips on disk: one npz file per clip, without pickle, that says itself what every number means.

Arrays of a file, all of them required but the last three:

============== ============================================================================================
``format``     The text ``sportsuite-clip``.
``version``    1.
``fps``        Frames per second [Hz].
``quat_order`` The text ``xyzw``.
``units``      The text ``m rad s``.
``joint_names``, ``body_names``  Names of the hinges in the columns' order, and of the character's bodies.
``character``  A key of :data:`sportsuite.characters.spec.VARIANTS`.
``name``, ``source``, ``licence``, ``labels``, ``loop``  As in :class:`~sportsuite.motion.clip.Clip`.
``root_pos``   (T, 3) [m], world frame, z up, ground at 0.
``root_quat``  (T, 4), xyzw.
``joint_pos``  (T, 28) [rad].
``sha256``     Hash over rate, joint names and number arrays (:func:`content_hash`).
``ball_pos``, ``ball_quat``, ``ball_contact``  The ball, where there is one: (T, 3) [m], (T, 4) xyzw, (T,) bool.
============== ============================================================================================
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sportsuite.characters import spec
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.npz import read_npz, write_npz

__all__ = ["FORMAT", "MAX_FPS", "VERSION", "check_clip", "content_hash", "in_suite_order", "load_clip", "save_clip"]

FORMAT = "sportsuite-clip"
VERSION = 1
QUAT_ORDER = "xyzw"
UNITS = "m rad s"

MAX_FPS = 10_000.0
"""Highest frame rate that is believed [Hz] (ours: no motion capture is faster; more is a misread frame time)."""

_UNIT_TOLERANCE = 1e-3
"""How far a quaternion's length may be from 1 (ours: text files with three decimals pass, another order doesn't)."""

_MAX_METRES = 1e4
_MAX_RADIANS = 1e3
_BALL = ("ball_pos", "ball_quat", "ball_contact")
_REQUIRED = (
    "format",
    "version",
    "name",
    "fps",
    "joint_names",
    "body_names",
    "quat_order",
    "units",
    "source",
    "licence",
    "character",
    "labels",
    "loop",
    "root_pos",
    "root_quat",
    "joint_pos",
    "sha256",
)


def save_clip(clip: Clip, path: str | Path) -> None:
    """Write a clip in the native format, in one step.

    Args:
        clip: Its joints may stand in any order.
        path: The file, by convention ``*.npz``; an existing one is replaced.

    Raises:
        BadInputError: If the clip isn't one that :func:`load_clip` would accept, or nothing can be written there.
    """
    check_clip(clip)
    arrays = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "name": np.array(clip.name),
        "joint_names": np.array(clip.joint_names),
        "body_names": np.array(spec.BODY_NAMES),
        "quat_order": np.array(QUAT_ORDER),
        "units": np.array(UNITS),
        "source": np.array(clip.source),
        "licence": np.array(clip.licence),
        "character": np.array(clip.character),
        "labels": np.array(clip.labels, dtype=np.str_),
        "loop": np.array(bool(clip.loop)),
        "sha256": np.array(content_hash(clip)),
        **_numbers(clip),
    }
    write_npz(path, arrays)


def load_clip(path: str | Path) -> Clip:
    """Read a clip in the native format.

    Args:
        path: The file.

    Returns:
        The clip, its joints in the order of :data:`sportsuite.characters.spec.JOINT_NAMES`, its quaternions of
        length 1 and without sign flips, float64.

    Raises:
        BadInputError: If the file is missing, cut off, damaged, changed since it was written, lacks an entry, is of
            another format, or holds values that no clip can have.
    """
    arrays = read_npz(path, "clip")
    try:
        return _parse(arrays)
    except BadInputError as error:
        raise BadInputError(f"clip {path}: {error}") from None


def content_hash(clip: Clip) -> str:
    """Hash what a clip's motion consists of: rate, joint names and all number arrays as float64, with their shapes.

    Returns:
        SHA-256 in hexadecimal.
    """
    digest = hashlib.sha256("\n".join(clip.joint_names).encode())
    for key, value in sorted(_numbers(clip).items()):
        digest.update(f"\n{key} {value.shape}\n".encode())
        digest.update(np.ascontiguousarray(value, dtype="<f8").tobytes())
    return digest.hexdigest()


def check_clip(clip: Clip) -> None:
    """Make sure that a clip's fields fit together and are what they are called.

    Raises:
        BadInputError: Naming the first field that doesn't fit, its value and what was expected.
    """
    for field in ("name", "source", "licence"):
        value = getattr(clip, field)
        if not isinstance(value, str) or not value.strip():
            raise BadInputError(f"{field} {value!r}: expected a text that isn't empty")
    if clip.character not in spec.VARIANTS:
        raise unknown_name("character", clip.character, spec.VARIANTS)
    _check_fps(clip.fps)
    _check_joints(clip.joint_names)
    frames = len(np.atleast_1d(clip.root_pos))
    if frames < 2:
        raise BadInputError(f"root_pos has {frames} frames, expected at least 2")
    _check_array("root_pos", clip.root_pos, (frames, 3), _MAX_METRES)
    _check_quat("root_quat", clip.root_quat, frames)
    _check_array("joint_pos", clip.joint_pos, (frames, len(clip.joint_names)), _MAX_RADIANS)
    if clip.ball is not None:
        _check_array("ball_pos", clip.ball.position, (frames, 3), _MAX_METRES)
        _check_quat("ball_quat", clip.ball.quat, frames)
        _check_array("ball_contact", clip.ball.contact, (frames,), 1.0)


def in_suite_order(names: Iterable[str], joint_pos: np.ndarray) -> np.ndarray:
    """Put joint columns in the order of :data:`sportsuite.characters.spec.JOINT_NAMES`.

    Args:
        names: Names of the columns: each hinge once, in any order.
        joint_pos: Shape (T, 28) [rad].

    Returns:
        Shape (T, 28) [rad].

    Raises:
        BadInputError: If a name is unknown, missing or given twice.
    """
    names = tuple(names)
    _check_joints(names)
    return joint_pos[:, [names.index(name) for name in spec.JOINT_NAMES]]


def _numbers(clip: Clip) -> dict[str, np.ndarray]:
    arrays = {
        "fps": np.asarray(clip.fps, dtype=np.float64),
        "root_pos": np.asarray(clip.root_pos, dtype=np.float64),
        "root_quat": np.asarray(clip.root_quat, dtype=np.float64),
        "joint_pos": np.asarray(clip.joint_pos, dtype=np.float64),
    }
    if clip.ball is not None:
        track = clip.ball
        arrays |= {
            "ball_pos": np.asarray(track.position, dtype=np.float64),
            "ball_quat": np.asarray(track.quat, dtype=np.float64),
            "ball_contact": np.asarray(track.contact, dtype=bool),
        }
    return arrays


def _parse(arrays: dict[str, np.ndarray]) -> Clip:
    _check_header(arrays)
    names = tuple(_texts(arrays, "joint_names"))
    stored = Clip(
        name=_text(arrays, "name"),
        fps=_number(arrays, "fps"),
        joint_names=names,
        root_pos=_floats(arrays, "root_pos"),
        root_quat=_floats(arrays, "root_quat"),
        joint_pos=_floats(arrays, "joint_pos"),
        character=_text(arrays, "character"),
        source=_text(arrays, "source"),
        licence=_text(arrays, "licence"),
        labels=tuple(_texts(arrays, "labels")),
        loop=bool(_number(arrays, "loop")),
        ball=_ball(arrays),
    )
    check_clip(stored)
    bodies = tuple(_texts(arrays, "body_names"))
    if bodies != spec.BODY_NAMES:
        raise BadInputError(f"body_names {list(bodies)}: expected {list(spec.BODY_NAMES)}")
    if content_hash(stored) != (wanted := _text(arrays, "sha256")):
        raise BadInputError(f"sha256 {wanted}: the arrays give {content_hash(stored)}; the file was changed or damaged")
    return stored.with_(
        joint_names=spec.JOINT_NAMES,
        joint_pos=in_suite_order(names, stored.joint_pos),
        root_quat=_tidy(stored.root_quat),
    )


def _check_header(arrays: dict[str, np.ndarray]) -> None:
    kind = _text(arrays, "format") if "format" in arrays else ""
    if kind != FORMAT:
        raise BadInputError(
            f"not a clip in the native format: 'format' is {kind!r}, expected {FORMAT!r}; "
            "files of other formats are read by 'sportsuite motion import'"
        )
    if missing := [key for key in _REQUIRED if key not in arrays]:
        raise BadInputError(f"missing: {', '.join(missing)}")
    if (version := _number(arrays, "version")) != VERSION:
        raise BadInputError(f"format version {version:g}: this sportsuite reads version {VERSION}")
    for key, wanted in (("quat_order", QUAT_ORDER), ("units", UNITS)):
        if (found := _text(arrays, key)) != wanted:
            raise BadInputError(f"{key} {found!r}: expected {wanted!r}")


def _ball(arrays: dict[str, np.ndarray]) -> ObjectTrack | None:
    there = [key for key in _BALL if key in arrays]
    if not there:
        return None
    if missing := [key for key in _BALL if key not in arrays]:
        raise BadInputError(f"missing: {', '.join(missing)} (the file has {', '.join(there)})")
    return ObjectTrack(
        position=_floats(arrays, "ball_pos"),
        quat=_floats(arrays, "ball_quat"),
        contact=_floats(arrays, "ball_contact").astype(bool),
    )


def _text(arrays: dict[str, np.ndarray], key: str) -> str:
    value = arrays[key]
    if value.shape != () or value.dtype.kind != "U":
        raise BadInputError(f"{key}: expected a text, found {value.dtype} of shape {value.shape}")
    return str(value)


def _texts(arrays: dict[str, np.ndarray], key: str) -> list[str]:
    value = arrays[key]
    if value.ndim != 1 or value.dtype.kind != "U":
        raise BadInputError(f"{key}: expected a list of texts, found {value.dtype} of shape {value.shape}")
    return value.tolist()


def _number(arrays: dict[str, np.ndarray], key: str) -> float:
    value = arrays[key]
    if value.shape != () or value.dtype.kind not in "fiub":
        raise BadInputError(f"{key}: expected a number, found {value.dtype} of shape {value.shape}")
    return float(value)


def _floats(arrays: dict[str, np.ndarray], key: str) -> np.ndarray:
    value = arrays[key]
    if value.dtype.kind not in "fiub":
        raise BadInputError(f"{key}: expected numbers, found {value.dtype}")
    return value.astype(np.float64)


def _check_fps(fps: float) -> None:
    if not (isinstance(fps, (int, float)) and math.isfinite(fps) and 0.0 < fps <= MAX_FPS):
        raise BadInputError(f"fps {fps!r}: expected a number above 0 and at most {MAX_FPS:g}")


def _check_joints(names: tuple[str, ...]) -> None:
    for name in names:
        if name not in spec.JOINT_NAMES:
            raise unknown_name("joint", name, spec.JOINT_NAMES)
    if missing := [name for name in spec.JOINT_NAMES if name not in names]:
        raise BadInputError(f"missing joints: {', '.join(missing)}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInputError(f"joints given twice: {', '.join(twice)}")


def _check_array(field: str, value: np.ndarray, shape: tuple[int, ...], largest: float) -> None:
    value = np.asarray(value)
    if value.dtype.kind not in "fiub":
        raise BadInputError(f"{field}: expected numbers, found {value.dtype}")
    if value.shape != shape:
        raise BadInputError(f"{field} has the shape {value.shape}, expected {shape}")
    bad = ~np.isfinite(value) | (np.abs(value) > largest)
    if bad.any():
        where = tuple(int(index) for index in np.argwhere(bad)[0])
        raise BadInputError(
            f"{field}{list(where)} is {float(value[where]):g}, expected a finite number up to {largest:g}"
        )


def _check_quat(field: str, quat: np.ndarray, frames: int) -> None:
    _check_array(field, quat, (frames, 4), 2.0)
    length = np.linalg.norm(np.asarray(quat, dtype=np.float64), axis=-1)
    worst = int(np.abs(length - 1.0).argmax())
    if abs(length[worst] - 1.0) > _UNIT_TOLERANCE:
        raise BadInputError(f"{field}[{worst}] has the length {length[worst]:.4g}, expected a unit quaternion")


def _tidy(quat: np.ndarray) -> np.ndarray:
    """Normalise, and choose the sign nearest to the frame before."""
    unit = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
    flips = np.where((unit[1:] * unit[:-1]).sum(-1) < 0.0, -1.0, 1.0)
    unit[1:] *= np.cumprod(flips)[:, None]
    return unit
