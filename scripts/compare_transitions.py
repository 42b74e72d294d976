"""Compare Dribble -> Kick with and without state buffers (STI): one table, and a JSON file if asked for.

  python scripts/compare_transitions.py --with-sti kick.pt --without-sti kick_plain.pt --dribble dribble.pt
  python scripts/compare_transitions.py --with-sti a.pt --without-sti b.pt --buffer dribble.npz --out sti.json

Every kick starts in a state of the Dribble policy at play, as it does when the state machine switches. With --dribble
those states are recorded anew, so that no policy has seen them in training.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from sportsuite.assets import write_text_atomic
from sportsuite.cli import _output
from sportsuite.cli._playing import make_policy, open_env, results_only
from sportsuite.cli._run_options import prepare_process, split_overrides
from sportsuite.cli.evaluate import evaluate
from sportsuite.errors import SportSuiteError
from sportsuite.plugins.manager import find_task

KICKS = 300
"""Switches per policy and seed."""

RECORDING_SEED = 20_000
"""Seed of the recorded play (ours): one that no training is likely to have had."""


def main() -> int:
    """Record, evaluate twice, print."""
    args = _parser().parse_args()
    prepare_process()
    try:
        document = compare_policies(args)
    except SportSuiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    from sportsuite_tasks.football.evaluation.comparison import COLUMNS, comparison_rows

    if args.out is not None:
        write_text_atomic(args.out, json.dumps(document, indent=2, default=str) + "\n")
    _output.print_rows(COLUMNS, comparison_rows(document["comparison"]), f"Dribble -> Kick, {args.kicks} switches each")
    return 0


def compare_policies(args: argparse.Namespace) -> dict[str, Any]:
    """Evaluate both policies from the same states.

    Returns:
        ``comparison`` and the documents ``with`` and ``without``.
    """
    from sportsuite_tasks.football.evaluation.comparison import compare

    (overrides,) = split_overrides(args.overrides, ("env",))
    seeds = [int(part) for part in args.seeds.split(",")]
    with results_only(), tempfile.TemporaryDirectory() as folder:
        buffer = args.buffer or _recorded(args, Path(folder) / "dribble.npz")
        starts = f"events.buffer.params.buffers={{{json.dumps(str(buffer))}: 1.0}}"
        documents = [
            evaluate(_options(args, path), find_task("SportSuite-Kick-v0"), seeds, (*overrides, starts))
            for path in (args.with_sti, args.without_sti)
        ]
    return {"comparison": compare(*documents), "with": documents[0], "without": documents[1]}


def _recorded(args: argparse.Namespace, path: Path) -> Path:
    from sportsuite.composition.recorder import record_states
    from sportsuite.composition.state_buffer import write_buffer

    task = find_task("SportSuite-Dribble-v0")
    options = _options(args, args.dribble)
    with open_env(options, task, args.dribble, args.num_envs, ()) as env:
        policy = make_policy(args.dribble, env, task, RECORDING_SEED)
        write_buffer(path, record_states(env, policy, args.states, RECORDING_SEED, centre=True))
    return path


def _options(args: argparse.Namespace, checkpoint: Path) -> argparse.Namespace:
    return argparse.Namespace(
        checkpoint=str(checkpoint),
        pretrained=False,
        untrained=False,
        device=args.device,
        physics=None,
        seed=RECORDING_SEED,
        num_envs=args.num_envs,
        episodes=args.kicks,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with-sti", type=Path, required=True, metavar="KICK.pt", help="kick trained with buffers")
    parser.add_argument("--without-sti", type=Path, required=True, metavar="KICK.pt", help="kick trained without")
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--dribble", type=Path, metavar="DRIBBLE.pt", help="policy whose states are recorded")
    start.add_argument("--buffer", type=Path, metavar="FILE.npz", help="recorded states of Dribble")
    parser.add_argument("--states", type=int, default=5000, metavar="N", help="states to record (default 5000)")
    parser.add_argument("--kicks", type=int, default=KICKS, metavar="N", help=f"kicks per seed (default {KICKS})")
    parser.add_argument("--seeds", default="0", metavar="A,B,C", help="seeds of the kicks")
    parser.add_argument("--num-envs", type=int, default=64, metavar="N", help="number of worlds")
    parser.add_argument("--device", help="cpu, cuda:0, ...")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where the whole result goes")
    parser.add_argument("overrides", nargs="*", metavar="env.X=Y", help="changes to the kick's env cfg")
    return parser


if __name__ == "__main__":
    sys.exit(main())
