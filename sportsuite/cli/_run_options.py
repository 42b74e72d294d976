"""Options that the verbs which run an environment share, checked before anything heavy is loaded."""

from __future__ import annotations

import argparse
import logging
import os
import warnings
from collections.abc import Iterable

from sportsuite.envs.make_env import check_device
from sportsuite.errors import BadInputError, nearest

__all__ = ["add_run_options", "check_run_options", "positive", "prepare_process", "split_overrides"]

_SECTIONS = ("env", "agent")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the task's id and the options that say how its environment is built."""
    parser.add_argument("id", metavar="ID", help="task id, as 'sportsuite list' prints it")
    parser.add_argument("--num-envs", type=int, metavar="N", help="number of worlds")
    parser.add_argument("--device", help="cpu, cuda:0, ...; by default the GPU if there is one")
    parser.add_argument("--physics", help="physics backend, see 'sportsuite info ID --physics'")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of all random draws")


def prepare_process() -> None:
    """Set what has to be set before torch and the simulator are loaded."""
    # a thread that spins while it waits takes the core from the physics
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # scipy's threads spin over each of a retargeting's small matrices: 6 frames/s instead of 380 on a busy machine
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not logging.getLogger().isEnabledFor(logging.DEBUG):
        # other packages' notes to their own developers would bury what a command has to say
        for category in (DeprecationWarning, FutureWarning, SyntaxWarning):
            warnings.filterwarnings("ignore", category=category)


def check_run_options(args: argparse.Namespace) -> None:
    """Refuse a number of worlds or a device that can't be, without loading what would use it.

    Raises:
        BadInputError: Names the option and the value.
    """
    positive("--num-envs", args.num_envs)
    if args.device is not None:
        check_device(args.device)


def positive(name: str, value: float | None) -> None:
    """Refuse a number that isn't above zero; None passes.

    Raises:
        BadInputError: Names the option and the value.
    """
    if value is not None and not value > 0:
        raise BadInputError(f"{name} {value}: expected a number above 0")


def split_overrides(texts: Iterable[str], sections: tuple[str, ...] = _SECTIONS) -> tuple[tuple[str, ...], ...]:
    """Sort ``env.path=value`` and ``agent.path=value`` by the config they change.

    Args:
        texts: Overrides as typed.
        sections: The configs that may be changed.

    Returns:
        For each section the overrides, without its name in front.

    Raises:
        BadInputError: If one has no ``=`` or names no section.
    """
    found: dict[str, list[str]] = {section: [] for section in sections}
    for text in texts:
        path, equals, _ = text.partition("=")
        section, _, rest = path.partition(".")
        if not equals or section not in found or not rest:
            forms = " or ".join(f"'{name}.path.to.field=value'" for name in sections)
            near = nearest(section, sections, count=1)
            hint = f"; did you mean '{near[0]}.{text.partition('.')[2]}'?" if near and near[0] != section else ""
            raise BadInputError(f"override {text!r}: expected {forms}{hint}")
        found[section].append(text.removeprefix(f"{section}."))
    return tuple(tuple(found[section]) for section in sections)
