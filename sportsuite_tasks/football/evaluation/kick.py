"""How well a ball is kicked: KSR, KDD and KSD of PhysicsFC, over all kicks and by target speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.evaluation.protocol import Metric, mean_metric
from sportsuite.evaluation.rollout import run_episodes
from sportsuite_tasks.football.evaluation.matching import by_speed, edges_within, share
from sportsuite_tasks.football.mdp.commands import PassZoneCommand

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy

__all__ = [
    "DEFINITIONS",
    "KickProbe",
    "KickProtocol",
    "kick_metrics",
    "kick_protocol",
    "pass_metrics",
    "seconds_to_touch",
]

DEFINITIONS = {
    "KSR": "share of attempts in which the character touches the ball",
    "KDD": "angle between the fastest velocity that the ball has within 1/3 s of the contact and its target, mean over "
    "the kicks",
    "KSD": "difference of the speed of that velocity from the target's, mean over the kicks",
    "TTK": "time from the command to the contact, mean over the kicks",
}
"""What the metrics are."""


def seconds_to_touch(steps: torch.Tensor, steps_since: torch.Tensor, step_dt: float) -> torch.Tensor:
    """Time from the command to the first contact [s], NaN without one; 1 step if the first step makes it.

    Args:
        steps: Steps since the command. Shape is (n,), long.
        steps_since: Steps since the contact, 0 in its own step, negative without one. Shape is (n,), long.
        step_dt: Length of a step [s].
    """
    seconds = (steps - steps_since) * step_dt
    return torch.where(steps_since >= 0, seconds, torch.full_like(seconds, torch.nan))


class KickProbe:
    """Reads the outcome of each kick, or pass into a zone, when its episode ends."""

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Nothing: the command keeps count itself."""

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Outcomes of the episodes that end now, see :meth:`KickCommand.outcome`."""
        command = env.command_manager.get_term("kick")
        # rewards are computed before the reset, but one of them may be switched off
        command.measure()
        touch = command.first_touch
        seconds = seconds_to_touch(env.episode_length_buf[ids], touch.steps_since[ids], env.step_dt)
        if isinstance(command, PassZoneCommand):
            miss = command.miss[ids]
            return {"touched": touch.touched[ids].float(), "seconds": seconds, "hit": (miss == 0.0).float()}
        figures = {name: values.float() for name, values in command.outcome(ids).items()}
        return figures | {"seconds": seconds, "target_speed": command.velocity_w[ids].norm(dim=1)}


def kick_metrics(
    table: Mapping[str, torch.Tensor], references: tuple[float | None, float | None, float | None] = (99.9, 4.79, 4.51)
) -> dict[str, Metric]:
    """PhysicsFC's kick metrics.

    Args:
        table: Per attempt ``touched`` (0 or 1) and, NaN without a contact, ``direction_error_deg`` [deg],
            ``speed_error`` [m/s] and ``seconds`` to the contact [s], each of shape (attempts,).
        references: The text's KSR [%], KDD [deg] and KSD [m/s].
    """
    return {
        "KSR": share(table["touched"], references[0], DEFINITIONS["KSR"]),
        "KDD": mean_metric(table["direction_error_deg"], "deg", references[1], DEFINITIONS["KDD"], "lower"),
        "KSD": mean_metric(table["speed_error"], "m/s", references[2], DEFINITIONS["KSD"], "lower"),
        "TTK": mean_metric(table["seconds"], "s", None, DEFINITIONS["TTK"], "lower"),
    }


def pass_metrics(table: Mapping[str, torch.Tensor]) -> dict[str, Metric]:
    """Figures of passes into zones (ours): per attempt ``touched``, ``hit`` (0 or 1) and ``seconds`` [s]."""
    hit = "share of attempts in which the ball will come down, or roll by, within the zone"
    return {
        "KSR": share(table["touched"], None, DEFINITIONS["KSR"]),
        "zone_hits": share(table["hit"], None, hit),
        "TTK": mean_metric(table["seconds"], "s", None, DEFINITIONS["TTK"], "lower"),
    }


@dataclass
class KickProtocol:
    """Random kicks of a ball in front of a standing or slow player; PhysicsFC kicks 1000 times."""

    speed_edges: tuple[float, ...] = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)
    """Limits of the ranges of target speeds that have figures of their own [m/s] (ours)."""

    name = "kick"
    default_episodes = 1000

    def configure(self, env_cfg: Any) -> None:
        """Starts as in training, but none on the ground."""
        env_cfg.events.character.params["fallen_fraction"] = 0.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Ask for ``episodes`` kicks, see :class:`sportsuite.evaluation.protocol.EvaluationProtocol`."""
        table = run_episodes(env, policy, episodes, seed, KickProbe(), progress)
        if "hit" in table:
            return pass_metrics(table)
        edges = edges_within(self.speed_edges, env.command_manager.get_term("kick").cfg.speed_range)
        return kick_metrics(table) | by_speed(table, edges, _figures)


def _figures(rows: Mapping[str, torch.Tensor]) -> dict[str, Metric]:
    metrics = kick_metrics(rows)
    return {name: metrics[name] for name in ("KSR", "KDD", "KSD")}


def kick_protocol() -> KickProtocol:
    """The evaluation protocol of SportSuite-Kick-v0."""
    return KickProtocol()
