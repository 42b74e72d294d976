"""What an evaluation protocol is, and the figures it returns.

A sport names its protocols in :attr:`~sportsuite.plugins.api.TaskSpec.evaluation` as ``"module:attribute"``: an object
with the members of :class:`EvaluationProtocol`, or a function without arguments that makes one.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import torch

from sportsuite.evaluation.rollout import run_episodes
from sportsuite.learning.policy import Policy
from sportsuite.plugins.errors import PluginError
from sportsuite.plugins.manager import Task

__all__ = ["EvaluationProtocol", "GenericProtocol", "Metric", "mean_metric", "protocol_of", "rate_metric"]

_Z = 1.959964
"""Quantile of the normal distribution for 95 % intervals."""


@dataclass(frozen=True)
class Metric:
    """One figure of an evaluation."""

    value: float
    unit: str
    """SI unit, ``"1"`` for a share or a count."""
    reference: float | None
    """The text's figure in the same unit, or None if it gives none."""
    definition: str
    """How the figure is computed, in one sentence."""
    better: Literal["higher", "lower"] | None = None
    ci: tuple[float, float] | None = None
    """95 % confidence interval over the episodes."""


@runtime_checkable
class EvaluationProtocol(Protocol):
    """How a task is evaluated."""

    name: str
    default_episodes: int

    def configure(self, env_cfg: Any) -> None:
        """Set the protocol's ranges on the task's env cfg, in place; overrides by the user come after it."""

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Measure a policy.

        Args:
            env: The environment, not wrapped.
            policy: The policy.
            episodes: How many episodes count.
            seed: Seed of the episodes.
            progress: To be called with the episodes done and the episodes wanted.

        Returns:
            Figures by name.
        """
        ...


class GenericProtocol:
    """The protocol of tasks that bring none: return, length and the ways episodes end."""

    name = "generic"
    default_episodes = 100

    def configure(self, env_cfg: Any) -> None:
        """Leave the config as it is."""

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Measure a policy, see :meth:`EvaluationProtocol.run`."""
        table = run_episodes(env, policy, episodes, seed, progress=progress)
        metrics = {
            "return": mean_metric(table["return"], "1", None, "sum of the rewards of an episode, mean", "higher"),
            "length": mean_metric(table["length_s"], "s", None, "length of an episode, mean"),
        }
        for column, values in table.items():
            if column.startswith("end:"):
                term = column.removeprefix("end:")
                metrics[f"ended_by_{term}"] = rate_metric(values, None, f"share of episodes that {term!r} ended")
        return metrics


def protocol_of(task: Task) -> EvaluationProtocol:
    """Return a task's evaluation protocol, or the generic one if it brings none.

    Raises:
        PluginError: If what the plugin names can't be loaded or is no protocol.
    """
    reference = task.spec.evaluation
    if reference is None:
        return GenericProtocol()
    module, _, attribute = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
        # a function, or the class itself
        protocol = found() if isinstance(found, type) or not hasattr(found, "run") else found
    except Exception as error:
        raise PluginError(f"evaluation {reference} of {task.spec.id}: {type(error).__name__}: {error}") from error
    if not isinstance(protocol, EvaluationProtocol):
        wanted = "name, default_episodes, configure and run"
        raise PluginError(f"evaluation {reference} of {task.spec.id} is no protocol: expected {wanted}")
    return protocol


def mean_metric(
    values: torch.Tensor,
    unit: str,
    reference: float | None,
    definition: str,
    better: Literal["higher", "lower"] | None = None,
) -> Metric:
    """Average one number per episode, with the normal 95 % interval of the mean.

    Args:
        values: Shape (episodes,). NaN marks episodes that have no such number; they are left out.
        unit: SI unit.
        reference: The text's figure.
        definition: How a number came about.
        better: Which direction is better.

    Returns:
        The figure; NaN without an interval if no episode has the number.
    """
    known = values[~torch.isnan(values)].double()
    if len(known) == 0:
        return Metric(math.nan, unit, reference, definition, better)
    mean = known.mean().item()
    if len(known) == 1:
        return Metric(mean, unit, reference, definition, better)
    half = _Z * known.std().item() / math.sqrt(len(known))
    return Metric(mean, unit, reference, definition, better, (mean - half, mean + half))


def rate_metric(
    happened: torch.Tensor,
    reference: float | None,
    definition: str,
    better: Literal["higher", "lower"] | None = None,
) -> Metric:
    """Share of episodes in which something happened, with Wilson's 95 % interval.

    Wilson's score interval (Journal of the American Statistical Association 22, 1927) stays within 0 and 1 and is right
    for shares near them, where skills that work are.

    Args:
        happened: Shape (episodes,), bool or 0 and 1.
        reference: The text's share.
        definition: What happened.
        better: Which direction is better.
    """
    n = len(happened)
    share = happened.double().mean().item() if n else math.nan
    if n == 0:
        return Metric(share, "1", reference, definition, better)
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return Metric(share, "1", reference, definition, better, (max(0.0, centre - half), min(1.0, centre + half)))
