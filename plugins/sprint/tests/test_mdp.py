"""The sprint's terms against values computed by hand."""

import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite_sprint.mdp import observations, rewards, terminations

HALF = math.sqrt(0.5)


class Scene(dict):
    """Stands in for a scene: the runner's data by name, and the origins of the worlds."""

    env_origins = torch.tensor([[100.0, 50.0, 0.0], [0.0, 0.0, 0.0], [0.0, 65.0, 0.0]])


@pytest.fixture
def env() -> SimpleNamespace:
    """Three runners: half-way and to the left of the middle; over the line facing left; walking back."""
    data = SimpleNamespace(
        root_link_pos_w=SimpleNamespace(torch=torch.tensor([[130.0, 50.5, 0.9], [60.0, -0.7, 0.9], [-0.3, 65.0, 0.9]])),
        root_link_quat_w=SimpleNamespace(
            torch=torch.tensor([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, HALF, HALF], [0.0, 0.0, 1.0, 0.0]])
        ),
        root_link_lin_vel_w=SimpleNamespace(torch=torch.tensor([[4.5, 1.0, 0.0], [12.0, 0.0, 0.0], [-2.0, 0.0, 0.0]])),
    )
    return SimpleNamespace(scene=Scene(robot=SimpleNamespace(data=data)))


def test_lane_state_holds_rest_offset_and_heading(env: SimpleNamespace) -> None:
    expected = torch.tensor([[0.5, 0.5, 1.0, 0.0], [0.0, -0.7, 0.0, 1.0], [1.005, 0.0, -1.0, 0.0]])
    torch.testing.assert_close(observations.lane_state(env, length=60.0), expected, atol=1e-5, rtol=0.0)


def test_speed_pays_linearly_up_to_the_reference_and_never_for_going_back(env: SimpleNamespace) -> None:
    assert rewards.root_speed_x_linear(env, reference=9.0).tolist() == [0.5, 1.0, 0.0]


def test_lane_pays_for_the_middle(env: SimpleNamespace) -> None:
    expected = torch.tensor([math.exp(-1.0), math.exp(-4.0 * 0.49), 1.0])
    torch.testing.assert_close(rewards.lane_offset_y_exp(env, scale=4.0), expected, atol=1e-4, rtol=0.0)


def test_the_finish_is_the_line_itself(env: SimpleNamespace) -> None:
    assert rewards.finish_line_crossed(env, length=60.0).tolist() == [0.0, 1.0, 0.0]
    assert terminations.finished(env, length=60.0).tolist() == [False, True, False]


def test_out_of_lane_counts_both_sides(env: SimpleNamespace) -> None:
    assert terminations.out_of_lane(env, half_width=0.61).tolist() == [False, True, False]
    assert terminations.out_of_lane(env, half_width=0.4).tolist() == [True, True, False]
