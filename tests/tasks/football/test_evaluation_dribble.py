import math

import pytest
import torch

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.learning.policy import Policy
from sportsuite.mdp import feet
from sportsuite_tasks.football.evaluation.dribble import (
    DribbleProtocol,
    dribble_metrics,
    dribble_protocol,
    nearest_distance,
    touch_downs,
)
from sportsuite_tasks.football.evaluation.matching import MatchRule
from tests.tasks.football.goal_env import GoalEnv

STILL = Policy(lambda obs: torch.zeros(1))


def test_a_foot_comes_down_when_it_was_up_before():
    before = torch.tensor([[True, False], [True, True], [False, False], [True, False]])
    now = torch.tensor([[True, True], [True, True], [False, True], [False, False]])
    assert touch_downs(now, before).tolist() == [True, False, True, False]


def test_distance_to_the_nearer_foot():
    points = torch.tensor([[[3.0, 4.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 0.0, 1.0], [9.0, 0.0, 0.0]]])
    assert nearest_distance(points, torch.zeros(2, 3)).tolist() == [2.0, 1.0]


@pytest.fixture
def steps_of_the_left_foot(monkeypatch):
    """The right foot stands; the left one is up in odd steps of an episode and comes down in even ones."""

    def sole_motion(env, asset_name="robot", foot="boot"):
        height = torch.zeros(env.num_envs, 2, 4)
        height[env.age % 2 == 1, 1] = 0.1
        return height, torch.zeros_like(height)

    monkeypatch.setattr(feet, "sole_motion", sole_motion)


def play(env):
    """The ball runs as told, 3 m/s too fast in world 1; 0.5 m ahead of the root and 0.2 m of the left foot."""
    env.ball_velocity[:, :2] = env.goals.velocity_w
    env.ball_velocity[1, 1] = 3.0
    env.root_velocity[:] = torch.tensor([0.0, 2.0, 0.3])
    env.ball[:] = torch.tensor([0.3, 0.4, 0.11])
    env.bodies[:] = 10.0
    # while a foot is up it is somewhere else
    env.bodies[env.age % 2 == 0, BODY_NAMES.index("left_foot")] = torch.tensor([0.3, 0.2, 0.11])


@pytest.mark.usefixtures("steps_of_the_left_foot")
def test_protocol_by_hand():
    env = GoalEnv([1000, 1000], period=4, play=play, name="dribble")
    protocol = DribbleProtocol(match=MatchRule(hold_steps=3), goal_s=2.0, long_goal_s=4.0, long_share=0.5)
    metrics = protocol.run(env, STILL, 4, 0, lambda done, wanted: None)
    assert metrics["CBD"].value == pytest.approx(0.5) and metrics["CBD"].reference == 0.77
    assert metrics["FBD"].value == pytest.approx(0.2) and metrics["FBD"].reference == 0.60
    assert metrics["CS"].value == pytest.approx(2.0)
    assert metrics["DGAR"].value == 50.0 and metrics["DGAR30"].value == 50.0
    assert metrics["time_to_goal"].value == 1.5 and metrics["goal_length"].value == 2.0
    assert [metrics[f"DGAR {k}-{k + 1} m/s"].value for k in (1, 2, 3, 4)] == [100.0, 0.0, 100.0, 0.0]
    assert metrics["ball_speed 3-4 m/s"].value == 3.0
    assert metrics["ball_speed 4-5 m/s"].value == 5.0  # 4 ahead and 3 aside


@pytest.mark.usefixtures("steps_of_the_left_foot")
def test_a_long_goal_that_is_reached_makes_way():
    env = GoalEnv([1000, 1000], period=4, play=play, name="dribble")
    protocol = DribbleProtocol(match=MatchRule(hold_steps=3), goal_s=2.0, long_goal_s=50.0, long_share=1.0)
    steps = []
    step = env.step
    env.step = lambda action: (steps.append(len(steps)), step(action))[1]
    protocol.run(env, STILL, 2, 0, lambda done, wanted: None)
    # 4 steps of the short goals, then 100 of the goal that world 1 never reaches
    assert len(steps) == 104 and env.goals.drawn > 20


def test_metrics_by_hand():
    table = {
        "reached": torch.tensor([1.0, 0.0, 1.0, 0.0]),
        "reach_s": torch.tensor([1.0, math.nan, 2.0, math.nan]),
        "ball_distance": torch.tensor([0.5, 1.5, 0.6, 1.0]),
        "foot_distance": torch.tensor([0.4, math.nan, 0.6, 0.8]),
        "speed": torch.tensor([1.0, 2.0, 3.0, 4.0]),
        "seconds": torch.tensor([5.0, 1.0, 5.0, 5.0]),
    }
    metrics = dribble_metrics(table, None, dribble_protocol())
    assert [metrics[name].value for name in ("CBD", "FBD", "DGAR", "CS")] == pytest.approx([0.9, 0.6, 50.0, 2.5])
    assert metrics["time_to_goal"].value == 1.5 and metrics["goal_length"].value == 4.0
    assert "DGAR30" not in metrics and all(metric.definition for metric in metrics.values())
    patient = {"reached": torch.tensor([1.0, 1.0, 0.0])}
    assert dribble_metrics(table, patient, dribble_protocol())["DGAR30"].value == pytest.approx(200 / 3)


def test_the_text_asks_for_1004_goals_of_five_seconds():
    protocol = dribble_protocol()
    assert (protocol.default_episodes, protocol.goal_s) == (1004, 5.0)
