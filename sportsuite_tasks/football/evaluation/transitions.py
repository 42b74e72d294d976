"""How well skills take over from each other: PhysicsFC's table of switches, played under the state machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from isaaclab.managers import TerminationTermCfg

from sportsuite.errors import unknown_name
from sportsuite.evaluation.protocol import Metric, mean_metric
from sportsuite.evaluation.rollout import run_episodes
from sportsuite.learning.policy import zero_policy
from sportsuite_tasks.football.evaluation.kick import DEFINITIONS
from sportsuite_tasks.football.evaluation.matching import MatchRule, share
from sportsuite_tasks.football.evaluation.trials import SCENARIOS, TrialSettings, TrialUserCfg, trial_over

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy

__all__ = ["TEXT", "TEXT_WITHOUT_STI", "TransitionProtocol", "transition_metrics", "transition_protocol"]

TEXT: dict[str, dict[str, float]] = {
    "trap_to_dribble": {"TADG": 2.71, "DGAR30": 94.0},
    "move_to_dribble": {"TADG": 1.51, "DGAR30": 88.7},
    "move_to_trap": {"TSR": 74.1, "RBSPT": 4.85},
    "dribble_to_kick": {"KSR": 100.0, "TTK": 2.99, "KDD": 16.9, "KSD": 5.81},
}
"""The text's figures, with state buffers (STI): seconds, percent, m/s and degrees."""

TEXT_WITHOUT_STI: dict[str, dict[str, float]] = {
    "trap_to_dribble": {"TADG": 3.54, "DGAR30": 92.2},
    "move_to_dribble": {"TADG": 2.80, "DGAR30": 88.6},
    "move_to_trap": {"TSR": 55.1, "RBSPT": 5.12},
    "dribble_to_kick": {"KSR": 16.95, "TTK": 3.35, "KDD": 37.41, "KSD": 7.21},
}
"""The text's figures without them."""


class TrialProbe:
    """Reads the outcome of each trial when its episode ends."""

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Nothing: the user keeps count."""

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Outcomes of the trials that end now, see :meth:`TrialUser.outcome`."""
        return env.command_manager.get_term("user").outcome(ids)


def transition_metrics(
    scenario: str, table: Mapping[str, torch.Tensor], rule: MatchRule, limit_s: float
) -> dict[str, Metric]:
    """PhysicsFC's figures of one switch.

    Args:
        scenario: One of :data:`~sportsuite_tasks.football.evaluation.trials.SCENARIOS`.
        table: Per trial ``switched`` (0 or 1) and the scenario's columns, see
            :meth:`~sportsuite_tasks.football.evaluation.trials.TrialUser.outcome`, each of shape (trials,).
        rule: When a dribble goal counts as reached.
        limit_s: How long it may take [s].

    Returns:
        By ``"SCENARIO.NAME"``: the number of switches, and figures over those.
    """
    switched = table["switched"] > 0.5
    rows = {name: column[switched] for name, column in table.items()}
    count = Metric(float(switched.sum()), "1", 1000.0, f"switches that happened in {len(switched)} trials", "higher")
    target = SCENARIOS[scenario][1]
    if target == "dribble":
        figures = _dribble_figures(rows, TEXT[scenario], rule, limit_s)
    elif target == "trap":
        figures = _trap_figures(rows, TEXT[scenario])
    else:
        figures = _kick_figures(rows, TEXT[scenario])
    return {f"{scenario}.{name}": metric for name, metric in ({"switches": count} | figures).items()}


def _dribble_figures(
    rows: Mapping[str, torch.Tensor], text: Mapping[str, float], rule: MatchRule, limit_s: float
) -> dict[str, Metric]:
    goal = f"the ball's horizontal velocity matches a new random goal ({rule.described()})"
    return {
        "TADG": mean_metric(
            rows["reach_s"],
            "s",
            text["TADG"],
            f"time from the switch until {goal}, mean over the goals reached",
            "lower",
        ),
        "DGAR30": share(rows["reached"], text["DGAR30"], f"share of switches after which {goal} within {limit_s:g} s"),
    }


def _trap_figures(rows: Mapping[str, torch.Tensor], text: Mapping[str, float]) -> dict[str, Metric]:
    success = rows["success"] > 0.5
    speed = rows["relative_speed"][success]
    return {
        "TSR": share(
            success, text["TSR"], "share of switches after which the lob is touched before it hits the ground"
        ),
        "RBSPT": mean_metric(
            speed,
            "m/s",
            text["RBSPT"],
            "ball speed against the root 1/6 s after that touch, mean over the successes",
            "lower",
        ),
    }


def _kick_figures(rows: Mapping[str, torch.Tensor], text: Mapping[str, float]) -> dict[str, Metric]:
    ksr = "share of switches after which the character touches the ball while Kick plays"
    return {
        "KSR": share(rows["touched"], text["KSR"], ksr),
        "TTK": mean_metric(rows["seconds"], "s", text["TTK"], DEFINITIONS["TTK"], "lower"),
        "KDD": mean_metric(rows["direction_error_deg"], "deg", text["KDD"], DEFINITIONS["KDD"], "lower"),
        "KSD": mean_metric(rows["speed_error"], "m/s", text["KSD"], DEFINITIONS["KSD"], "lower"),
    }


@dataclass
class TransitionProtocol:
    """Trials of the four switches that PhysicsFC measures, 1000 each, one switch per trial."""

    match: MatchRule = field(default_factory=MatchRule)
    """When a dribble goal counts as reached (ours)."""
    trials: TrialSettings = field(default_factory=TrialSettings)
    """What leads up to a switch, and the limits of time."""
    scenarios: list[str] = field(default_factory=lambda: list(SCENARIOS))
    """Which switches are tried."""

    name = "transitions"
    default_episodes = 1000

    def configure(self, env_cfg: Any) -> None:
        """Have the trials' user command, and end an episode with its trial."""
        env_cfg.commands.user = TrialUserCfg(settings=self.trials)
        env_cfg.terminations.trial_over = TerminationTermCfg(func=trial_over)
        env_cfg.events.feed = None
        # the trials' own limits of time come first
        env_cfg.episode_length_s = 600.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Play ``episodes`` trials of each switch, see :class:`sportsuite.evaluation.protocol.EvaluationProtocol`."""
        user = env.command_manager.get_term("user")
        for scenario in self.scenarios:
            if scenario not in SCENARIOS:
                raise unknown_name("scenario", scenario, SCENARIOS)
        metrics: dict[str, Metric] = {}
        for number, scenario in enumerate(self.scenarios):
            user.choose(scenario, self.match)
            table = run_episodes(env, zero_policy(env), episodes, seed + number, TrialProbe(), progress)
            metrics |= transition_metrics(scenario, table, self.match, self.trials.goal_limit_s)
        return metrics


def transition_protocol() -> TransitionProtocol:
    """The evaluation protocol of SportSuite-Football-v0."""
    return TransitionProtocol()
