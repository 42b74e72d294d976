"""Readers of motion files; each returns a :class:`~sportsuite.motion.source.SourceMotion` or a native clip.

:func:`import_motion` tells the formats apart and does what all of them need: repeated frames, jumps at the start,
joints that flip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sportsuite.errors import BadInputError, unknown_name

if TYPE_CHECKING:
    from sportsuite.motion.clip import Clip
    from sportsuite.motion.source import SourceMotion

__all__ = ["FORMATS", "detect_format", "import_motion"]

FORMATS: dict[str, str] = {
    "native": "a clip of sportsuite (*.npz)",
    "isaaclab": "Isaac Lab's humanoid clips (*.npz)",
    "table": "root pose and joint columns (*.csv, *.npz)",
    "bvh": "BVH (*.bvh)",
    "amc": "Acclaim motion with its *.asf (*.amc)",
    "deepmimic": "DeepMimic json (*.txt, *.json)",
    "poselib": "poselib SkeletonMotion (*.npy)",
    "ballplay": "BallPlay tensor with a ball (*.pt)",
    "smpl": "SMPL parameters as in AMASS (*.npz)",
}
"""Formats that can be read, with what they are."""

_SUFFIXES = {
    ".bvh": "bvh",
    ".amc": "amc",
    ".json": "deepmimic",
    ".txt": "deepmimic",
    ".npy": "poselib",
    ".pt": "ballplay",
    ".pth": "ballplay",
    ".csv": "table",
    ".tsv": "table",
}

_REFUSED = {
    ".fbx": "FBX is not read here, since no maintained library that reads it can be installed with this Python; "
    "convert the file to BVH, e.g. in Blender with File > Import > FBX and File > Export > BVH",
    ".c3d": "C3D holds marker positions, not a skeleton; solve it to one in your capture software and export BVH",
    ".asf": "it is a skeleton without motion; give the *.amc file beside it",
    ".pkl": "pickle files can run code when they are read; export the arrays to npz",
    ".lab": "it holds event labels, no motion",
}
"""Suffixes that people try, and what to do instead."""


def import_motion(
    path: str | Path,
    *,
    name: str | None = None,
    format: str | None = None,
    fps: float | None = None,
    first_frame: int | None = None,
    labels: Sequence[str] = (),
    source: str | None = None,
    licence: str | None = None,
    skeleton: str | Path | None = None,
    character: str = "football",
) -> SourceMotion | Clip:
    """Read a motion file of any known format.

    Frames that are there several times are dropped together with the rate they pretend to have. Where a recording
    begins with a T-pose or a jump, it starts after it. Both are noted, as are joints that flip.

    Args:
        path: The file.
        name: Name of the clip; the file's name by default.
        format: A key of :data:`FORMATS`; found out by suffix and content if None.
        fps: Frames per second [Hz]; needed for AMC, otherwise only where the file doesn't say.
        first_frame: Index of the first frame that is kept; None leaves out a jump at the start.
        labels: What it shows.
        source: Where it comes from: data set, subject and trial; the file's name by default.
        licence: Licence of the data; ``"not stated"`` by default.
        skeleton: File with the skeleton: ASF for AMC, an npz with ``joints`` for SMPL.
        character: Size of the character, for formats that hold poses of our own humanoid.

    Returns:
        A clip where the file holds poses of our own humanoid, otherwise a source motion to be retargeted.

    Raises:
        BadInputError: If the file can't be read as what it is taken for; the message says why.
    """
    path = Path(path)
    kind = detect_format(path) if format is None else format
    if kind not in FORMATS:
        raise unknown_name("motion format", kind, FORMATS)
    _check_options(kind, path, fps=fps, skeleton=skeleton)
    options = {"name": name, "fps": fps, "skeleton": skeleton, "character": character}
    reader, wanted = _reader(kind)
    motion = reader(path, **{key: options[key] for key in wanted})
    return _finish(motion, path, first_frame, labels, source, licence, name)


def detect_format(path: str | Path) -> str:
    """Find out a motion file's format by its suffix and, for npz, its content.

    Returns:
        A key of :data:`FORMATS`.

    Raises:
        BadInputError: If the file is missing or of no known format; for formats that people try, what to do instead.
    """
    path = Path(path)
    if not path.is_file():
        reason = "expected a file, not a folder" if path.is_dir() else "there is none"
        raise BadInputError(f"motion file {path}: {reason}")
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _detect_npz(path)
    if suffix in _REFUSED:
        raise BadInputError(f"motion file {path}: {_REFUSED[suffix]}")
    if suffix not in _SUFFIXES:
        known = ", ".join(sorted([*_SUFFIXES, ".npz"]))
        raise BadInputError(f"motion file {path}: unknown suffix {suffix!r}, expected one of {known}, or give --format")
    return _SUFFIXES[suffix]


def _detect_npz(path: Path) -> str:
    from sportsuite.motion.importers.smpl import is_smpl
    from sportsuite.motion.importers.table import is_table
    from sportsuite.motion.npz import read_npz

    arrays = read_npz(path, "motion file")
    if "format" in arrays:
        return "native"
    if "dof_positions" in arrays or "dof_names" in arrays:
        return "isaaclab"
    if is_smpl(arrays):
        return "smpl"
    if is_table(arrays):
        return "table"
    raise BadInputError(
        f"motion file {path}: an npz file with {', '.join(sorted(arrays)[:8]) or 'nothing'}; expected a native clip, "
        "an Isaac Lab clip (dof_positions), SMPL parameters (poses, trans) or a table (joint_pos)"
    )


def _check_options(kind: str, path: Path, **given: object) -> None:
    """Refuse an option that would silently do nothing."""
    takes = _reader(kind)[1]
    for option, value in given.items():
        if value is not None and option not in takes:
            raise BadInputError(f"motion file {path}: --{option} means nothing for the format {kind}; leave it out")


def _reader(kind: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The reader of a format and the options it takes; imported only when needed."""
    if kind == "native":
        from sportsuite.motion.clip_io import load_clip

        return load_clip, ()
    if kind == "isaaclab":
        from sportsuite.motion.importers.isaaclab_npz import read_isaaclab_npz

        return read_isaaclab_npz, ("name", "character")
    if kind == "table":
        from sportsuite.motion.importers.table import read_table

        return read_table, ("name", "fps", "character")
    if kind == "bvh":
        from sportsuite.motion.importers.bvh import read_bvh

        return read_bvh, ("name",)
    if kind == "amc":
        from sportsuite.motion.importers.amc import read_amc

        return read_amc, ("name", "fps", "skeleton")
    if kind == "deepmimic":
        from sportsuite.motion.importers.deepmimic import read_deepmimic

        return read_deepmimic, ("name",)
    if kind == "poselib":
        from sportsuite.motion.importers.poselib import read_poselib

        return read_poselib, ("name",)
    if kind == "ballplay":
        from sportsuite.motion.importers.ballplay import read_ballplay

        return read_ballplay, ("name", "fps")
    from sportsuite.motion.importers.smpl import read_smpl

    return read_smpl, ("name", "fps", "skeleton")


def _finish(
    motion: SourceMotion | Clip,
    path: Path,
    first_frame: int | None,
    labels: Sequence[str],
    source: str | None,
    licence: str | None,
    name: str | None,
) -> SourceMotion | Clip:
    from sportsuite.motion.importers.cleaning import clean
    from sportsuite.motion.resample import drop_repeated_frames
    from sportsuite.motion.source import SourceMotion

    said = {"labels": tuple(labels), "source": source, "licence": licence, "name": name}
    motion = replace(motion, **{key: value for key, value in said.items() if value})
    motion = drop_repeated_frames(motion)
    if isinstance(motion, SourceMotion):
        return clean(motion, path, first_frame)
    if first_frame:
        raise BadInputError(f"motion file {path}: a first frame can't be given for a clip; use --start")
    return motion
