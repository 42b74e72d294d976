"""Measure how fast a task steps on each physics backend, and where the time goes.

  sportsuite bench SportSuite-Trap-v0
  sportsuite bench SportSuite-Trap-v0 --physics mujoco_cpu,newton_mjwarp --envs 256 --threads 1,2 --plot bench.png

All rows do the same work, one after the other, each in its own process. Keep the machine idle meanwhile; compare
ratios.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sportsuite.cli import _output
from sportsuite.cli._run_options import positive
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.physics.preset_names import PRESET_NAMES
from sportsuite.plugins.manager import find_task, inventory

if TYPE_CHECKING:
    from sportsuite.evaluation.benchmark import BenchRow

_DEFAULT_PHYSICS = "mujoco_cpu,newton_mjwarp"

_COLUMNS = (
    "physics",
    "worlds",
    "threads",
    "env-steps/s",
    "against newton_mjwarp",
    "solver",
    "conversions",
    "other physics",
    "managers",
    "of raw MuJoCo",
    "make to first step [s]",
    "memory [MB]",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", help="task id; by default the first installed task")
    parser.add_argument("--physics", default=_DEFAULT_PHYSICS, help=f"presets, by commas ({_DEFAULT_PHYSICS})")
    parser.add_argument("--envs", default="64,256,1024", help="numbers of worlds, by commas (64,256,1024)")
    parser.add_argument("--threads", help="numbers of threads, by commas (1 to all cores)")
    parser.add_argument("--steps", type=int, default=60, metavar="N", help="steps timed per row (60)")
    _output.add_json_option(parser)
    parser.add_argument("--plot", type=Path, metavar="PNG", help="write a plot")


def run(args: argparse.Namespace) -> None:
    """Measure, print, plot."""
    positive("--steps", args.steps)
    task = find_task(args.id) if args.id else next(iter(inventory().tasks.values()))
    cores = len(os.sched_getaffinity(0))
    threads = _numbers("--threads", args.threads) if args.threads else sorted({1, cores})
    plan = _plan(_presets(args.physics), _numbers("--envs", args.envs), threads)
    from sportsuite.evaluation import benchmark

    before = benchmark.machine()
    rows = benchmark.measure_all(task.spec.id, plan, args.steps, lambda row: None if args.json else _progress(row))
    result = {"task": task.spec.id, "rows": [asdict(row) for row in rows], "ceiling": benchmark.ceiling_of(rows)}
    if args.plot:
        _plot(rows, args.plot)
    if args.json:
        _output.print_json(result | {"machine": before})
        return
    _output.print_rows(_COLUMNS, _cells(rows), title=task.spec.id)
    if ceiling := result["ceiling"]:
        _output.write_line(
            f"raw MuJoCo on the same model, {ceiling['threads']} threads: {ceiling['env_steps_per_s']:,.0f} "
            f"env-steps/s; mujoco_cpu reaches {ceiling['reached']:.0%} of it"
        )


def _presets(text: str) -> list[str]:
    chosen = [name.strip() for name in text.split(",") if name.strip()]
    for name in chosen:
        if name not in PRESET_NAMES:
            raise unknown_name("physics preset", name, PRESET_NAMES)
    return chosen


def _numbers(option: str, text: str) -> list[int]:
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise BadInputError(f"{option} {text!r}: expected whole numbers of at least 1, separated by commas")
    return values


def _plan(presets: list[str], envs: list[int], threads: list[int]) -> list[tuple[str, int, int]]:
    """Every combination; backends without threads are measured once."""
    return [(name, n, t) for name in presets for n in envs for t in (threads if name == "mujoco_cpu" else [1])]


def _progress(row: BenchRow) -> None:
    what = f"{row.physics}, {row.num_envs} worlds, {row.threads} threads"
    sys.stderr.write(f"{what}: {row.env_steps_per_s:,.0f} env-steps/s\n")


def _cells(rows: list[BenchRow]) -> list[list[str]]:
    """One line per row; ratios are against newton_mjwarp with the same number of worlds."""
    stock = {row.num_envs: row.env_steps_per_s for row in rows if row.physics == "newton_mjwarp"}
    cells = []
    for row in rows:
        base, raw = stock.get(row.num_envs), row.ceiling_env_steps_per_s
        other = max(0.0, row.physics_share - row.solver_share - row.conversion_share)
        shares = (row.solver_share, row.conversion_share, other, row.manager_share)
        cells.append(
            [row.physics, str(row.num_envs), str(row.threads), f"{row.env_steps_per_s:,.0f}"]
            + [f"{row.env_steps_per_s / base:.1f} x" if base else ""]
            + [f"{share:.0%}" for share in shares]
            + [f"{row.env_steps_per_s / raw:.0%}" if raw else "", f"{row.make_s:.1f}", f"{row.rss_mb:,.0f}"]
        )
    return cells


def _plot(rows: list[BenchRow], path: Path) -> None:
    """Env steps per second over worlds, one line per backend and thread count."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for physics, threads in sorted({(row.physics, row.threads) for row in rows}):
        line = sorted(
            (row.num_envs, row.env_steps_per_s) for row in rows if (row.physics, row.threads) == (physics, threads)
        )
        axes.plot(*zip(*line, strict=True), marker="o", label=f"{physics}, {threads} thread{'s' * (threads > 1)}")
    axes.set(xscale="log", yscale="log", xlabel="worlds", ylabel="env-steps/s")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
