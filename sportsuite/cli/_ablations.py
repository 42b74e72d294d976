"""The option ``--ablate`` of the verbs that build a task's environment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sportsuite.envs.ablations import ablation_overrides, split_names

if TYPE_CHECKING:
    from sportsuite.plugins.manager import Task

__all__ = ["add_ablation_option", "with_ablations"]


def add_ablation_option(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--ablate", metavar="NAME[,NAME]", help="named variants of the task, such as no_nts; see the task's page"
    )


def with_ablations(args: argparse.Namespace, task: Task, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """Put what ``--ablate`` changes before the overrides that were typed, which prevail.

    Raises:
        BadInputError: If the task has no such variant.
    """
    if args.ablate is None:
        return overrides
    names = split_names(args.ablate)
    from sportsuite.envs.make_env import load_env_cfg

    return (*ablation_overrides(load_env_cfg(task.spec.env_cfg), names, task.spec.id), *overrides)
