"""Import, inspect, change and make motion clips.

  sportsuite motion import 10_01.bvh --output kick.npz --labels kick,right --licence MIT
  sportsuite motion import 02_01.amc --fps 120 --output walk.npz
  sportsuite motion check kick.npz isaaclab:walk
  sportsuite motion mirror kick.npz --output kick_left.npz
  sportsuite motion synth walk --speed 1.2 --heading 90 --output sidestep.npz

A CLIP is the path of a native clip, isaaclab:walk, isaaclab:run or isaaclab:dance (of the installed isaaclab), or
suite:NAME (one that sportsuite ships). A FILE is a recording of any known format; 'sportsuite motion info FILE' says
what it holds. Nothing is written over without --force.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sportsuite.cli import _output
from sportsuite.cli._playing import results_only
from sportsuite.cli._run_options import positive, prepare_process
from sportsuite.errors import BadInputError, unknown_name

if TYPE_CHECKING:
    from sportsuite.motion.clip import Clip
    from sportsuite.motion.report import ClipReport
    from sportsuite.motion.source import SourceMotion

_FLOORS = ("drift", "flat", "keep", "none")
_SYNTH = ("walk", "reach", "hang")

_MOST_FPS = 60.0
"""Rate to which faster recordings are brought [Hz]: at 120 Hz trembling hides when feet stand still. After locking,
20 of CMU's BVH clips slide at 0.1 to 0.4 m/s at 120 Hz; at 60 Hz, 17 of them stay below 0.05 m/s."""

_MOST_SLIDE = 0.05
"""Mean slide of feet in contact above which a clip is reported as faulty [m/s]; what foot locking reaches."""

_MOST_SUNK = 0.02
"""Depth of soles below the ground above which a clip is reported as faulty [m] (ours: what a shoe gives way)."""

_MOST_BEYOND = 0.02
"""Angle beyond a joint limit above which a clip is reported as faulty [rad] (ours: rounding and resampling)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs and their arguments."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_import(verbs)
    info = _verb(verbs, "info", "say what a motion file or clip holds")
    info.add_argument("file", metavar="FILE|CLIP", help="motion file of any known format, or a clip")
    _add_reading(info)
    _output.add_json_option(info)
    retarget = _verb(verbs, "retarget", "fit a clip to another size of the character")
    retarget.add_argument("clip", metavar="CLIP")
    retarget.add_argument("--character", metavar="NAME", required=True, help="football or climbing")
    _add_result(retarget)
    mirror = _verb(verbs, "mirror", "swap left and right")
    mirror.add_argument("clip", metavar="CLIP")
    _add_result(mirror)
    check = _verb(verbs, "check", "measure sliding and sinking feet, joint spikes and limits; exit code 1 for faults")
    check.add_argument("clips", metavar="CLIP", nargs="+")
    _output.add_json_option(check)
    render = _verb(verbs, "render", "draw a clip as a video, or as a sheet of frames")
    render.add_argument("clip", metavar="CLIP")
    _add_result(render, "OUT.mp4|OUT.png")
    _add_synth(verbs)


def run(args: argparse.Namespace) -> int:
    """Do what the verb says."""
    prepare_process()
    return _VERBS[args.verb](args)


def _add_import(verbs: Any) -> None:
    parser = _verb(verbs, "import", "read a recording, retarget it to our character and write a clip")
    parser.add_argument("file", metavar="FILE", help="motion file of any known format")
    _add_reading(parser)
    parser.add_argument("--character", metavar="NAME", default="football", help="football (default) or climbing")
    parser.add_argument("--name", help="name of the clip; the file's name by default")
    parser.add_argument("--labels", metavar="A,B", default="", help="what it shows, such as kick,right")
    parser.add_argument("--source", metavar="TEXT", help="where it comes from: data set, subject, trial")
    parser.add_argument("--licence", metavar="TEXT", help="licence of the data")
    parser.add_argument("--first-frame", type=int, metavar="N", help="leave out frames before N; by default a T-pose")
    parser.add_argument("--start", type=float, metavar="S", default=0.0, help="leave out what is before S seconds")
    parser.add_argument("--end", type=float, metavar="S", help="leave out what is after S seconds")
    parser.add_argument("--rate", type=float, metavar="N", help="frames per second; by default the file's, up to 60")
    parser.add_argument(
        "--floor",
        choices=_FLOORS,
        default="drift",
        help="how feet are put down; keep or none for climbing",
    )
    _add_result(parser)


def _add_synth(verbs: Any) -> None:
    parser = _verb(verbs, "synth", "make a clip without a recording: a walk, a reach or a hang on a wall")
    parser.add_argument("kind", metavar="KIND", help="walk, reach or hang")
    parser.add_argument("--speed", type=float, metavar="V", default=1.2, help="speed of a walk [m/s]")
    parser.add_argument(
        "--heading",
        type=float,
        metavar="DEG",
        default=0.0,
        help="direction of a walk: 0 forward, 90 left, 180 back",
    )
    parser.add_argument("--turn", type=float, metavar="DEG", default=0.0, help="how fast a walk turns left [deg/s]")
    parser.add_argument("--hand", metavar="SIDE", default="right", help="hand that reaches: left or right")
    parser.add_argument("--seconds", type=float, metavar="S", help="length; of a walk, the whole strides that fill it")
    parser.add_argument("--rate", type=float, metavar="N", default=60.0, help="frames per second")
    parser.add_argument("--character", metavar="NAME", help="football or climbing; what suits the kind by default")
    _add_result(parser)


def _verb(verbs: Any, name: str, text: str) -> argparse.ArgumentParser:
    return verbs.add_parser(name, help=text, description=text, allow_abbrev=False)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", metavar="NAME", help="format of the file; found out by default")
    parser.add_argument("--fps", type=float, metavar="N", help="rate of a file that doesn't say it (AMC: mostly 120)")
    parser.add_argument("--skeleton", metavar="PATH", help="skeleton of the file: ASF for AMC, npz for SMPL")


def _add_result(parser: argparse.ArgumentParser, metavar: str = "OUT.npz") -> None:
    parser.add_argument("--output", type=Path, metavar=metavar, required=True, help="file to write")
    parser.add_argument("--force", action="store_true", help="write over an existing file")


def _import(args: argparse.Namespace) -> int:
    from sportsuite.motion.clip import Clip
    from sportsuite.motion.importers import import_motion
    from sportsuite.motion.resample import resample_clip, resample_motion, set_character, trim

    target = _target(args, ".npz")
    _check_character(args.character)
    positive("--rate", args.rate)
    motion = import_motion(
        args.file,
        name=args.name,
        format=args.format,
        fps=args.fps,
        first_frame=args.first_frame,
        labels=[label.strip() for label in args.labels.split(",") if label.strip()],
        source=args.source,
        licence=args.licence,
        skeleton=args.skeleton,
        character=args.character,
    )
    motion = trim(motion, args.start, args.end)
    if isinstance(motion, Clip):
        clip = set_character(motion, args.character)
        clip = clip if args.rate is None else resample_clip(clip, args.rate)
        return _write(_on_floor(clip, args.floor), target, args)
    _say(motion.notes)
    rate = min(motion.fps, _MOST_FPS) if args.rate is None else args.rate
    motion = motion if rate == motion.fps else resample_motion(motion, rate)
    return _write(_retarget(motion, args.character, args.floor), target, args)


def _retarget(motion: SourceMotion, character: str, floor: str) -> Clip:
    from sportsuite.motion.foot_lock import FootLockCfg
    from sportsuite.motion.retarget import RetargetCfg, retarget

    lock = FootLockCfg(floor="keep" if floor == "none" else floor)
    result = retarget(motion, character, lock=floor != "none", cfg=RetargetCfg(lock=lock))
    report = result.report
    fit = f"points are {100.0 * report.error_mean:.2f} cm off in the mean and {100.0 * report.error_max:.1f} cm at most"
    slide = f"feet slide at {report.after.slide_mean:.3f} m/s in contact"
    _say((f"{report.frames_per_second:.0f} frames/s; {fit}; {slide}.",))
    return result.clip


def _on_floor(clip: Clip, floor: str) -> Clip:
    if floor == "none":
        return clip
    from sportsuite.motion.foot_lock import FootLockCfg, lock_feet

    return lock_feet(clip, FootLockCfg(floor=floor))


def _info(args: argparse.Namespace) -> int:
    with results_only():
        document = describe(args.file, format=args.format, fps=args.fps, skeleton=args.skeleton)
    if args.json:
        _output.print_json(document)
        return 0
    for key, value in document.items():
        _output.write_line(f"{key}: {_text(value)}")
    return 0


def describe(text: str, **reading: Any) -> dict[str, Any]:
    """Collect what is known of a motion file or clip.

    Args:
        text: A file of any known format, or a clip's name.
        reading: Options of :func:`sportsuite.motion.importers.import_motion`.

    Returns:
        A JSON-like document: name, format, rate [Hz], frames, duration [s], size, path length [m] and what the file
        says about itself.

    Raises:
        BadInputError: If it can't be read.
    """
    from sportsuite.motion.clip import Clip
    from sportsuite.motion.importers import detect_format, import_motion
    from sportsuite.motion.importers.families import leg_length

    if _is_name(text):
        motion, kind = _clip(text), "native"
    else:
        kind = reading.get("format") or detect_format(text)
        motion = import_motion(text, **reading)
    root = motion.root_pos if isinstance(motion, Clip) else motion.position[:, 0]
    steps = ((root[1:, :2] - root[:-1, :2]) ** 2).sum(axis=1) ** 0.5
    document = {
        "name": motion.name,
        "format": kind,
        "fps": round(motion.fps, 4),
        "frames": len(root),
        "duration_s": round((len(root) - 1) / motion.fps, 4),
        "path_m": round(float(steps.sum()), 3),
    }
    if isinstance(motion, Clip):
        document["character"] = motion.character
    else:
        document |= {"skeleton": motion.skeleton, "leg_length_m": round(leg_length(motion), 4)}
    document |= {key: getattr(motion, key) for key in ("labels", "loop", "source", "licence")}
    document["ball"] = motion.ball is not None
    document["notes"] = list(getattr(motion, "notes", ()))
    return document


def _retarget_clip(args: argparse.Namespace) -> int:
    from sportsuite.motion.resample import set_character

    target = _target(args, ".npz")
    _check_character(args.character)
    return _write(set_character(_clip(args.clip), args.character), target, args)


def _mirror(args: argparse.Namespace) -> int:
    from sportsuite.motion.mirror import mirror_clip

    target = _target(args, ".npz")
    return _write(mirror_clip(_clip(args.clip)), target, args)


def _check(args: argparse.Namespace) -> int:
    from sportsuite.motion.report import clip_report

    with results_only():
        reports = [clip_report(_clip(text)) for text in args.clips]
    faults = [_faults(report) for report in reports]
    if args.json:
        _output.print_json([asdict(report) | {"faults": found} for report, found in zip(reports, faults, strict=True)])
    else:
        columns = ("clip", "s", "slide m/s", "in contact", "sunk cm", "max rad/s", "at limit", "faults")
        rows = [_row(report, found) for report, found in zip(reports, faults, strict=True)]
        _output.print_rows(columns, rows)
    return 1 if any(faults) else 0


def _row(report: ClipReport, faults: list[str]) -> tuple[object, ...]:
    return (
        report.name,
        f"{report.duration:.2f}",
        f"{report.slide_mean:.3f}",
        f"{report.contact:.0%}",
        f"{100.0 * report.penetration:.1f}",
        f"{report.joint_speed_max:.1f}",
        f"{report.at_limit:.1%}",
        "; ".join(faults) or "none",
    )


def _faults(report: ClipReport) -> list[str]:
    faults = []
    if report.slide_mean > _MOST_SLIDE:
        faults.append(f"feet slide at {report.slide_mean:.2f} m/s")
    if report.penetration > _MOST_SUNK:
        faults.append(f"soles sink {100.0 * report.penetration:.1f} cm into the ground")
    if report.spikes:
        joint, time = report.spikes[0]
        faults.append(f"{len(report.spikes)} joint spikes, the first of {joint} at {time:.2f} s")
    if report.beyond_limit > _MOST_BEYOND:
        faults.append(f"a joint is {math.degrees(report.beyond_limit):.1f} deg beyond its limit")
    return faults


def _render(args: argparse.Namespace) -> int:
    target = _target(args, ".mp4", ".png")
    from sportsuite.motion.render import render_clip

    with results_only():
        render_clip(_clip(args.clip), target)
    _output.write_line(str(target))
    return 0


def _synth(args: argparse.Namespace) -> int:
    target = _target(args, ".npz")
    if args.kind not in _SYNTH:
        raise unknown_name("kind of clip", args.kind, _SYNTH)
    for option in ("seconds", "rate"):
        positive(f"--{option}", getattr(args, option))
    return _write(_make(args), target, args)


def _make(args: argparse.Namespace) -> Clip:
    from sportsuite.motion import synth

    if args.character is not None:
        _check_character(args.character)
    options: dict[str, Any] = {"fps": args.rate, "character": args.character, "seconds": args.seconds}
    # what isn't given is left to the kind
    options = {name: value for name, value in options.items() if value is not None}
    if args.kind == "walk":
        turn_rate = math.radians(args.turn)
        return synth.walk_cycle(args.speed, math.radians(args.heading), turn_rate=turn_rate, **options)
    if args.kind == "reach":
        return synth.reach_pose(hand=args.hand, **options)
    return synth.hang_pose(**options)


def _clip(text: str) -> Clip:
    from sportsuite.motion.library import resolve_clip

    return resolve_clip(text)


def _is_name(text: str) -> bool:
    return text.partition(":")[0] in ("isaaclab", "suite") and not Path(text).exists()


def _check_character(name: str) -> None:
    from sportsuite.characters.spec import VARIANTS

    if name not in VARIANTS:
        raise unknown_name("character", name, VARIANTS)


def _target(args: argparse.Namespace, *suffixes: str) -> Path:
    """Make sure before the work that its result may be written."""
    path: Path = args.output
    if path.suffix.lower() not in suffixes:
        known, near = " or ".join(suffixes), path.with_suffix(suffixes[0])
        raise BadInputError(f"--output {path}: expected a name that ends in {known}; nearest: {near}")
    if path.is_dir() or (path.exists() and not args.force):
        raise BadInputError(f"--output {path}: there is one already; --force writes over it")
    return path


def _write(clip: Clip, target: Path, args: argparse.Namespace) -> int:
    from sportsuite.motion.clip_io import save_clip

    save_clip(clip, target)
    _output.write_line(
        f"{target}: {clip.name}, {clip.num_frames} frames at {clip.fps:g} Hz, {clip.duration:.2f} s, {clip.character}"
    )
    return 0


def _say(notes: tuple[str, ...]) -> None:
    for note in notes:
        sys.stderr.write(f"note: {note}\n")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return "; ".join(map(str, value)) or "-"
    return str(value)


_VERBS = {
    "import": _import,
    "info": _info,
    "retarget": _retarget_clip,
    "mirror": _mirror,
    "check": _check,
    "render": _render,
    "synth": _synth,
}
