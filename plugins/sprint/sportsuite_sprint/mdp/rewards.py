"""The sprint's reward terms. Weights are in the env cfg only; no text gives formulas, these are ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite_sprint.mdp.observations import root_in_lane

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def root_speed_x_linear(env: SportEnv, reference: float) -> torch.Tensor:
    """Run towards the finish: ``clip(v_x / reference, 0, 1)``. Shape is (num_envs,), range [0, 1].

    Args:
        env: The environment.
        reference: Speed that is paid in full [m/s].
    """
    return (env.scene["robot"].data.root_link_lin_vel_w.torch[:, 0] / reference).clamp(0.0, 1.0)


def lane_offset_y_exp(env: SportEnv, scale: float) -> torch.Tensor:
    """Keep to the middle of the lane: ``exp(-scale * y^2)``. Shape is (num_envs,), range (0, 1].

    Args:
        env: The environment.
        scale: Sharpness [1/m^2].
    """
    return torch.exp(-scale * root_in_lane(env)[:, 1].square())


def finish_line_crossed(env: SportEnv, length: float) -> torch.Tensor:
    """Reach the finish: 1 in the step in which the root crosses the line, else 0. Shape is (num_envs,).

    Once only, because the episode ends there (:func:`sportsuite_sprint.mdp.terminations.finished`).

    Args:
        env: The environment.
        length: Distance from the start line to the finish line [m].
    """
    return (root_in_lane(env)[:, 0] >= length).float()
