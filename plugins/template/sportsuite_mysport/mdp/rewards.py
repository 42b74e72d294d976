"""MySport's reward terms. Weights are in the env cfg only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.mdp.rewards import exp_squared_distance

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def root_height_w_exp(env: SportEnv, target: float, scale: float = 10.0) -> torch.Tensor:
    """Keep the pelvis at a height: ``exp(-scale * (z - target)^2)``. Shape is (num_envs,), range (0, 1].

    Args:
        env: The environment.
        target: Wanted height of the root above the ground [m].
        scale: Sharpness [1/m^2].
    """
    height = env.scene["robot"].data.root_link_pos_w.torch[:, 2:3] - env.scene.env_origins[:, 2:3]
    return exp_squared_distance(height, torch.full_like(height, target), scale)
