"""MySport's termination terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def root_left_area(env: SportEnv, radius: float) -> torch.Tensor:
    """The root is farther than ``radius`` [m] from the middle of its area. Shape is (num_envs,), bool."""
    offset = env.scene["robot"].data.root_link_pos_w.torch[:, :2] - env.scene.env_origins[:, :2]
    return offset.norm(dim=-1) > radius
