"""Football's termination terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.characters.spec import ARMS

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def hand_ball(env: SportEnv, bodies: tuple[str, ...] = ARMS) -> torch.Tensor:
    """The ball touches a hand, forearm or upper arm (PhysicsFC's early termination). Shape is (num_envs,), bool."""
    slots = [env.touch.body_names.index(name) for name in bodies]
    return (env.touch.impulse[:, slots] > 0.0).any(dim=1)


def trap_over(env: SportEnv, command_name: str) -> torch.Tensor:
    """The window after the first contact has passed: nothing more can be earned. Shape is (num_envs,), bool.

    PhysicsFC does not say what happens then; ending here is ours and saves samples.
    """
    command = env.command_manager.get_term(command_name)
    return command.first_touch.refresh().steps_since >= round(command.cfg.window_s / env.step_dt)


def ball_passed(
    root_pos: torch.Tensor, ball_pos: torch.Tensor, root_vel: torch.Tensor, ball_vel: torch.Tensor, distance: float
) -> torch.Tensor:
    """Whether a ball is farther than ``distance`` [m] and moving away, both horizontally.

    Args:
        root_pos: Root position [m]. Shape is (N, 2).
        ball_pos: Ball position [m]. Shape is (N, 2).
        root_vel: Root velocity [m/s]. Shape is (N, 2).
        ball_vel: Ball velocity [m/s]. Shape is (N, 2).
        distance: How far is too far [m].

    Returns:
        Shape is (N,), bool.
    """
    offset = ball_pos - root_pos
    receding = ((ball_vel - root_vel) * offset).sum(dim=-1) > 0.0
    return receding & (offset.norm(dim=-1) > distance)


def ball_missed(env: SportEnv, command_name: str, distance: float = 3.0) -> torch.Tensor:
    """The pass went by untouched (ours; saves samples). Shape is (num_envs,), bool."""
    robot, ball = env.scene["robot"].data, env.scene["ball"].data
    passed = ball_passed(
        robot.root_link_pos_w.torch[:, :2],
        ball.root_link_pos_w.torch[:, :2],
        robot.root_link_lin_vel_w.torch[:, :2],
        ball.root_link_lin_vel_w.torch[:, :2],
        distance,
    )
    return passed & ~env.command_manager.get_term(command_name).first_touch.refresh().touched


def ball_too_far(env: SportEnv, distance: float = 3.0) -> torch.Tensor:
    """The ball is farther than ``distance`` [m] from the root, horizontally (PhysicsFC, Dribble). (num_envs,), bool."""
    ball, root = (env.scene[name].data.root_link_pos_w.torch[:, :2] for name in ("ball", "robot"))
    return (ball - root).norm(dim=1) > distance


def kick_over(env: SportEnv, command_name: str) -> torch.Tensor:
    """The window after the contact has passed: nothing more can be earned (ours). Shape is (num_envs,), bool."""
    command = env.command_manager.get_term(command_name)
    return command.first_touch.refresh().steps_since >= round(command.cfg.window_s / env.step_dt)


def ball_lost_before_kick(env: SportEnv, command_name: str, distance: float = 3.0) -> torch.Tensor:
    """The untouched ball is farther than ``distance`` [m] from the root (ours). Shape is (num_envs,), bool."""
    touched = env.command_manager.get_term(command_name).first_touch.refresh().touched
    return ball_too_far(env, distance) & ~touched
