"""Train a task with PPO on this machine.

  sportsuite train SportSuite-Trap-v0 --size cpu --minutes 60
  sportsuite train SportSuite-Trap-v0 --resume            # go on after a crash
  sportsuite train SportSuite-Trap-v0 env.rewards.upright.weight=0.5 agent.algorithm.gamma=0.97

Runs go to logs/rsl_rl/EXPERIMENT/TIME: checkpoints, TensorBoard events, metrics.jsonl (one line per iteration) and both
configs. 'isaaclab train --task ID' trains the same way. Ctrl-C and SIGTERM end a run with a checkpoint.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sportsuite.cli import _output
from sportsuite.cli._ablations import add_ablation_option, with_ablations
from sportsuite.cli._playing import LATEST, given_path
from sportsuite.cli._run_options import add_run_options, check_run_options, positive, prepare_process, split_overrides
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.plugins.manager import Task, find_task

if TYPE_CHECKING:
    from rich.table import Table

    from sportsuite.learning.training import Progress

_INTERRUPTED = 130

_PLAIN_INTERVAL_S = 10.0
"""Seconds between two lines of progress where there is no terminal (ours: a night's log stays readable)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_run_options(parser)
    add_ablation_option(parser)
    parser.add_argument("--size", help="agent config: smoke, cpu or gpu; by default what the device allows")
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument("--iterations", type=int, metavar="N", help="iterations in total, with those of a resumed run")
    budget.add_argument(
        "--samples", type=int, metavar="N", help="environment steps in total, with those of a resumed run"
    )
    budget.add_argument("--minutes", type=float, metavar="M", help="wall time of this call")
    start = parser.add_mutually_exclusive_group()
    start.add_argument(
        "--resume",
        nargs="?",
        const=LATEST,
        metavar="PATH",
        help="go on from a checkpoint or a run folder; without PATH from the task's latest run that can be read",
    )
    start.add_argument(
        "--warm-start",
        metavar="PATH",
        help="begin with the networks of this checkpoint or shipped policy (policies/NAME.pt), perhaps another task's, "
        "as far as both see the same",
    )
    parser.add_argument("--log-dir", type=Path, metavar="DIR", help="folder of this run")
    parser.add_argument("overrides", nargs="*", metavar="env.X=Y|agent.X=Y", help="changes to the configs")


def run(args: argparse.Namespace) -> int:
    """Train, show how it goes, say where the result is."""
    prepare_process()
    task = find_task(args.id)
    if not task.spec.agent_cfgs:
        raise BadInputError(f"task {task.spec.id} is not trained: it has no agent configs")
    if args.size is not None and args.size not in task.spec.agent_cfgs:
        raise unknown_name(f"agent size of {task.spec.id}", args.size, task.spec.agent_cfgs)
    check_run_options(args)
    for name in ("iterations", "samples", "minutes"):
        positive(f"--{name.replace('_', '-')}", getattr(args, name))
    if args.resume is not None and "=" in args.resume:
        # '--resume agent.x=1': the override stands where a path may
        args.overrides, args.resume = [*args.overrides, args.resume], LATEST
    env_overrides, agent_overrides = split_overrides(args.overrides)
    env_overrides = with_ablations(args, task, env_overrides)
    resume = None if args.resume is None else _resume_path(args.resume, task, args.log_dir)
    _train(args, task, resume, env_overrides, agent_overrides)
    return 0


def _train(
    args: argparse.Namespace,
    task: Task,
    resume: Path | None,
    env_overrides: tuple[str, ...],
    agent_overrides: tuple[str, ...],
) -> None:
    from sportsuite.learning.training import TrainRequest, train
    from sportsuite.skills.skill import find_policy

    request = TrainRequest(
        task=task,
        size=args.size or _default_size(task, args.device),
        num_envs=args.num_envs,
        device=args.device,
        physics=args.physics,
        seed=args.seed,
        iterations=args.iterations,
        samples=args.samples,
        minutes=args.minutes,
        resume=resume,
        warm_start=None if args.warm_start is None else find_policy(args.warm_start),
        run_dir=args.log_dir,
        env_overrides=env_overrides,
        agent_overrides=agent_overrides,
    )
    with _Display(f"{task.spec.id} ({request.size})") as display:
        outcome = train(request, on_start=display.start, on_progress=display.update)
    rate = outcome.samples / outcome.seconds if outcome.seconds else 0.0
    _output.write_line(
        f"iteration {outcome.iteration}, {outcome.samples:,} samples, {outcome.seconds:.0f} s"
        + (f" ({rate:,.0f} samples/s)" if resume is None else "")
    )
    _output.write_line(f"checkpoint {outcome.checkpoint}")
    if outcome.stopped_by == "interrupt":
        raise KeyboardInterrupt


def _default_size(task: Task, device: str | None) -> str:
    """Take the size for the device, or the task's own default if it has none for it."""
    from sportsuite.learning.agent_cfgs import default_device

    size = "gpu" if (device or default_device()).startswith("cuda") else "cpu"
    return size if size in task.spec.agent_cfgs else task.spec.default_size


def _resume_path(text: str, task: Task, log_dir: Path | None) -> Path:
    """Find the checkpoint to go on from, and make sure that it can be read and is of this task."""
    path = given_path(text, task, log_dir)
    from sportsuite.learning.checkpoint import check_task, latest_valid, read_checkpoint

    path = latest_valid(path) if path.is_dir() else path
    check_task(read_checkpoint(path), task.spec.id, path)
    return path


class _Display:
    """Shows progress on stderr: one line that is kept up to date in a terminal, a line every few seconds elsewhere."""

    def __init__(self, title: str):
        self._title = title
        self._last = -math.inf
        self._live = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=4, transient=False)

    def __enter__(self) -> _Display:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live is not None:
            self._live.stop()

    def start(self, run_dir: Path, weights: Mapping[str, float]) -> None:
        """Say where the run is and what its rewards weigh."""
        terms = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
        sys.stderr.write(f"{self._title}: {run_dir}\nreward weights: {terms}\n")
        sys.stderr.flush()
        if self._live is not None:
            self._live.start()

    def update(self, progress: Progress) -> None:
        """Show where the training is."""
        if self._live is not None:
            self._live.update(_bar(progress))
        elif progress.done >= 1.0 or time.monotonic() - self._last >= _PLAIN_INTERVAL_S:
            self._last = time.monotonic()
            sys.stderr.write(progress_line(progress) + "\n")
            sys.stderr.flush()


def progress_line(progress: Progress) -> str:
    """Format a training's progress as one line.

    Args:
        progress: Where it is.

    Returns:
        Figures that are not known yet are left out.
    """
    eta = (
        time.strftime("%H:%M:%S", time.gmtime(progress.eta_s))
        if progress.eta_s < 86400
        else f"{progress.eta_s / 3600:.0f} h"
    )
    figures = {
        "iteration": f"{progress.iteration}",
        "samples": f"{progress.samples:,}",
        "samples/s": _figure(progress.samples_per_s, ",.0f"),
        "reward": _figure(progress.reward, ".3f"),
        "length": _figure(progress.episode_length, ".1f"),
        "success": _figure(progress.success_rate, ".3f"),
        "left": eta,
    }
    return "  ".join(f"{name} {value}" for name, value in figures.items() if value)


def _figure(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else ""


def _bar(progress: Progress) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    row = Table.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=1.0, completed=progress.done, width=24), progress_line(progress))
    return row
