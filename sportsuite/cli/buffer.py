"""Record states of a policy at play, for other skills to start from, and say what such a file holds.

  sportsuite buffer record SportSuite-Trap-v0 --pretrained --when touch --out trap.npz
  sportsuite buffer record SportSuite-Dribble-v0 --checkpoint latest --states 50000 --centre --out dribble.npz
  sportsuite buffer info trap.npz --json

--when says at which moments: 'step' (every step), 'touch' (the ball touches the character), or a function of the
environment as module:function. A task starts from buffers with the event term ResetToBuffer:
'sportsuite train SportSuite-Kick-v0 "env.events.buffer.params.buffers={dribble.npz: 0.7}"'.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from sportsuite.cli import _output
from sportsuite.cli._playing import add_policy_options, find_checkpoint, make_policy, open_env, results_only
from sportsuite.cli._run_options import add_run_options, check_run_options, positive, prepare_process, split_overrides
from sportsuite.errors import BadInputError
from sportsuite.plugins.manager import find_task

_STATES = 50_000
"""PhysicsFC's size of a buffer."""

_NUM_ENVS = 64
"""Worlds where none are asked for (ours)."""

_NOTE_INTERVAL_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs and their arguments."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    record = verbs.add_parser("record", help="play a policy and take down states", allow_abbrev=False)
    add_run_options(record)
    add_policy_options(record)
    record.add_argument("--out", type=Path, required=True, metavar="FILE.npz", help="where the buffer goes")
    record.add_argument("--states", type=int, default=_STATES, metavar="N", help=f"how many; by default {_STATES}")
    record.add_argument("--when", default="step", metavar="MOMENT", help="step, touch or module:function")
    record.add_argument("--centre", action="store_true", help="move each state to the origin of its world")
    record.add_argument("--force", action="store_true", help="replace an existing file")
    record.add_argument("overrides", nargs="*", metavar="env.X=Y", help="changes to the env cfg")
    info = verbs.add_parser("info", help="say what a buffer holds", allow_abbrev=False)
    info.add_argument("file", type=Path, metavar="FILE.npz")
    for verb in (record, info):
        _output.add_json_option(verb)


def run(args: argparse.Namespace) -> int:
    """Record, or describe a file."""
    prepare_process()
    if args.verb == "record":
        _record(args)
        document = describe(args.out)
    else:
        document = describe(args.file)
    if args.json:
        _output.print_json(document)
    else:
        _output.print_rows(("what", "value"), [(name, _text(value)) for name, value in document.items()])
    return 0


def describe(path: Path) -> dict[str, Any]:
    """Say what a buffer holds.

    Args:
        path: The file.

    Returns:
        ``file``, ``states``, ``ball``, ``extras`` and the provenance.

    Raises:
        BadInputError: If it can't be read.
    """
    from sportsuite.composition.state_buffer import read_buffer

    buffer = read_buffer(path)
    content = {"file": str(path), "states": len(buffer), "ball": buffer.ball_pose is not None}
    return content | {"extras": list(buffer.extras)} | dict(buffer.about)


def _record(args: argparse.Namespace) -> None:
    task = find_task(args.id)
    positive("--states", args.states)
    check_run_options(args)
    if args.out.suffix != ".npz":
        raise BadInputError(f"--out {args.out}: expected a name that ends in .npz")
    if args.out.exists() and not args.force:
        raise BadInputError(f"--out {args.out}: exists already; --force replaces it")
    (overrides,) = split_overrides(args.overrides, ("env",))
    with results_only():
        checkpoint = find_checkpoint(args, task)
        from sportsuite.composition.recorder import moment_of, record_states
        from sportsuite.composition.state_buffer import write_buffer

        moment_of(args.when)
        seed = args.seed or 0
        with open_env(args, task, checkpoint, args.num_envs or _NUM_ENVS, overrides) as env:
            policy = make_policy(checkpoint, env, task, seed)
            states = record_states(env, policy, args.states, seed, args.when, args.centre, progress=_Note())
            write_buffer(args.out, states)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class _Note:
    """Says on stderr now and then how far a recording is."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, done: int, wanted: int) -> None:
        if time.monotonic() - self._last >= _NOTE_INTERVAL_S:
            self._last = time.monotonic()
            sys.stderr.write(f"{done:,} of {wanted:,} states\n")
