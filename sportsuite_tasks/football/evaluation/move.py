"""How well a player moves as told: MGAR and GMLS of PhysicsFC, over all goals and by target speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.evaluation.protocol import Metric, mean_metric
from sportsuite_tasks.football.evaluation.goals import run_goals
from sportsuite_tasks.football.evaluation.matching import (
    Hold,
    MatchRule,
    angle_deg,
    by_speed,
    edges_within,
    facing_matched,
    share,
    velocity_matched,
)

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy

__all__ = ["MoveProbe", "MoveProtocol", "move_metrics", "move_protocol"]

_LATENT = "latent"
"""Name of the action term whose actions are latents."""


class MoveProbe:
    """Measures goals of the command ``move``.

    Args:
        env: The environment.
        rule: When velocity and facing count as matched.
        latents: Whether latents are compared with those of the goals.
    """

    def __init__(self, env: Any, rule: MatchRule, latents: bool = False):
        self._rule, self._latents = rule, latents
        zeros = torch.zeros(env.num_envs, 2, device=env.device)
        self._velocity, self._facing, self._latent = zeros, zeros, zeros
        self._holds = {
            name: Hold(env.num_envs, rule.hold_steps, env.device) for name in ("reached", "velocity", "facing")
        }
        names = ("speed", "error", "facing_error", "similarity", "steps")
        self._sums = {name: torch.zeros(env.num_envs, device=env.device) for name in names}

    def aim(self, env: Any) -> None:
        """Keep the goals, see :class:`~sportsuite_tasks.football.evaluation.goals.GoalProbe`."""
        command = env.command_manager.get_term("move")
        self._velocity, self._facing = command.velocity_w.clone(), command.facing_w.clone()
        self._latent = command.latent.clone()

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Take one step of some worlds into account."""
        actual = env.scene["robot"].data.root_link_lin_vel_w.torch[ids, :2]
        heading = env.command_manager.get_term("move").heading[ids]
        goes = velocity_matched(self._velocity[ids], actual, self._rule)
        faces = facing_matched(self._facing[ids], heading, self._rule)
        for name, now in (("reached", goes & faces), ("velocity", goes), ("facing", faces)):
            self._holds[name].see(ids, now)
        self._sums["speed"][ids] += actual.norm(dim=1)
        self._sums["error"][ids] += (self._velocity[ids] - actual).norm(dim=1)
        self._sums["facing_error"][ids] += angle_deg(self._facing[ids], heading)
        self._sums["steps"][ids] += 1.0
        if self._latents:
            given = env.action_manager.get_term(_LATENT).processed_actions[ids]
            similarity = torch.nn.functional.cosine_similarity(given, self._latent[ids], dim=1)
            self._sums["similarity"][ids] += similarity

    def finish(self, env: Any, ids: torch.Tensor, episode_over: bool) -> dict[str, torch.Tensor]:
        """Figures of the goals that end now, means over their steps."""
        sums = {name: value[ids].clone() for name, value in self._sums.items()}
        steps = sums.pop("steps")
        figures = {name: hold.reached[ids].float() for name, hold in self._holds.items()}
        figures |= {name: value / steps for name, value in sums.items()}
        figures["reach_s"] = self._holds["reached"].seconds(ids, env.step_dt)
        figures["target_speed"] = self._velocity[ids].norm(dim=1)
        for value in self._sums.values():
            value[ids] = 0.0
        for hold in self._holds.values():
            hold.forget(ids)
        return figures


@dataclass
class MoveProtocol:
    """Random goals one after the other, each for five seconds; then goals of the DEGCL file, where there is one.

    PhysicsFC: 1004 goals.
    """

    match: MatchRule = field(default_factory=MatchRule)
    """When a goal counts as reached (ours)."""
    goal_s: float = 5.0
    """How long a goal stands [s] (ours; Dribble's in PhysicsFC)."""
    guided_goals: int = 160
    """Goals of the DEGCL file that GMLS is measured on, at most (ours: ten times the text's 16 clips)."""
    speed_edges: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    """Limits of the ranges of target speeds that have figures of their own [m/s] (ours)."""

    name = "move"
    default_episodes = 1004

    def configure(self, env_cfg: Any) -> None:
        """Goals of equal length that fit no start, standing starts, no end but falls."""
        env_cfg.commands.move.resampling_time_range = (self.goal_s, self.goal_s)
        env_cfg.commands.move.fitting_fraction = 0.0
        env_cfg.commands.move.stand_fraction = 0.0
        env_cfg.events.character.params.update(reference_fraction=0.0, fallen_fraction=0.0)
        env_cfg.episode_length_s = 3600.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Ask for ``episodes`` goals, see :class:`sportsuite.evaluation.protocol.EvaluationProtocol`."""
        command = env.command_manager.get_term("move")
        command.cfg.degcl_fraction = 0.0
        table = run_goals(env, policy, "move", episodes, seed, MoveProbe(env, self.match), progress)
        guided = None
        if command.buffer is not None and _LATENT in env.action_manager.active_terms:
            command.cfg.degcl_fraction = 1.0
            count = min(episodes, self.guided_goals)
            guided = run_goals(env, policy, "move", count, seed + 1, MoveProbe(env, self.match, latents=True), progress)
        edges = edges_within(self.speed_edges, command.cfg.speed_range)
        return move_metrics(table, guided, self) | by_speed(table, edges, _figures)


def move_metrics(
    table: Mapping[str, torch.Tensor], guided: Mapping[str, torch.Tensor] | None, protocol: MoveProtocol
) -> dict[str, Metric]:
    """PhysicsFC's move metrics.

    Args:
        table: Per goal ``reached``, ``velocity`` and ``facing`` (0 or 1: both, or one alone, matched), ``reach_s`` [s],
            ``target_speed``, ``speed`` and ``error`` [m/s], ``facing_error`` [deg], each of shape (goals,).
        guided: The same of goals of the DEGCL file, with ``similarity``, or None.
        protocol: The protocol.
    """
    rule, limit = protocol.match.described(), f"within {protocol.goal_s:g} s"
    angle = f"{protocol.match.facing_deg:g} degrees"
    metrics = {
        "MGAR": share(
            table["reached"],
            87.9,
            f"share of goals for which the root's horizontal velocity ({rule}) and the facing ({angle}) match at once, "
            f"{limit}",
        )
    }
    if guided is not None:
        metrics["GMLS"] = mean_metric(
            guided["similarity"],
            "1",
            0.62,
            f"cosine of the latent given and the goal's own, mean over a goal's steps, then over "
            f"{len(guided['similarity'])} goals of the DEGCL file",
            "higher",
        )
    metrics |= {
        "velocity_reached": share(table["velocity"], None, f"share of goals whose velocity is matched {limit}"),
        "facing_reached": share(table["facing"], None, f"share of goals whose facing is matched {limit}"),
        "time_to_goal": mean_metric(
            table["reach_s"], "s", None, "time from a goal to its match, mean over the goals reached", "lower"
        ),
        "velocity_error": mean_metric(
            table["error"],
            "m/s",
            None,
            "error of the root's horizontal velocity, mean over all steps of a goal",
            "lower",
        ),
        "facing_error": mean_metric(
            table["facing_error"], "deg", None, "angle of facing and target, mean over all steps of a goal", "lower"
        ),
    }
    return metrics


def _figures(rows: Mapping[str, torch.Tensor]) -> dict[str, Metric]:
    return {
        "MGAR": share(rows["reached"], None, ""),
        "speed": mean_metric(rows["speed"], "m/s", None, ""),
    }


def move_protocol() -> MoveProtocol:
    """The evaluation protocol of SportSuite-Move-v0."""
    return MoveProtocol()
