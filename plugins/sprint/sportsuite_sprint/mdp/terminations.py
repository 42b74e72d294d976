"""The sprint's termination terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite_sprint.mdp.observations import root_in_lane

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def finished(env: SportEnv, length: float) -> torch.Tensor:
    """The root has crossed the finish line, ``length`` [m] from the start line. Shape is (num_envs,), bool."""
    return root_in_lane(env)[:, 0] >= length


def out_of_lane(env: SportEnv, half_width: float) -> torch.Tensor:
    """The root is farther than ``half_width`` [m] from the middle of the lane. Shape is (num_envs,), bool."""
    return root_in_lane(env)[:, 1].abs() > half_width
