"""poselib's npy clips (IsaacGymEnvs, ASE, CALM). They are pickled; this reader runs no code from the file.

The pickle is read by an interpreter that knows a few names, each replaced by a harmless stand-in: arrays become
(shape, type, bytes), which are checked before they become numbers. Anything else is refused.
"""

from __future__ import annotations

import collections
import io
import math
import pickle
import re
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sportsuite.errors import BadInputError
from sportsuite.motion.importers._common import (
    MAX_JOINTS,
    bad_file,
    check_finite,
    check_fps,
    continuous,
    unit_quats,
    world_poses,
)
from sportsuite.motion.importers.families import family_of
from sportsuite.motion.npz import MAX_BYTES, read_bytes
from sportsuite.motion.source import SourceMotion

__all__ = ["is_poselib", "read_poselib"]

_MAGIC = b"\x93NUMPY"

_DAMAGED = (
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    AssertionError,
    ImportError,
    struct.error,
    MemoryError,
)
"""What pickle's interpreter raises on damaged input; it promises nothing narrower."""


def is_poselib(data: bytes) -> bool:
    """Whether a file's first bytes are those of an npy file with pickled objects."""
    return data.startswith(_MAGIC) and b"'|O'" in data[:128]


def read_poselib(path: str | Path, *, name: str | None = None) -> SourceMotion:
    """Read a pickled ``SkeletonMotion``.

    Quaternions are xyzw, positions in metres and z up.

    Args:
        path: The file, ``*.npy``.
        name: Name of the clip; the file's name by default.

    Returns:
        The motion, its joints placed by the file's own skeleton.

    Raises:
        BadInputError: If the file isn't such a clip, is damaged, or needs a name that the reader doesn't know.
    """
    path = Path(path)
    content = _unpickle(path)
    tree = _entry(content, "skeleton_tree", dict, path)
    names = _names(_entry(tree, "node_names", list, path), path)
    joints = len(names)
    parents = _array(tree, "parent_indices", path, (joints,))
    offsets = _array(tree, "local_translation", path, (joints, 3))
    rotation = _array(content, "rotation", path, (None, joints, 4))
    frames = len(rotation)
    if frames < 2:
        raise bad_file(path, f"it has {frames} frames, expected at least 2")
    root = _array(content, "root_translation", path, (frames, 3))
    order = [int(parent) for parent in parents]
    if order[0] != -1 or any(not 0 <= parent < index for index, parent in enumerate(order[1:], 1)):
        raise bad_file(path, f"parent_indices {order}: expected -1 first, and parents before their children")
    quat = unit_quats(rotation, path, "rotation")
    if not content.get("is_local", True):
        quat = _to_local(quat, order)
    local_pos = np.tile(offsets, (frames, 1, 1))
    local_pos[:, 0] = root
    position, world = world_poses(order, quat, local_pos)
    try:
        family = family_of(names)
    except BadInputError as error:
        raise bad_file(path, str(error)) from None
    return SourceMotion(
        name=name or path.stem,
        fps=check_fps(float(_array({"fps": content.get("fps")}, "fps", path, ())), path),
        skeleton=family,
        joint_names=names,
        parents=tuple(order),
        position=position,
        quat=continuous(world),
        source=f"poselib file {path.name}",
        licence="not stated",
    )


class _Array:
    """Stands in for a numpy array while unpickling."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _DType:
    """Stands in for a numpy dtype while unpickling."""

    def __init__(self, code: Any = None, *_: Any) -> None:
        self.code = code
        self.order = "|"

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]


class _NdArray:
    """Stands in for the class numpy.ndarray, which is only named, never called."""


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _scalar(dtype: Any, raw: Any) -> _Array:
    array = _Array()
    array.state = (1, (), dtype, False, raw)
    return array


def _from_buffer(raw: Any, dtype: Any, shape: Any, order: Any, *_: Any) -> _Array:
    array = _Array()
    array.state = (1, shape, dtype, order == "F", raw)
    return array


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """How the first pickle protocols write bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError("bytes in another encoding than latin1")
    return text.encode("latin1")


_KNOWN = {
    ("multiarray", "_reconstruct"): _reconstruct,
    ("multiarray", "scalar"): _scalar,
    ("numeric", "_frombuffer"): _from_buffer,
    ("_codecs", "encode"): _encode,
    ("numpy", "ndarray"): _NdArray,
    ("numpy", "dtype"): _DType,
    ("collections", "OrderedDict"): collections.OrderedDict,
}


# the interpreter in Python, since the one in C reserves as much memory as a damaged file asks for
class _Unpickler(pickle._Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        known = _KNOWN.get((re.sub(r"^numpy\._?core\.", "", module), name))
        if known is None:
            raise BadInputError(f"it is pickled and asks for {module}.{name}, which could run code: refused")
        return known

    def load_bytearray8(self) -> None:
        # pickle's own reserves as many bytes as the file says before it reads them
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(bytearray(self.read(min(size, MAX_BYTES))))

    dispatch: ClassVar[dict[int, Any]] = {**pickle._Unpickler.dispatch, pickle.BYTEARRAY8[0]: load_bytearray8}


def _unpickle(path: Path) -> dict:
    data = read_bytes(path)
    if not is_poselib(data):
        raise bad_file(path, "expected a pickled poselib clip in npy format")
    try:
        header = 10 + struct.unpack_from("<H", data, 8)[0]
        content = _Unpickler(io.BytesIO(data[header:]), encoding="latin1").load()
    except BadInputError as error:
        raise bad_file(path, str(error)) from None
    except _DAMAGED as error:
        raise bad_file(path, f"it is cut off or damaged ({type(error).__name__}: {str(error)[:80]})") from None
    if isinstance(content, _Array):
        content = _only_object(content, path)
    if not isinstance(content, dict):
        raise bad_file(path, "expected a poselib clip: a mapping of names to arrays")
    return content


def _only_object(array: _Array, path: Path) -> Any:
    """The one object of an array of shape ()."""
    state = array.state
    if isinstance(state, tuple) and len(state) == 5 and isinstance(state[4], list) and len(state[4]) == 1:
        return state[4][0]
    raise bad_file(path, "expected a poselib clip: one mapping of names to arrays")


def _entry(content: Any, key: str, kind: type, path: Path) -> Any:
    value = content.get(key) if isinstance(content, dict) else None
    if not isinstance(value, kind):
        raise bad_file(
            path, f"expected a poselib clip: {key!r} {'missing' if value is None else 'is no ' + kind.__name__}"
        )
    return value


def _names(values: list, path: Path) -> tuple[str, ...]:
    if not 1 <= len(values) <= MAX_JOINTS or not all(isinstance(value, str) for value in values):
        raise bad_file(path, f"node_names: expected 1 to {MAX_JOINTS} names, found {len(values)} entries")
    if len(set(values)) < len(values):
        raise bad_file(path, "node_names: a joint is given twice")
    return tuple(values)


def _array(content: Any, key: str, path: Path, shape: tuple[int | None, ...]) -> np.ndarray:
    """An entry as float64 of a given shape, where None stands for any length."""
    value = content.get(key) if isinstance(content, dict) else None
    if isinstance(value, dict):
        value = value.get("arr")
    if isinstance(value, (int, float)):
        value = np.array(float(value) if abs(value) < 1e300 else np.inf)
    elif isinstance(value, _Array):
        value = _to_numbers(value, key, path)
    if not isinstance(value, np.ndarray):
        raise bad_file(path, f"expected a poselib clip: the array {key!r} is missing")
    if len(value.shape) != len(shape) or any(
        want not in (None, have) for want, have in zip(shape, value.shape, strict=True)
    ):
        wanted = ", ".join("T" if size is None else str(size) for size in shape)
        raise bad_file(path, f"{key} has the shape {value.shape}, expected ({wanted})")
    check_finite(value.reshape(len(value), -1) if value.ndim else value.reshape(1), path, key)
    return value


def _to_numbers(array: _Array, key: str, path: Path) -> np.ndarray:
    try:
        _, shape, dtype, fortran, raw = array.state
        code, order = dtype.code, dtype.order
        if not re.fullmatch(r"[fiu][1248]|b1", code) or order not in ("<", ">", "|", "="):
            raise ValueError(f"type {order}{code}")
        raw = raw.encode("latin1") if isinstance(raw, str) else bytes(raw)
        kind = np.dtype(("" if order == "|" else order) + code)
        if any(type(size) is not int or size < 0 for size in shape) or math.prod(shape) * kind.itemsize != len(raw):
            raise ValueError(f"shape {shape} with {len(raw)} bytes")
        values = np.frombuffer(raw, kind).reshape(shape, order="F" if fortran else "C")
    except (TypeError, ValueError, AttributeError) as error:
        raise bad_file(path, f"{key} is damaged ({str(error)[:80]})") from None
    return values.astype(np.float64)


def _to_local(world: np.ndarray, parents: list[int]) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    local = world.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            own, above = Rotation.from_quat(world[:, joint]), Rotation.from_quat(world[:, parent])
            local[:, joint] = (above.inv() * own).as_quat()
    return local
