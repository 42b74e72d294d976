"""Terms of eleven against eleven."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def places(env: SportEnv, players: tuple[str, ...]) -> torch.Tensor:
    """Horizontal positions of the ball and of all players [m]. Shape is (num_envs, 2 + 2 players)."""
    things = [env.scene["ball"], *(env.scene[name] for name in players)]
    origins = env.scene.env_origins[:, :2]
    return torch.cat([thing.data.root_link_pos_w.torch[:, :2] - origins for thing in things], dim=1)


def standing(env: SportEnv, players: tuple[str, ...], height: float = 0.6) -> torch.Tensor:
    """Share of the players whose root is above a height [m] (ours). Shape is (num_envs,)."""
    ground = env.scene.env_origins[:, 2]
    up = [env.scene[name].data.root_link_pos_w.torch[:, 2] - ground > height for name in players]
    return torch.stack(up, dim=1).float().mean(dim=1)
