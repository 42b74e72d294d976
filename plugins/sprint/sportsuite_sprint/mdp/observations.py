"""The sprint's observation terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.mdp.frames import heading_from_quat

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def root_in_lane(env: SportEnv) -> torch.Tensor:
    """Root position from the start line [m]: along the lane, across it, above it. Shape is (num_envs, 3)."""
    return env.scene["robot"].data.root_link_pos_w.torch - env.scene.env_origins


def lane_features(position: torch.Tensor, quat_w: torch.Tensor, length: float) -> torch.Tensor:
    """What a runner has to know of the lane.

    Args:
        position: Root in the frame of the lane [m]. Shape is (N, 3).
        quat_w: Orientation of the root, xyzw. Shape is (N, 4).
        length: Distance from the start line to the finish line [m].

    Returns:
        Remaining share of the distance (1 at the start, 0 at the finish), offset from the middle of the lane [m],
        cosine and sine of the heading against the lane. Shape is (N, 4).
    """
    remaining = 1.0 - position[:, :1] / length
    return torch.cat((remaining, position[:, 1:2], heading_from_quat(quat_w)), dim=1)


def lane_state(env: SportEnv, length: float) -> torch.Tensor:
    """What a runner has to know of the lane; see :func:`lane_features`. Shape is (num_envs, 4)."""
    return lane_features(root_in_lane(env), env.scene["robot"].data.root_link_quat_w.torch, length)
