"""Football's reward terms, one function per term of the texts; weights are in the environment configs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.mdp.rewards import exp_squared_distance

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def trap_before(env: SportEnv, command_name: str, scale: float = 10.0) -> torch.Tensor:
    """Bring the chosen body part to the ball, until the first contact. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * |x_ball - x_body|^2)`` while t <= t_c, else 0 (PhysicsFC, first phase of the trap reward, scale 10).
    ``x_body`` is the body's centre of mass: its origin is a joint, for the foot the ankle (ours).
    """
    command = env.command_manager.get_term(command_name)
    bodies = env.scene["robot"].data.body_com_pos_w.torch
    target = bodies[torch.arange(env.num_envs, device=env.device), command.target_body]
    value = exp_squared_distance(env.scene["ball"].data.root_link_pos_w.torch, target, scale)
    return value * (command.first_touch.refresh().steps_since <= 0)


def trap_after(env: SportEnv, command_name: str, scale: float = 10.0) -> torch.Tensor:
    """Take the ball's speed, for a moment after the first contact. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * |v_ball - v_root|^2)`` while t_c < t <= t_c + window, else 0 (PhysicsFC, second phase, scale 10, 1/6
    s).
    """
    command = env.command_manager.get_term(command_name)
    ball = env.scene["ball"].data.root_link_lin_vel_w.torch
    root = env.scene["robot"].data.root_link_lin_vel_w.torch
    steps = command.first_touch.refresh().steps_since
    inside = (steps > 0) & (steps <= round(command.cfg.window_s / env.step_dt))
    return exp_squared_distance(ball, root, scale) * inside
