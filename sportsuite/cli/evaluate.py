"""Measure a policy by its task's protocol and print the figures beside the text's.

  sportsuite evaluate SportSuite-Trap-v0 --pretrained --episodes 200 --seed 0
  sportsuite evaluate SportSuite-Trap-v0 --checkpoint latest --seeds 0,1,2 --json

  sportsuite evaluate SportSuite-Dribble-v0 --checkpoint latest protocol.match.relative=0.3

Without --pretrained, --checkpoint or --untrained, the shipped policy is measured. Every world contributes a number of
episodes that is fixed beforehand, so that short episodes don't count more often than long ones.
"""

from __future__ import annotations

import argparse
import dataclasses
import platform
import sys
import time
from pathlib import Path
from typing import Any

from sportsuite.cli import _output
from sportsuite.cli._ablations import add_ablation_option, with_ablations
from sportsuite.cli._playing import (
    add_policy_options,
    find_checkpoint,
    make_policy,
    open_env,
    results_only,
)
from sportsuite.cli._run_options import add_run_options, check_run_options, positive, prepare_process, split_overrides
from sportsuite.envs.make_env import usable_device
from sportsuite.errors import BadInputError
from sportsuite.plugins.manager import Task, find_task

_MOST_ENVS = {"cpu": 64, "cuda": 1024}
"""Worlds at most, by device, where none are asked for (ours: about where more stop being faster)."""

_NOTE_INTERVAL_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_run_options(parser)
    add_policy_options(parser)
    add_ablation_option(parser)
    parser.add_argument(
        "--episodes", type=int, metavar="N", help="episodes per seed; by default what the protocol says"
    )
    parser.add_argument("--seeds", metavar="A,B,C", help="several seeds instead of --seed; figures are averaged")
    parser.add_argument("overrides", nargs="*", metavar="env.X=Y", help="changes to the env cfg, or protocol.X=Y")
    _output.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate and print."""
    prepare_process()
    task = find_task(args.id)
    positive("--episodes", args.episodes)
    check_run_options(args)
    seeds = _seeds(args)
    overrides, settings = split_overrides(args.overrides, ("env", "protocol"))
    overrides = with_ablations(args, task, overrides)
    with results_only():
        document = evaluate(args, task, seeds, overrides, settings)
    if args.json:
        _output.print_json(document)
    else:
        _print(document)
    return 0


def evaluate(
    args: argparse.Namespace,
    task: Task,
    seeds: list[int],
    overrides: tuple[str, ...] = (),
    settings: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Run a task's protocol once per seed.

    Args:
        args: The command's arguments.
        task: The task.
        seeds: Seeds of the episodes.
        overrides: Changes to the env cfg.
        settings: Changes to the protocol.

    Returns:
        The document that ``--json`` prints.
    """
    checkpoint = find_checkpoint(args, task)
    from sportsuite.envs.overrides import apply_overrides
    from sportsuite.evaluation.protocol import protocol_of
    from sportsuite.evaluation.report import evaluation_document, over_seeds

    protocol = protocol_of(task)
    apply_overrides(protocol, settings)
    episodes = args.episodes or protocol.default_episodes
    args.seed = seeds[0]
    num_envs = args.num_envs or _num_envs(episodes, args.device)
    start = time.monotonic()
    with open_env(args, task, checkpoint, num_envs, overrides, protocol.configure) as env:
        policy = make_policy(checkpoint, env, task, seeds[0])
        results = [protocol.run(env, policy, episodes, seed, _Note(seed)) for seed in seeds]
        return evaluation_document(
            task.spec.id,
            episodes,
            over_seeds(results),
            dict(policy.about) | ({"kind": "pretrained"} if _is_shipped(args, checkpoint) else {}),
            protocol=protocol.name,
            settings=dataclasses.asdict(protocol) if dataclasses.is_dataclass(protocol) else {},
            seeds=seeds,
            num_envs=num_envs,
            physics=_physics_name(env.cfg.sim.physics),
            device=str(env.device),
            machine=platform.machine(),
            nonfinite_worlds=getattr(env, "nonfinite_count", 0),
            seconds=round(time.monotonic() - start, 1),
        )


def _physics_name(physics: Any) -> str:
    """Name the backend that is in use, also where it was chosen by default."""
    names = {"MuJoCoCpuSolverCfg": "mujoco_cpu", "MJWarpSolverCfg": "newton_mjwarp"}
    kind = type(getattr(physics, "solver_cfg", physics)).__name__
    return names.get(kind, kind.removesuffix("Cfg").lower())


def _is_shipped(args: argparse.Namespace, checkpoint: Path | None) -> bool:
    return checkpoint is not None and args.checkpoint is None


def _seeds(args: argparse.Namespace) -> list[int]:
    if args.seeds is None:
        return [0 if args.seed is None else args.seed]
    if args.seed is not None:
        raise BadInputError("--seed and --seeds: expected one of them")
    try:
        seeds = [int(part) for part in args.seeds.split(",")]
    except ValueError:
        raise BadInputError(
            f"--seeds {args.seeds}: expected whole numbers separated by commas, such as 0,1,2"
        ) from None
    if len(set(seeds)) < len(seeds):
        raise BadInputError(f"--seeds {args.seeds}: expected different ones")
    return seeds


def _num_envs(episodes: int, device: str | None) -> int:
    return min(episodes, _MOST_ENVS[usable_device(device).partition(":")[0]])


def _print(document: dict[str, Any]) -> None:
    from sportsuite.evaluation.report import COLUMNS, table_rows

    seeds = ", ".join(map(str, document["seeds"]))
    policy = document["policy"]
    title = f"{document['task']}, {document['episodes']} episodes, seed {seeds}, {_name(policy)}"
    _output.print_rows(COLUMNS, table_rows(document), title)
    if "card" in policy:
        card = policy["card"]
        _output.write_line(
            f"trained with {card['samples']:,} samples in {card['train_seconds'] / 3600:.1f} h on {card['machine']}; "
            f"data: {card['data']}"
        )


def _name(policy: dict[str, Any]) -> str:
    return f"{policy['kind']} policy" + (f" {policy['file']}" if "file" in policy else "")


class _Note:
    """Says on stderr now and then how far an evaluation is."""

    def __init__(self, seed: int):
        self._seed = seed
        self._last = time.monotonic()

    def __call__(self, done: int, wanted: int) -> None:
        if time.monotonic() - self._last >= _NOTE_INTERVAL_S:
            self._last = time.monotonic()
            sys.stderr.write(f"seed {self._seed}: {done} of {wanted} episodes\n")
