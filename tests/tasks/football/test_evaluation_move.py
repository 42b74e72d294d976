import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite.learning.policy import Policy
from sportsuite_tasks.football.evaluation.matching import MatchRule
from sportsuite_tasks.football.evaluation.move import MoveProtocol, move_metrics, move_protocol
from tests.tasks.football.goal_env import GoalEnv

STILL = Policy(lambda obs: torch.zeros(1))


def play(env):
    """World 0 goes as told and faces as told; world 1 goes as told and faces 90 degrees away."""
    env.root_velocity[:, :2] = env.goals.velocity_w
    env.goals.heading[1] = torch.tensor([0.0, 1.0])
    env.latents[:] = torch.tensor([3.0, 4.0])


def evaluate(goals, env, **settings):
    protocol = MoveProtocol(match=MatchRule(hold_steps=2), **settings)
    return protocol.run(env, STILL, goals, 0, lambda done, wanted: None)


def test_both_velocity_and_facing_have_to_match():
    metrics = evaluate(4, GoalEnv([1000, 1000], period=4, play=play))
    assert metrics["MGAR"].value == 50.0 and metrics["MGAR"].reference == pytest.approx(87.9)
    assert metrics["velocity_reached"].value == 100.0 and metrics["facing_reached"].value == 50.0
    # two steps of half a second
    assert metrics["time_to_goal"].value == 1.0
    assert metrics["facing_error"].value == pytest.approx(45.0)
    assert "GMLS" not in metrics


def test_figures_by_speed_have_the_goals_speeds():
    """Goal k is k m/s: 1 to 4 in order of the draws, matched by world 0 alone, which has 1 and 3."""
    metrics = evaluate(4, GoalEnv([1000, 1000], period=4, play=play))
    assert [metrics[f"MGAR {k}-{k + 1} m/s"].value for k in (1, 2, 3, 4)] == [100.0, 0.0, 100.0, 0.0]
    assert [metrics[f"speed {k}-{k + 1} m/s"].value for k in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, 4.0]


def test_the_cosine_with_the_goals_latent():
    env = GoalEnv([1000, 1000], period=4, play=play)
    env.goals.buffer = SimpleNamespace()
    env.goals.latent = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    metrics = evaluate(4, env)
    # (3, 4) / 5 against either axis
    assert metrics["GMLS"].value == pytest.approx(0.7) and metrics["GMLS"].reference == 0.62
    # the random goals come first, none of them from the file; then all are
    assert env.goals.cfg.degcl_fraction == 1.0
    assert "4 goals" in metrics["GMLS"].definition
    assert "2 goals" in evaluate(4, env, guided_goals=2)["GMLS"].definition


def test_metrics_by_hand():
    table = {
        "reached": torch.tensor([1.0, 0.0, 0.0, 1.0]),
        "velocity": torch.tensor([1.0, 1.0, 0.0, 1.0]),
        "facing": torch.tensor([1.0, 0.0, 1.0, 1.0]),
        "reach_s": torch.tensor([1.0, math.nan, math.nan, 2.0]),
        "error": torch.tensor([0.5, 1.5, 1.0, 1.0]),
        "facing_error": torch.tensor([10.0, 90.0, 20.0, 0.0]),
    }
    metrics = move_metrics(table, None, move_protocol())
    assert [metrics[name].value for name in ("MGAR", "velocity_reached", "facing_reached")] == [50.0, 75.0, 75.0]
    assert [metrics[name].value for name in ("time_to_goal", "velocity_error", "facing_error")] == [1.5, 1.0, 30.0]
    assert "20 % of the target speed or 0.5 m/s" in metrics["MGAR"].definition
    assert all(metric.definition for metric in metrics.values())
