"""Acclaim motion capture: a skeleton (ASF) and the angles of its bones over time (AMC).

Bones turn in a frame of their own, given by ``axis``; the file holds no frame rate; lengths are in units of
1 / ``length`` inches, so that metres = value / length * 0.0254.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
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
    continuous,
    parse_floats,
    read_text,
    to_z_up,
)
from sportsuite.motion.importers.families import family_of
from sportsuite.motion.source import SourceMotion

__all__ = ["find_skeleton", "read_amc"]

_INCH = 0.0254
_ROOT_CHANNELS = ("TX", "TY", "TZ", "RX", "RY", "RZ")


@dataclass(frozen=True)
class _Bone:
    name: str
    vector: np.ndarray
    axis: Rotation
    dof: str


@dataclass(frozen=True)
class _Skeleton:
    bones: dict[str, _Bone]
    parents: dict[str, str | None]
    root_order: tuple[str, ...]
    root_axis: Rotation
    unit: float
    degrees: bool


def read_amc(
    path: str | Path, *, fps: float | None, skeleton: str | Path | None = None, name: str | None = None
) -> SourceMotion:
    """Read an AMC file with its ASF skeleton.

    Args:
        path: The AMC file.
        fps: Frames per second [Hz], which the file doesn't say; 120 for most of CMU's library.
        skeleton: The ASF file; by default the one beside the AMC file that :func:`find_skeleton` takes.
        name: Name of the clip; the file's name by default.

    Returns:
        The motion. A joint bears the name of the bone that *ends* there (``lfemur`` is the knee) and the orientation
        of that bone; the root is the start of all.

    Raises:
        BadInputError: If no rate is given, a file is missing or damaged, or they don't belong together.
    """
    path = Path(path)
    if fps is None:
        raise bad_file(path, "AMC files don't hold their frame rate: give it (--fps; CMU's library is at 120)")
    check_fps(fps, path)
    asf_path = find_skeleton(path) if skeleton is None else Path(skeleton)
    asf = _read_asf(asf_path)
    names = tuple(asf.parents)
    try:
        family = family_of(names)
    except BadInputError as error:
        raise bad_file(asf_path, str(error)) from None
    frames = _read_frames(path, asf)
    parents = tuple(-1 if parent is None else names.index(parent) for parent in asf.parents.values())
    position, quat = _poses(asf, names, parents, frames)
    position, quat = to_z_up(position, continuous(quat), Z_UP["y"], _INCH / asf.unit)
    check_finite(position, path, "positions", largest=1e4)
    return SourceMotion(
        name=name or path.stem,
        fps=float(fps),
        skeleton=family,
        joint_names=names,
        parents=parents,
        position=position,
        quat=quat,
        source=f"AMC file {path.name} with {asf_path.name}",
        licence="not stated",
    )


def find_skeleton(path: str | Path) -> Path:
    """Find the ASF file of an AMC file: of the same name, of the name before the underscore, or the only one there.

    Raises:
        BadInputError: If there is none, or several of other names.
    """
    path = Path(path)
    for stem in (path.stem, path.stem.partition("_")[0]):
        for suffix in (".asf", ".ASF"):
            candidate = path.with_name(stem + suffix)
            if candidate.is_file():
                return candidate
    others = sorted(path.parent.glob("*.[aA][sS][fF]"))
    if len(others) == 1:
        return others[0]
    found = f"found {', '.join(other.name for other in others)}" if others else "there is no ASF file beside it"
    raise bad_file(path, f"expected its skeleton in {path.stem}.asf, or give one (--skeleton); {found}")


def _read_asf(path: Path) -> _Skeleton:
    sections = _sections(read_text(path))
    if missing := [key for key in ("units", "root", "bonedata", "hierarchy") if key not in sections]:
        raise bad_file(path, f"expected an ASF skeleton; sections missing: {', '.join(missing)}")
    unit = _field(sections["units"], "length", path, ("1.0",))
    length = float(parse_floats(unit[:1], path, "length")[0])
    if not length > 0.0:
        raise bad_file(path, f"length unit {length:g}: expected a number above 0")
    degrees = not _field(sections["units"], "angle", path, ("deg",))[0].lower().startswith("rad")
    order = tuple(word.upper() for word in _field(sections["root"], "order", path, _ROOT_CHANNELS))
    if sorted(order) != sorted(_ROOT_CHANNELS):
        raise bad_file(path, f"root order {' '.join(order)}: expected {' '.join(_ROOT_CHANNELS)} in any order")
    turn = parse_floats(_field(sections["root"], "orientation", path, ("0", "0", "0"))[:3], path, "root orientation")
    axes = _field(sections["root"], "axis", path, ("XYZ",))[0]
    bones = {bone.name: bone for bone in _bones(sections["bonedata"], degrees, path)}
    return _Skeleton(
        bones=bones,
        parents=_hierarchy(sections["hierarchy"], bones, path),
        root_order=order,
        root_axis=_euler(axes, turn, degrees, path),
        unit=length,
        degrees=degrees,
    )


def _sections(text: str) -> dict[str, list[str]]:
    """Lines of each section, which a line like ``:units`` begins."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0].startswith(":"):
            current = sections.setdefault(words[0][1:].lower(), [])
        elif words:
            current.append(" ".join(words))
    return sections


def _field(lines: list[str], key: str, path: Path, default: tuple[str, ...] | None = None) -> list[str]:
    for line in lines:
        words = line.split()
        if words[0].lower() == key:
            if len(words) < 2:
                raise bad_file(path, f"{key!r} without a value")
            return words[1:]
    if default is None:
        raise bad_file(path, f"{key!r} missing near {lines[0] if lines else 'an empty section'!r}")
    return list(default)


def _bones(lines: list[str], degrees: bool, path: Path) -> Iterator[_Bone]:
    blocks = re.findall(r"(?ms)^begin$(.*?)^end$", "\n".join(lines))
    if not blocks or len(blocks) > MAX_JOINTS:
        raise bad_file(path, f"it has {len(blocks)} bones, expected 1 to {MAX_JOINTS}")
    for block in blocks:
        own = [line for line in block.splitlines() if line]
        name = _field(own, "name", path)[0]
        direction = parse_floats(_field(own, "direction", path)[:3], path, f"direction of {name}")
        length = parse_floats(_field(own, "length", path)[:1], path, f"length of {name}")[0]
        axis = _field(own, "axis", path)
        angles = parse_floats(axis[:3], path, f"axis of {name}")
        if len(direction) != 3 or len(angles) != 3:
            raise bad_file(path, f"bone {name}: expected three numbers for direction and for axis")
        yield _Bone(
            name,
            direction * length,
            _euler(axis[3] if len(axis) > 3 else "XYZ", angles, degrees, path),
            _dof(own, path),
        )


def _dof(lines: list[str], path: Path) -> str:
    words = [word.lower() for word in _field(lines, "dof", path, ("",)) if word]
    for word in words:
        if word not in ("rx", "ry", "rz"):
            raise bad_file(path, f"degree of freedom {word!r}: only rotations rx, ry and rz are supported")
    if len(set(words)) < len(words):
        raise bad_file(path, f"degrees of freedom {' '.join(words)}: one is given twice")
    return "".join(word[1] for word in words)


def _euler(order: str, angles: np.ndarray, degrees: bool, path: Path) -> Rotation:
    if sorted(order.upper()) != ["X", "Y", "Z"] or angles.shape[-1] != 3:
        raise bad_file(path, f"axis order {order!r}: expected the letters X, Y and Z and three numbers")
    # the numbers stand for x, y, z whatever the order in which they act
    columns = ["XYZ".index(letter) for letter in order.upper()]
    return Rotation.from_euler(order.lower(), angles[..., columns], degrees=degrees)


def _hierarchy(lines: list[str], bones: dict[str, _Bone], path: Path) -> dict[str, str | None]:
    """Parent of each joint, in an order in which parents stand before their children."""
    parents: dict[str, str | None] = {"root": None}
    for line in lines:
        parent, *children = line.split()
        if parent in ("begin", "end"):
            continue
        if parent not in parents:
            raise bad_file(path, f"hierarchy: {parent!r} stands before its own parent, or has none")
        for child in children:
            if child not in bones:
                raise bad_file(path, f"hierarchy: bone {child!r} is not among the bone data")
            if child in parents:
                raise bad_file(path, f"hierarchy: bone {child!r} has two parents")
            parents[child] = parent
    if len(parents) == 1:
        raise bad_file(path, "its hierarchy is empty")
    return parents


def _read_frames(path: Path, asf: _Skeleton) -> dict[str, np.ndarray]:
    """Values of the root and of each bone that moves, (T, number of its channels)."""
    wanted = {"root": 6} | {name: len(asf.bones[name].dof) for name in list(asf.parents)[1:] if asf.bones[name].dof}
    rows: dict[str, list[list[str]]] = {name: [] for name in wanted}
    frame = 0
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not words or words[0][0] in "#:":
            if [word.lower() for word in words[:1]] == [":radians"] and asf.degrees:
                raise bad_file(path, "angles in radians, but its skeleton is in degrees")
            continue
        if len(words) == 1 and words[0].isdigit():
            _check_frame(rows, frame, path)
            frame = _next_frame(int(words[0]) if len(words[0]) < 12 else -1, frame, path, number)
            continue
        bone, *values = words
        if frame == 0:
            raise bad_file(path, f"line {number}: expected a frame number, found {line.strip()[:40]!r}")
        if bone not in wanted:
            raise bad_file(path, f"line {number}: bone {bone!r} has no degrees of freedom in the skeleton")
        if len(values) != wanted[bone] or len(rows[bone]) >= frame:
            raise bad_file(
                path, f"line {number}: {bone} with {len(values)} numbers, expected it once with {wanted[bone]}"
            )
        rows[bone].append(values)
    _check_frame(rows, frame, path)
    if frame < 2:
        raise bad_file(path, f"it has {frame} frames, expected at least 2")
    arrays = {}
    for bone, values in rows.items():
        flat = [word for row in values for word in row]
        arrays[bone] = parse_floats(flat, path, bone).reshape(frame, wanted[bone])
        check_finite(arrays[bone], path, bone)
    return arrays


def _next_frame(found: int, before: int, path: Path, number: int) -> int:
    if found != before + 1:
        raise bad_file(path, f"line {number}: frame {found} after frame {before}, expected {before + 1}")
    return found


def _check_frame(rows: dict[str, list[list[str]]], frame: int, path: Path) -> None:
    for bone, values in rows.items():
        if len(values) != frame:
            raise bad_file(path, f"frame {frame}: bone {bone} is missing")


def _poses(
    asf: _Skeleton, names: tuple[str, ...], parents: tuple[int, ...], frames: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    count = len(frames["root"])
    position = np.empty((count, len(names), 3))
    root = frames["root"][:, [asf.root_order.index(channel) for channel in _ROOT_CHANNELS]]
    position[:, 0] = root[:, :3]
    order = "".join(channel[1].lower() for channel in asf.root_order if channel[0] == "R")
    turn = Rotation.from_euler(order, root[:, [3 + "xyz".index(letter) for letter in order]], degrees=asf.degrees)
    turns = [turn * asf.root_axis]
    for joint in range(1, len(names)):
        bone, parent = asf.bones[names[joint]], parents[joint]
        own = turns[parent]
        if bone.dof:
            angle = Rotation.from_euler(bone.dof, frames[bone.name], degrees=asf.degrees)
            own = own * bone.axis * angle * bone.axis.inv()
        turns.append(own)
        position[:, joint] = position[:, parent] + own.apply(bone.vector)
    quats = [np.broadcast_to(turn.as_quat(), (count, 4)) for turn in turns]
    return position, np.stack(quats, axis=1)
