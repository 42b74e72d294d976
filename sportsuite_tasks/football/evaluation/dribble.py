"""How well a ball is dribbled: CBD, FBD, DGAR, DGAR30 and CS of PhysicsFC, over all goals and by target speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.characters.spec import BODY_NAMES, FEET
from sportsuite.evaluation.protocol import Metric, mean_metric
from sportsuite.mdp import feet
from sportsuite_tasks.football.evaluation.goals import run_goals
from sportsuite_tasks.football.evaluation.matching import (
    Hold,
    MatchRule,
    by_speed,
    edges_within,
    share,
    velocity_matched,
)

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy

__all__ = ["DribbleProbe", "DribbleProtocol", "dribble_metrics", "dribble_protocol", "nearest_distance", "touch_downs"]


def touch_downs(touching: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Whether some foot has come down in this step.

    Args:
        touching: Feet on the ground. Shape is (N, F), bool.
        before: The same one step earlier.

    Returns:
        Shape is (N,), bool.
    """
    return (touching & ~before).any(dim=1)


def nearest_distance(points: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Distance from a target (N, D) to the nearest of P points (N, P, D) [m]. Shape is (N,)."""
    return (points - target.unsqueeze(1)).norm(dim=-1).min(dim=1).values


class DribbleProbe:
    """Measures goals of the command ``dribble``.

    Args:
        env: The environment.
        rule: When the ball's velocity counts as matched.
        until_reached: Whether a goal that is reached makes way for the next.
    """

    def __init__(self, env: Any, rule: MatchRule, until_reached: bool = False):
        self._rule, self._until_reached = rule, until_reached
        self._hold = Hold(env.num_envs, rule.hold_steps, env.device)
        self._target = torch.zeros(env.num_envs, 2, device=env.device)
        self._feet = [BODY_NAMES.index(name) for name in FEET]
        # a foot that stands when an episode begins doesn't come down
        self._touching = torch.ones(env.num_envs, len(FEET), dtype=torch.bool, device=env.device)
        names = ("distance", "foot", "downs", "speed", "ball_speed", "steps")
        self._sums = {name: torch.zeros(env.num_envs, device=env.device) for name in names}

    def aim(self, env: Any) -> None:
        """Keep the goals, see :class:`~sportsuite_tasks.football.evaluation.goals.GoalProbe`."""
        self._target = env.command_manager.get_term("dribble").velocity_w.clone()

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Take one step of some worlds into account."""
        robot, ball = env.scene["robot"].data, env.scene["ball"].data
        velocity = ball.root_link_lin_vel_w.torch[ids, :2]
        self._hold.see(ids, velocity_matched(self._target[ids], velocity, self._rule))
        if self._until_reached:
            env.command_manager.get_term("dribble").time_left[ids[self._hold.reached[ids]]] = 0.0
        place = ball.root_link_pos_w.torch[ids]
        down = self._comes_down(env, ids)
        foot = nearest_distance(robot.body_com_pos_w.torch[ids][:, self._feet], place)
        for name, value in (
            ("distance", (place - robot.root_link_pos_w.torch[ids])[:, :2].norm(dim=1)),
            ("foot", foot * down),
            ("downs", down),
            ("speed", robot.root_link_lin_vel_w.torch[ids, :2].norm(dim=1)),
            ("ball_speed", velocity.norm(dim=1)),
            ("steps", torch.ones_like(foot)),
        ):
            self._sums[name][ids] += value

    def _comes_down(self, env: Any, ids: torch.Tensor) -> torch.Tensor:
        height, _ = feet.sole_motion(env, foot=env.cfg.foot)
        touching = (height[ids] < feet.CONTACT_HEIGHT).any(dim=-1)
        down = touch_downs(touching, self._touching[ids])
        self._touching[ids] = touching
        return down

    def finish(self, env: Any, ids: torch.Tensor, episode_over: bool) -> dict[str, torch.Tensor]:
        """Figures of the goals that end now; means over their steps, NaN where there was nothing to measure."""
        sums = {name: value[ids].clone() for name, value in self._sums.items()}
        figures = {
            "reached": self._hold.reached[ids].float(),
            "reach_s": self._hold.seconds(ids, env.step_dt),
            "target_speed": self._target[ids].norm(dim=1),
            "ball_distance": sums["distance"] / sums["steps"],
            "foot_distance": sums["foot"] / sums["downs"],
            "speed": sums["speed"] / sums["steps"],
            "ball_speed": sums["ball_speed"] / sums["steps"],
            "seconds": sums["steps"] * env.step_dt,
        }
        for value in self._sums.values():
            value[ids] = 0.0
        self._hold.forget(ids)
        if episode_over:
            self._touching[ids] = True
        return figures


@dataclass
class DribbleProtocol:
    """Random goals one after the other, each for five seconds; fewer with up to half a minute.

    PhysicsFC: 1004 goals, a new one every 5 s. An episode goes on until the player falls or the ball is lost, as the
    task says; the goal in which that happens counts with what was reached until then.
    """

    match: MatchRule = field(default_factory=MatchRule)
    """When a goal counts as reached (ours)."""
    goal_s: float = 5.0
    """How long a goal stands [s] (PhysicsFC)."""
    long_goal_s: float = 30.0
    """How long a goal of DGAR30 stands at most [s] (ours, after the metric's name)."""
    long_share: float = 0.1
    """How many goals DGAR30 is measured on, as a share of the others (ours); 0 leaves it out."""
    speed_edges: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    """Limits of the ranges of target speeds that have figures of their own [m/s] (ours)."""

    name = "dribble"
    default_episodes = 1004

    def configure(self, env_cfg: Any) -> None:
        """Goals of equal length, standing starts with the ball in front, no end but falls and lost balls."""
        env_cfg.commands.dribble.resampling_time_range = (self.goal_s, self.goal_s)
        env_cfg.events.character.params.update(reference_fraction=0.0, fallen_fraction=0.0)
        env_cfg.episode_length_s = 3600.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Ask for ``episodes`` goals, see :class:`sportsuite.evaluation.protocol.EvaluationProtocol`."""
        command = env.command_manager.get_term("dribble")
        command.cfg.resampling_time_range = (self.goal_s, self.goal_s)
        table = run_goals(env, policy, "dribble", episodes, seed, DribbleProbe(env, self.match), progress)
        patient = None
        if self.long_share > 0.0:
            command.cfg.resampling_time_range = (self.long_goal_s, self.long_goal_s)
            count = max(1, round(self.long_share * episodes))
            probe = DribbleProbe(env, self.match, until_reached=True)
            patient = run_goals(env, policy, "dribble", count, seed + 1, probe, progress)
        edges = edges_within(self.speed_edges, command.cfg.speed_range)
        return dribble_metrics(table, patient, self) | by_speed(table, edges, _figures)


def dribble_metrics(
    table: Mapping[str, torch.Tensor], patient: Mapping[str, torch.Tensor] | None, protocol: DribbleProtocol
) -> dict[str, Metric]:
    """PhysicsFC's dribble metrics.

    Args:
        table: Per goal ``reached`` (0 or 1), ``reach_s`` [s], ``target_speed``, ``speed``, ``ball_speed`` [m/s],
            ``ball_distance`` and ``foot_distance`` [m], each of shape (goals,).
        patient: The same of goals with the long limit, or None.
        protocol: The protocol.
    """
    rule, limit = protocol.match.described(), protocol.goal_s
    reached = "share of goals for which the ball's horizontal velocity matches the target"
    metrics = {
        "CBD": mean_metric(
            table["ball_distance"],
            "m",
            0.77,
            "horizontal distance of root and ball, mean over a goal's steps, then over goals",
            "lower",
        ),
        "FBD": mean_metric(
            table["foot_distance"],
            "m",
            0.60,
            "distance of the ball's centre from the nearer foot's centre of mass whenever a foot comes down, mean over "
            "a goal, then over goals",
            "lower",
        ),
        "DGAR": share(table["reached"], 90.3, f"{reached} within {limit:g} s ({rule})"),
    }
    if patient is not None:
        metrics["DGAR30"] = share(
            patient["reached"],
            None,
            f"{reached} within {protocol.long_goal_s:g} s, {len(patient['reached'])} goals ({rule})",
        )
    metrics |= {
        "CS": mean_metric(
            table["speed"], "m/s", None, "horizontal speed of the root, mean over a goal, then over goals"
        ),
        "time_to_goal": mean_metric(
            table["reach_s"], "s", None, "time from a goal to its match, mean over the goals reached", "lower"
        ),
        "goal_length": mean_metric(
            table["seconds"], "s", None, f"how long a goal was played: {limit:g} s unless the episode ended", "higher"
        ),
    }
    return metrics


def _figures(rows: Mapping[str, torch.Tensor]) -> dict[str, Metric]:
    return {
        "DGAR": share(rows["reached"], None, ""),
        "ball_speed": mean_metric(rows["ball_speed"], "m/s", None, ""),
        "CBD": mean_metric(rows["ball_distance"], "m", None, "", "lower"),
        "FBD": mean_metric(rows["foot_distance"], "m", None, "", "lower"),
    }


def dribble_protocol() -> DribbleProtocol:
    """The evaluation protocol of SportSuite-Dribble-v0."""
    return DribbleProtocol()
