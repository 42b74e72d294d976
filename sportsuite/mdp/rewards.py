"""Reward kernels that several sports share: pure tensor arithmetic, values in [0, 1] unless said otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.mdp import feet

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedRLEnv


def exp_squared_distance(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    """``exp(-scale * |a - b|^2)``.

    Args:
        a: Points or velocities. Shape is (N, D).
        b: Their targets. Shape is (N, D).
        scale: Sharpness [1/unit^2].

    Returns:
        One where both agree, towards zero where they are apart. Shape is (N,).
    """
    return torch.exp(-scale * (a - b).square().sum(dim=-1))


def heading_velocity(env: ManagerBasedRLEnv, command_name: str, scale: float = 1.0) -> torch.Tensor:
    """Move with the commanded speed and direction. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * |v - s* d*|^2 / max(1, s*))`` with the root's horizontal velocity v. AMP's and CALM's target heading
    reward takes the speed along d* alone with scale 0.25, or the sideways part with a tenth of the weight; the full
    vector and the division by the speed, which makes a relative error count alike at all speeds, are ours.
    """
    command = env.command_manager.get_term(command_name)
    velocity = env.scene["robot"].data.root_link_lin_vel_w.torch[:, :2]
    target = command.speed.unsqueeze(1) * command.direction_w
    return torch.exp(-scale * (velocity - target).square().sum(dim=1) / command.speed.clamp_min(1.0))


def heading_facing(env: ManagerBasedRLEnv, command_name: str) -> torch.Tensor:
    """Face the commanded direction: ``(1 + cos) / 2`` of the angle to it. Shape is (num_envs,), range [0, 1].

    AMP and CALM take ``max(0, cos)``, which says nothing to a character that looks away; the slope there is ours.
    """
    return 0.5 + 0.5 * env.command_manager.get_command(command_name)[:, 0]


def feet_stand_still(env: ManagerBasedRLEnv, scale: float = 4.0) -> torch.Tensor:
    """Feet that touch the ground stand still. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * v)`` with the mean horizontal speed v of the sole's touching corners (ours; motion priors see joints
    and key bodies, in which a slide of a few tenths of a metre per second hardly shows).
    """
    speed, _ = feet.slide_speed(*feet.sole_motion(env))
    return torch.exp(-scale * speed)
