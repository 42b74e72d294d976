"""What the verbs that play a policy share: which policy, in which environment."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sportsuite.errors import BadInputError

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy
    from sportsuite.plugins.manager import Task

__all__ = ["LATEST", "add_policy_options", "find_checkpoint", "given_path", "make_policy", "open_env", "results_only"]

LATEST = "latest"
"""Stands for the newest run's newest checkpoint where a path may be given."""


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a policy; exactly one of them may be given."""
    policy = parser.add_mutually_exclusive_group()
    policy.add_argument("--pretrained", action="store_true", help="the policy that ships with the task")
    policy.add_argument("--checkpoint", metavar="PATH|latest", help="a checkpoint, a run folder, or the latest run")
    policy.add_argument("--untrained", action="store_true", help="the task's network with fresh weights, as a baseline")


def find_checkpoint(args: argparse.Namespace, task: Task) -> Path | None:
    """Find the file of the policy that was asked for; None for an untrained one, or where a task has no policy.

    Without any option the shipped policy is taken.

    Raises:
        BadInputError: If there is no such file, it can't be read or is of another task, or the task is not trained.
    """
    if not task.spec.agent_cfgs:
        if args.pretrained or args.checkpoint is not None or args.untrained:
            raise BadInputError(
                f"task {task.spec.id} is not trained: give no policy, but what it is made of as env.X=Y"
            )
        return None
    if args.untrained:
        return None
    asked = None if args.checkpoint is None else given_path(args.checkpoint, task)
    from sportsuite.learning.checkpoint import check_task, latest_valid, read_checkpoint
    from sportsuite.learning.policy import pretrained_path

    path = pretrained_path(task) if asked is None else asked
    path = latest_valid(path) if path.is_dir() else path
    check_task(read_checkpoint(path), task.spec.id, path)
    return path


def given_path(text: str, task: Task, run_dir: Path | None = None) -> Path:
    """Find what ``latest`` or a path means, before anything heavy is loaded.

    Args:
        text: As typed.
        task: The task.
        run_dir: Folder in which ``latest`` looks, instead of the task's newest run.

    Returns:
        A whole file or a run folder with checkpoints.

    Raises:
        BadInputError: If there is none.
    """
    from sportsuite.learning.checkpoint_files import check_path, latest_run
    from sportsuite.learning.training import LOG_ROOT

    if text == LATEST:
        path = latest_run(LOG_ROOT, task.spec.id) if run_dir is None else run_dir
    else:
        path = Path(text)
    check_path(path, folder=text == LATEST)
    return path


def make_policy(path: Path | None, env: Any, task: Task, seed: int) -> Policy:
    """Load the policy, or make an untrained one where there is no file; a task that is not trained gets zeros."""
    from sportsuite.learning.policy import load_policy, untrained_policy, zero_policy
    from sportsuite.learning.training import agent_cfg_of

    if path is not None:
        return load_policy(path, env, task)
    if not task.spec.agent_cfgs:
        return zero_policy(env)
    return untrained_policy(env, agent_cfg_of(task, task.spec.default_size), seed)


@contextlib.contextmanager
def open_env(
    args: argparse.Namespace,
    task: Task,
    checkpoint: Path | None,
    num_envs: int,
    overrides: tuple[str, ...],
    adjust: Callable[[Any], None] = lambda cfg: None,
) -> Iterator[Any]:
    """Make a task's environment as it is played: play mode, and the observations and actions of the checkpoint.

    Args:
        args: With ``device``, ``physics`` and ``seed``.
        task: The task.
        checkpoint: Where the policy comes from, or None.
        num_envs: Number of worlds.
        overrides: Changes to the env cfg, applied last.
        adjust: Applied to the env cfg before the overrides.

    Yields:
        The environment, not wrapped; it is closed afterwards.

    Raises:
        BadInputError: If an option is wrong.
    """
    import gymnasium

    from sportsuite.envs.make_env import load_env_cfg, usable_device
    from sportsuite.learning.policy import restore_interface
    from sportsuite.learning.training import simulation

    device = usable_device(args.device)
    with simulation(task, args.physics, device, overrides):
        cfg = load_env_cfg(task.spec.env_cfg, args.physics)
        if checkpoint is not None:
            restore_interface(cfg, checkpoint)
        cfg.play_mode()
        adjust(cfg)
        env = gymnasium.make(
            task.spec.id, cfg=cfg, num_envs=num_envs, device=device, seed=args.seed or 0, overrides=list(overrides)
        )
        try:
            yield env.unwrapped
        finally:
            env.close()


@contextlib.contextmanager
def results_only() -> Iterator[None]:
    """Send everything that libraries, also compiled ones, write to stdout to stderr instead."""
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
