"""BVH: a text file with a skeleton of offsets and, per frame, positions and Euler angles.

The Euler order is read per joint, since exporters mix them; a joint's position channels replace its OFFSET.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from sportsuite.errors import BadInputError
from sportsuite.motion.importers._common import (
    MAX_JOINTS,
    Z_UP,
    bad_file,
    check_finite,
    check_fps,
    clean_name,
    parse_floats,
    read_text,
    snap_fps,
    to_z_up,
    world_poses,
)
from sportsuite.motion.importers.families import family_of
from sportsuite.motion.source import SourceMotion

__all__ = ["read_bvh"]

_CHANNELS = tuple(f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ")


@dataclass
class _Joint:
    name: str
    parent: int
    offset: np.ndarray = field(default_factory=lambda: np.full(3, np.nan))
    channels: list[str] = field(default_factory=list)
    is_end: bool = False


def read_bvh(path: str | Path, *, name: str | None = None, scale: float = 0.01, up: str = "y") -> SourceMotion:
    """Read a BVH file.

    Args:
        path: The file.
        name: Name of the clip; the file's name by default.
        scale: Metres per unit of the file; most files are in centimetres.
        up: Letter of the file's up axis, ``y`` or ``z``.

    Returns:
        The motion; end sites are joints called ``<parent>_end``.

    Raises:
        BadInputError: If the file is no whole BVH file, or its skeleton is of no known family.
    """
    if up not in Z_UP:
        raise BadInputError(f"up axis {up!r}: expected y or z")
    lines = read_text(path).splitlines()
    joints, start = _read_hierarchy(lines, path)
    data, fps = _read_motion(lines, start, sum(len(joint.channels) for joint in joints), path)
    quat, offsets = _local_poses(joints, data)
    parents = tuple(joint.parent for joint in joints)
    position, turned = world_poses(parents, quat, offsets)
    position, turned = to_z_up(position, turned, Z_UP[up], scale)
    check_finite(position, path, "positions", largest=1e4)
    names = tuple(joint.name for joint in joints)
    try:
        family = family_of(names)
    except BadInputError as error:
        raise bad_file(path, str(error)) from None
    path = Path(path)
    return SourceMotion(
        name=name or path.stem,
        fps=fps,
        skeleton=family,
        joint_names=names,
        parents=parents,
        position=position,
        quat=turned,
        source=f"BVH file {path.name}",
        licence="not stated",
    )


def _read_hierarchy(lines: list[str], path: str | Path) -> tuple[list[_Joint], int]:
    """Read the skeleton; returns its joints and the number of the line MOTION."""
    joints: list[_Joint] = []
    stack: list[int] = []
    opened = False
    for number, line in enumerate(lines):
        words = line.split()
        if not words or (number == 0 and words[0].upper() == "HIERARCHY"):
            continue
        word = words[0]
        if word == "MOTION":
            _check_hierarchy(joints, stack, path)
            return joints, number
        if word in ("ROOT", "JOINT", "End"):
            joints.append(_new_joint(words, stack, joints, path, number))
            opened = True
        elif word == "{" and opened:
            stack.append(len(joints) - 1)
            opened = False
        elif word == "}" and stack:
            stack.pop()
        elif word == "OFFSET" and stack:
            joints[stack[-1]].offset = _offset(words, path, number)
        elif word == "CHANNELS" and stack:
            joints[stack[-1]].channels = _channels(words, path, number)
        else:
            raise bad_file(path, f"line {number + 1}: expected part of a BVH skeleton, found {line.strip()[:40]!r}")
    raise bad_file(path, "it is cut off: the line MOTION is missing")


def _new_joint(words: list[str], stack: list[int], joints: list[_Joint], path: str | Path, number: int) -> _Joint:
    if len(joints) >= MAX_JOINTS:
        raise bad_file(path, f"line {number + 1}: more than {MAX_JOINTS} joints")
    if (words[0] == "ROOT") == bool(stack):
        raise bad_file(path, f"line {number + 1}: {words[0]} {'inside' if stack else 'outside'} of a skeleton")
    if words[0] == "ROOT" and joints:
        raise bad_file(path, f"line {number + 1}: a second ROOT; expected one skeleton per file")
    parent = stack[-1] if stack else -1
    if words[0] == "End":
        return _Joint(f"{joints[parent].name}_end", parent, is_end=True)
    name = clean_name(" ".join(words[1:]))
    if not name:
        raise bad_file(path, f"line {number + 1}: a joint without a name")
    return _Joint(name, parent)


def _check_hierarchy(joints: list[_Joint], stack: list[int], path: str | Path) -> None:
    if not joints or stack:
        raise bad_file(path, "its skeleton is cut off before MOTION" if stack else "it has no ROOT before MOTION")
    for joint in joints:
        if np.isnan(joint.offset).any():
            raise bad_file(path, f"joint {joint.name} has no OFFSET")
    names = [joint.name for joint in joints if not joint.is_end]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise bad_file(path, f"joints given twice: {', '.join(twice)}")


def _offset(words: list[str], path: str | Path, number: int) -> np.ndarray:
    if len(words) != 4:
        raise bad_file(path, f"line {number + 1}: OFFSET with {len(words) - 1} numbers, expected 3")
    return parse_floats(words[1:], path, f"line {number + 1}")


def _channels(words: list[str], path: str | Path, number: int) -> list[str]:
    channels = words[2:]
    if len(words) < 2 or words[1] != str(len(channels)):
        count = words[1] if len(words) > 1 else "no number of"
        raise bad_file(path, f"line {number + 1}: CHANNELS says {count} but names {len(channels)}")
    for channel in channels:
        if channel not in _CHANNELS:
            raise bad_file(path, f"line {number + 1}: channel {channel!r}, expected one of {', '.join(_CHANNELS)}")
    if len(set(channels)) < len(channels):
        raise bad_file(path, f"line {number + 1}: a channel is given twice")
    return channels


def _read_motion(lines: list[str], start: int, columns: int, path: str | Path) -> tuple[np.ndarray, float]:
    """Read the frames, (T, columns), and their rate [Hz]."""
    body = [(number, line) for number, line in enumerate(lines[start + 1 :], start + 2) if line.strip()]
    if len(body) < 2:
        raise bad_file(path, "it is cut off after MOTION")
    frames = _after(body[0], "Frames:", path)
    frame_time = _after(body[1], "Frame Time:", path)
    rows = [(number, line.split()) for number, line in body[2:]]
    if frames != len(rows):
        raise bad_file(path, f"'Frames:' says {frames:g}, but there are {len(rows)} lines of numbers")
    if len(rows) < 2:
        raise bad_file(path, f"it has {len(rows)} frames, expected at least 2")
    for number, words in rows:
        if len(words) != columns:
            raise bad_file(path, f"line {number}: {len(words)} numbers, but the channels need {columns}")
    if not frame_time > 0.0:
        raise bad_file(path, f"frame time {frame_time:g} s: expected a number above 0")
    values = parse_floats([word for _, words in rows for word in words], path, "frames")
    data = values.reshape(len(rows), columns)
    check_finite(data, path, "frames")
    return data, check_fps(snap_fps(1.0 / frame_time), path)


def _after(numbered: tuple[int, str], key: str, path: str | Path) -> float:
    number, line = numbered
    text = " ".join(line.split())
    if not text.startswith(key):
        raise bad_file(path, f"line {number}: expected {key!r}, found {text[:40]!r}")
    words = text[len(key) :].split()
    if len(words) != 1:
        raise bad_file(path, f"line {number}: expected one number after {key!r}, found {len(words)}")
    return float(parse_floats(words, path, f"line {number}")[0])


def _local_poses(joints: list[_Joint], data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    frames = len(data)
    quat = np.tile([0.0, 0.0, 0.0, 1.0], (frames, len(joints), 1))
    offsets = np.tile([joint.offset for joint in joints], (frames, 1, 1))
    column = 0
    for index, joint in enumerate(joints):
        own = data[:, column : column + len(joint.channels)]
        column += len(joint.channels)
        order = ""
        for place, channel in enumerate(joint.channels):
            if channel.endswith("position"):
                offsets[:, index, "XYZ".index(channel[0])] = own[:, place]
            else:
                order += channel[0]
        turns = [place for place, channel in enumerate(joint.channels) if channel.endswith("rotation")]
        if order:
            quat[:, index] = Rotation.from_euler(order, own[:, turns].reshape(frames, -1), degrees=True).as_quat()
    return quat, offsets
