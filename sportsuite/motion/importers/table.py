"""Tables of our own humanoid's poses, as CSV or npz: what spreadsheets and other tools can write.

A CSV table has a line of column names, then one line per frame. The columns may stand in any order: ``root_x``,
``root_y``, ``root_z`` [m], ``root_qx``, ``root_qy``, ``root_qz``, ``root_qw``, one column per hinge named as in
:data:`sportsuite.characters.spec.JOINT_NAMES`, and ``time`` [s] unless a rate is given. An npz table has ``root_pos``,
``root_quat``, ``quat_order`` (``xyzw`` or ``wxyz``), ``joint_pos``, ``joint_names`` and ``fps`` or ``time``.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from sportsuite.characters import spec
from sportsuite.errors import BadInputError, nearest, unknown_name
from sportsuite.motion.clip import Clip
from sportsuite.motion.clip_io import check_clip, in_suite_order
from sportsuite.motion.importers._common import (
    bad_file,
    check_finite,
    check_fps,
    continuous,
    parse_floats,
    read_text,
    snap_fps,
    unit_quats,
    wxyz_to_xyzw,
)
from sportsuite.motion.npz import read_npz

__all__ = ["is_table", "read_table"]

_POS = ("root_x", "root_y", "root_z")
_QUAT = ("root_qx", "root_qy", "root_qz", "root_qw")
_COLUMNS = (*_POS, *_QUAT, *spec.JOINT_NAMES)
_UNEVEN = 0.01
"""Relative difference of time steps from which a table counts as uneven (ours: below it is rounding)."""


def is_table(arrays: dict[str, np.ndarray]) -> bool:
    """Whether arrays of an npz file are a table of poses."""
    return "joint_pos" in arrays and "format" not in arrays


def read_table(
    path: str | Path,
    *,
    fps: float | None = None,
    character: str = "football",
    name: str | None = None,
    degrees: bool = False,
) -> Clip:
    """Read a table of poses.

    Args:
        path: The file, ``*.csv`` or ``*.npz``.
        fps: Frames per second [Hz], where the file says nothing about time.
        character: Size of the character it is for, a key of :data:`sportsuite.characters.spec.VARIANTS`.
        name: Name of the clip; the file's name by default.
        degrees: Whether the joint angles are in degrees.

    Raises:
        BadInputError: If columns are missing, unknown or of unequal length, numbers are not finite, time doesn't
            increase evenly, or a quaternion isn't of length 1.
    """
    path = Path(path)
    if character not in spec.VARIANTS:
        raise unknown_name("character", character, spec.VARIANTS)
    read = _from_npz if path.suffix.lower() == ".npz" else _from_csv
    root_pos, root_quat, joint_pos, time, own_fps = read(path)
    if len(root_pos) < 2:
        raise bad_file(path, f"it has {len(root_pos)} frames, expected at least 2")
    clip = Clip(
        name=name or path.stem,
        fps=_rate(time, own_fps if fps is None else fps, path),
        joint_names=spec.JOINT_NAMES,
        root_pos=root_pos,
        root_quat=continuous(unit_quats(root_quat, path, "root orientation")),
        joint_pos=np.radians(joint_pos) if degrees else joint_pos,
        character=character,
        source=f"table {path.name}",
        licence="not stated",
    )
    try:
        check_clip(clip)
    except BadInputError as error:
        raise bad_file(path, str(error)) from None
    return clip


_Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, float | None]


def _from_csv(path: Path) -> _Parts:
    try:
        rows = [row for row in csv.reader(io.StringIO(read_text(path))) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise bad_file(path, f"expected a CSV table ({error})") from None
    names = [cell.strip() for cell in rows[0]]
    _check_columns(names, path)
    for number, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise bad_file(path, f"frame {number}: {len(row)} values, but there are {len(names)} columns")
    flat = [cell.strip() for row in rows[1:] for cell in row]
    data = parse_floats(flat, path, "values").reshape(len(rows) - 1, len(names))
    check_finite(data, path, "values")

    def columns(wanted: tuple[str, ...]) -> np.ndarray:
        return data[:, [names.index(name) for name in wanted]]

    time = data[:, names.index("time")] if "time" in names else None
    return columns(_POS), columns(_QUAT), columns(spec.JOINT_NAMES), time, None


def _check_columns(names: list[str], path: Path) -> None:
    if missing := [name for name in _COLUMNS if name not in names]:
        near = nearest(missing[0], [name for name in names if name not in _COLUMNS], count=1)
        hint = f" ({near[0]!r} for {missing[0]!r}?)" if near else ""
        raise bad_file(path, f"columns missing: {', '.join(missing)}{hint}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise bad_file(path, f"columns given twice: {', '.join(twice)}")
    if unknown := [name for name in names if name not in (*_COLUMNS, "time")]:
        raise bad_file(path, str(unknown_name("column", unknown[0], (*_COLUMNS, "time"))))


def _from_npz(path: Path) -> _Parts:
    arrays = read_npz(path, "motion file")
    wanted = ("root_pos", "root_quat", "quat_order", "joint_pos", "joint_names")
    if missing := [key for key in wanted if key not in arrays]:
        raise bad_file(path, f"missing: {', '.join(missing)}")
    root_pos, root_quat, joint_pos = (_floats(arrays, key, path) for key in ("root_pos", "root_quat", "joint_pos"))
    frames, names = len(root_pos), [str(name) for name in arrays["joint_names"].ravel()]
    for key, value, shape in (
        ("root_pos", root_pos, (frames, 3)),
        ("root_quat", root_quat, (frames, 4)),
        ("joint_pos", joint_pos, (frames, len(names))),
    ):
        if value.shape != shape:
            raise bad_file(path, f"{key} has the shape {value.shape}, expected {shape}")
    order = str(arrays["quat_order"])
    if order not in ("xyzw", "wxyz"):
        raise bad_file(path, f"quat_order {order!r}: expected xyzw or wxyz")
    try:
        joint_pos = in_suite_order(names, joint_pos)
    except BadInputError as error:
        raise bad_file(path, str(error)) from None
    time = _floats(arrays, "time", path) if "time" in arrays else None
    rate = arrays.get("fps")
    if rate is not None and (rate.shape != () or rate.dtype.kind not in "fiu"):
        raise bad_file(path, "fps: expected one number")
    if order == "wxyz":
        root_quat = wxyz_to_xyzw(root_quat)
    return root_pos, root_quat, joint_pos, time, None if rate is None else float(rate)


def _floats(arrays: dict[str, np.ndarray], key: str, path: Path) -> np.ndarray:
    value = arrays[key]
    if value.dtype.kind not in "fiu" or value.ndim == 0:
        raise bad_file(path, f"{key}: expected numbers, found {value.dtype} of shape {value.shape}")
    value = value.astype(np.float64)
    check_finite(value.reshape(len(value), -1), path, key)
    return value


def _rate(time: np.ndarray | None, fps: float | None, path: Path) -> float:
    if time is None:
        if fps is None:
            raise bad_file(path, "nothing says its rate: expected a column 'time' [s], or give it (--fps)")
        return check_fps(fps, path)
    steps = np.diff(time.ravel())
    if not (steps > 0.0).all():
        index = int(np.argmin(steps)) + 1
        raise bad_file(path, f"time doesn't increase at frame {index}: {time[index]:g} s after {time[index - 1]:g} s")
    mean = float(steps.mean())
    if np.abs(steps - mean).max() > _UNEVEN * mean:
        raise bad_file(path, f"time steps from {steps.min():g} to {steps.max():g} s: expected even ones")
    own = snap_fps(1.0 / mean)
    if fps is not None and abs(fps - own) > _UNEVEN * own:
        raise bad_file(path, f"its time says {own:g} Hz, but {fps:g} Hz was given")
    return check_fps(own, path)
