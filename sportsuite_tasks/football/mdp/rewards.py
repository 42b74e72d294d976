"""Football's reward terms, one function per term of the texts; weights are in the environment configs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import SceneEntityCfg

from sportsuite.mdp.rewards import exp_squared_distance
from sportsuite_tasks.football.projectile import GRAVITY, flight_time

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


def distance_to_flight_path(
    bodies: torch.Tensor, ball_pos: torch.Tensor, ball_vel: torch.Tensor, radius: float, samples: int = 16
) -> torch.Tensor:
    """Smallest distance between any body and the rest of the ball's flight, down to its next landing.

    Args:
        bodies: Positions of B bodies, heights above the ground [m]. Shape is (N, B, 3).
        ball_pos: Ball position [m]. Shape is (N, 3).
        ball_vel: Ball velocity [m/s]. Shape is (N, 3).
        radius: Radius of the ball [m].
        samples: Points of the path that are looked at; between them it counts as straight.

    Returns:
        Distance [m]. Shape is (N,).
    """
    landing = flight_time(ball_vel[:, 2], (ball_pos[:, 2] - radius).clamp_min(0.0))
    share = torch.linspace(0.0, 1.0, samples, device=ball_pos.device)
    time = landing.unsqueeze(1) * share
    path = ball_pos.unsqueeze(1) + ball_vel.unsqueeze(1) * time.unsqueeze(-1)
    path[..., 2] -= 0.5 * GRAVITY * time.square()
    start, leg = path[:, :-1], path[:, 1:] - path[:, :-1]
    offset = bodies.unsqueeze(2) - start.unsqueeze(1)
    along = (offset * leg.unsqueeze(1)).sum(-1) / leg.square().sum(-1).clamp_min(1e-9).unsqueeze(1)
    nearest = offset - along.clamp(0.0, 1.0).unsqueeze(-1) * leg.unsqueeze(1)
    return nearest.norm(dim=-1).flatten(1).min(dim=1).values


def meet_flight_path(env: SportEnv, command_name: str, asset_cfg: SceneEntityCfg, scale: float = 4.0) -> torch.Tensor:
    """Be where the ball will come by before it lands (ours). Shape is (num_envs,), range [0, 1].

    ``exp(-scale * d^2)`` with the distance ``d`` of the nearest listed body to the rest of the flight, until the first
    contact or bounce. The text's reward pays within half a metre of the ball, which is two steps of a pass: enough for
    billions of samples, too little for a laptop. Off by default.
    """
    touch = env.command_manager.get_term(command_name).first_touch.refresh()
    robot, ball = env.scene[asset_cfg.name].data, env.scene["ball"].data
    origins = env.scene.env_origins
    distance = distance_to_flight_path(
        robot.body_com_pos_w.torch[:, asset_cfg.body_ids] - origins.unsqueeze(1),
        ball.root_link_pos_w.torch - origins,
        ball.root_link_lin_vel_w.torch,
        env.cfg.ball.radius,
    )
    return torch.exp(-scale * distance.square()) * (~touch.touched & ~touch.bounced)


def first_touch_bonus(env: SportEnv, command_name: str) -> torch.Tensor:
    """One in the step of a first contact before the ball has bounced and without hand or arm (ours), else 0.

    What the success rate counts, without hand balls. Off by default. Shape is (num_envs,).
    """
    command = env.command_manager.get_term(command_name)
    outcome = command.outcome(slice(None))
    now = command.first_touch.steps_since == 0
    return (now & outcome["success"] & ~outcome["hand"]).float()
