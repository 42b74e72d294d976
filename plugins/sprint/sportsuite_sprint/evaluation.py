"""How Sprint-60m-v0 is evaluated: who arrives, how fast, and how far the others come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.evaluation.protocol import Metric, mean_metric, rate_metric
from sportsuite.evaluation.rollout import run_episodes
from sportsuite_sprint.mdp.observations import root_in_lane

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy


class DistanceProbe:
    """Reads how far each runner has come when its episode ends."""

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Nothing: only the last position counts."""

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Distance of the root from the start line along the lane [m], shape (n,)."""
        return {"distance": root_in_lane(env)[ids, 0]}


def dash_metrics(table: dict[str, torch.Tensor]) -> dict[str, Metric]:
    """Figures of a number of runs; no text gives any to compare with.

    Args:
        table: Per episode ``end:finished`` (0 or 1), ``length_s`` [s] and ``distance`` [m], each of shape (episodes,).

    Returns:
        ``finish_rate``, ``finish_time`` [s] of those that finished and ``distance`` [m].
    """
    finished = table["end:finished"] > 0.5
    time = table["length_s"][finished]
    return {
        "finish_rate": rate_metric(finished, None, "share of runs that cross the finish line", "higher"),
        "finish_time": mean_metric(time, "s", None, "time from the start to the finish line, mean of those", "lower"),
        "distance": mean_metric(table["distance"], "m", None, "distance at the end of a run, mean", "higher"),
    }


class DashProtocol:
    """Runs from a standing start, as in training."""

    name = "dash"
    default_episodes = 100

    def configure(self, env_cfg: Any) -> None:
        """Leave the config as it is."""

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Run ``episodes`` times, see :class:`sportsuite.evaluation.protocol.EvaluationProtocol`."""
        return dash_metrics(run_episodes(env, policy, episodes, seed, DistanceProbe(), progress))
