"""Values of the shared rewards, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite.characters import spec
from sportsuite.mdp import rewards
from tests.mdp.stand_in import standing_env


def env_with_command(num_envs: int, direction: list[list[float]], speed: list[float], facing: list[float]):
    env = standing_env(num_envs)
    term = SimpleNamespace(direction_w=torch.tensor(direction), speed=torch.tensor(speed))
    seen = torch.stack((torch.tensor(facing), torch.zeros(num_envs), term.speed), dim=1)
    env.command_manager = SimpleNamespace(get_term=lambda name: term, get_command=lambda name: seen)
    return env


def test_exp_squared_distance() -> None:
    a, b = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 2.0], [0.3, 0.4]])
    assert rewards.exp_squared_distance(a, b, 2.0).tolist() == pytest.approx([1.0, math.exp(-0.5)])


def test_heading_velocity() -> None:
    direction = [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.6, 0.8]]
    env = env_with_command(4, direction, [2.0, 2.0, 0.0, 0.5], [1.0] * 4)
    velocity = torch.tensor([[0.0, 2.0, 3.0], [1.0, 2.0, 0.0], [0.3, 0.4, 0.0], [0.3, 0.9, 0.0]])
    env.scene["robot"].data.tensors["root_link_lin_vel_w"] = velocity
    # right; 1 m/s sideways of 2 m/s; moving where standing is wanted; slow speeds aren't divided by
    expected = [1.0, math.exp(-3.0 * 1.0 / 2.0), math.exp(-3.0 * 0.25), math.exp(-3.0 * 0.25)]
    assert rewards.heading_velocity(env, "heading", scale=3.0).tolist() == pytest.approx(expected)  # type: ignore


def test_heading_facing() -> None:
    env = env_with_command(3, [[1.0, 0.0]] * 3, [1.0] * 3, [0.7, -0.7, 0.0])
    assert rewards.heading_facing(env, "heading").tolist() == pytest.approx([0.85, 0.15, 0.5])  # type: ignore[arg-type]


def test_feet_stand_still() -> None:
    env = standing_env(3)
    data, foot = env.scene["robot"].data.tensors, spec.BODY_NAMES.index("left_foot")
    data["body_link_pos_w"][1:, foot, 2] = spec.SOLE_DROP["boot"]
    data["body_link_lin_vel_w"][:, foot, 0] = 0.5
    data["body_link_lin_vel_w"][2, foot, 0] = 0.0
    # in the air; on the ground at 0.5 m/s; on the ground at rest
    assert rewards.feet_stand_still(env, scale=4.0).tolist() == pytest.approx([1.0, math.exp(-2.0), 1.0])  # type: ignore
