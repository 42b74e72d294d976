"""MySport's terms against values computed by hand."""

import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite_mysport.mdp.rewards import root_height_w_exp
from sportsuite_mysport.mdp.terminations import root_left_area


class Scene(dict):
    """Stands in for a scene: the character's data by name, and the origins of the worlds."""

    env_origins = torch.tensor([[10.0, 0.0, 0.0], [0.0, 0.0, 2.0]])


@pytest.fixture
def env() -> SimpleNamespace:
    position = SimpleNamespace(torch=torch.tensor([[10.0, 3.0, 0.85], [0.0, 1.0, 2.75]]))
    return SimpleNamespace(scene=Scene(robot=SimpleNamespace(data=SimpleNamespace(root_link_pos_w=position))))


def test_height_is_paid_fully_at_the_target_and_measured_from_the_worlds_ground(env: SimpleNamespace) -> None:
    value = root_height_w_exp(env, target=0.85, scale=10.0)
    torch.testing.assert_close(value, torch.tensor([1.0, math.exp(-10.0 * 0.1**2)]))


def test_leaving_the_area_is_measured_from_its_middle(env: SimpleNamespace) -> None:
    assert root_left_area(env, radius=2.0).tolist() == [True, False]
