"""Play a task with zero actions, to see that it runs: prints the mean reward of a step."""

from __future__ import annotations

import argparse
import time

from sportsuite.cli import _output
from sportsuite.cli._playing import open_env, results_only
from sportsuite.cli._run_options import add_run_options, check_run_options, positive, prepare_process, split_overrides
from sportsuite.plugins.manager import find_task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_run_options(parser)
    parser.add_argument("--steps", type=int, default=100, metavar="N", help="steps of every world (default 100)")
    parser.add_argument("overrides", nargs="*", metavar="env.X=Y", help="changes to the env cfg")
    _output.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Play and print; exit code 1 if a reward or an observation isn't finite."""
    prepare_process()
    task = find_task(args.id)
    positive("--steps", args.steps)
    check_run_options(args)
    (overrides,) = split_overrides(args.overrides, ("env",))
    with results_only():
        import torch

        from sportsuite.learning.policy import zero_policy

        with open_env(args, task, None, args.num_envs or 4, overrides) as env:
            policy = zero_policy(env)
            obs, _ = env.reset()
            total, episodes, finite, start = 0.0, 0, True, time.monotonic()
            for _ in range(args.steps):
                obs, reward, terminated, truncated, _ = env.step(policy(obs))
                total += reward.mean().item()
                episodes += int((terminated | truncated).sum())
                finite &= bool(
                    torch.isfinite(reward).all() and all(torch.isfinite(group).all() for group in obs.values())
                )
            seconds, num_envs = time.monotonic() - start, env.num_envs
    document = {
        "task": task.spec.id,
        "mean_reward": total / args.steps,
        "episodes": episodes,
        "finite": finite,
        "env_steps_per_s": args.steps * num_envs / seconds,
    }
    if args.json:
        _output.print_json(document)
    else:
        _output.write_line("  ".join(f"{name} {value}" for name, value in document.items()))
    return 0 if finite else 1
