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


def nts_error(
    target: torch.Tensor,
    value: torch.Tensor,
    eps: float = 1.0e-6,
    min_speed: float = 0.5,
    normalize: bool = True,
    speed_weight: float = 0.1,
) -> torch.Tensor:
    """Squared error of a velocity, normalised by the target speed (NTS of PhysicsFC).

    ``(|v - x| / (|v| + eps))^2 + 0.1 ((|v| - |x|) / (|v| + eps))^2`` for target v and value x.

    Args:
        target: Target velocities [m/s]. Shape is (N, D).
        value: Velocities [m/s]. Shape is (N, D).
        eps: Keeps the quotient finite [m/s] (ours; the text gives no value).
        min_speed: A slower target is normalised as if it were this fast [m/s] (ours: the range begins at 0, where any
            motion at all would be an infinite error).
        normalize: Whether to divide (False: the text's ablation without NTS).
        speed_weight: Weight of the second part (0 leaves it out).

    Returns:
        Shape is (N,), not negative.
    """
    speed = target.norm(dim=1)
    scale = speed.clamp_min(min_speed) + eps if normalize else torch.ones_like(speed)
    direct = ((target - value).norm(dim=1) / scale).square()
    return direct + speed_weight * ((speed - value.norm(dim=1)) / scale).square()


def ball_velocity_match(
    env: SportEnv, command_name: str, scale: float = 10.0, eps: float = 1.0e-6, normalize: bool = True
) -> torch.Tensor:
    """The ball rolls as asked. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * E(v_hat, v_ball))`` with the horizontal velocity and :func:`nts_error` (PhysicsFC, Dribble, scale
    10). Where a foot is asked for, zero while another part has touched the ball last.
    """
    command = env.command_manager.get_term(command_name)
    velocity = env.scene["ball"].data.root_link_lin_vel_w.torch[:, :2]
    value = torch.exp(-scale * nts_error(command.velocity_w, velocity, eps, normalize=normalize))
    return value if command.foot is None else value * command.foot.kept


def ball_along_goal(env: SportEnv, command_name: str, slowest: float = 0.5) -> torch.Tensor:
    """The ball moves the way it shall (ours, off). Shape is (num_envs,), range [-1, 1].

    The ball's speed along the goal over the target speed, at most 1. What :func:`ball_velocity_match` pays for a ball
    at rest and for one that was hit too hard is the same, so that a beginner learns to keep off the ball; this pays
    more for every ball that was hit the right way.
    """
    command = env.command_manager.get_term(command_name)
    velocity = env.scene["ball"].data.root_link_lin_vel_w.torch[:, :2]
    speed = command.velocity_w.norm(dim=1).clamp_min(slowest)
    return ((velocity * command.velocity_w).sum(dim=1) / speed.square()).clamp(-1.0, 1.0)


def ball_root_distance(env: SportEnv, scale: float = 10.0) -> torch.Tensor:
    """Keep the ball below the pelvis: ``exp(-scale * |x_ball - x_root|^2)``, horizontally (PhysicsFC, Dribble).

    Shape is (num_envs,), range [0, 1].
    """
    ball, root = (env.scene[name].data.root_link_pos_w.torch[:, :2] for name in ("ball", "robot"))
    return exp_squared_distance(ball, root, scale)


def run_to_ball(
    env: SportEnv, command_name: str, scale: float = 10.0, eps: float = 1.0e-6, normalize: bool = True
) -> torch.Tensor:
    """Run towards the ball with the target's speed. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * E(|v_hat| d, v_root))`` with the horizontal direction d from root to ball and :func:`nts_error`
    (PhysicsFC, Dribble, scale 10).
    """
    command = env.command_manager.get_term(command_name)
    robot, ball = env.scene["robot"].data, env.scene["ball"].data
    offset = (ball.root_link_pos_w.torch - robot.root_link_pos_w.torch)[:, :2]
    direction = torch.nn.functional.normalize(offset, dim=1)
    target = command.velocity_w.norm(dim=1, keepdim=True) * direction
    return torch.exp(-scale * nts_error(target, robot.root_link_lin_vel_w.torch[:, :2], eps, normalize=normalize))


def root_velocity_match(
    env: SportEnv, command_name: str, scale: float = 0.25, eps: float = 1.0e-6, normalize: bool = True
) -> torch.Tensor:
    """Move as asked. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * E(v_target, v_root))`` with :func:`nts_error` (PhysicsFC, Move, scale 0.25), times the share of the
    task in a DEGCL episode.
    """
    command = env.command_manager.get_term(command_name)
    velocity = env.scene["robot"].data.root_link_lin_vel_w.torch[:, :2]
    value = torch.exp(-scale * nts_error(command.velocity_w, velocity, eps, normalize=normalize))
    return value * command.task_share


def facing_match(env: SportEnv, command_name: str) -> torch.Tensor:
    """Face as asked: ``d_target . d_root`` (PhysicsFC, Move; no clamp), times the share of the task in a DEGCL episode.

    Shape is (num_envs,), range [-1, 1].
    """
    command = env.command_manager.get_term(command_name)
    return (command.facing_w * command.heading).sum(dim=1) * command.task_share


def latent_similarity(env: SportEnv, command_name: str, action_name: str = "latent") -> torch.Tensor:
    """Give the latent of the clip that shows the goal: ``z_ref . z`` in a DEGCL episode, else 0 (PhysicsFC).

    Comes with its weight of 0.5, as the task's rewards come with theirs. Shape is (num_envs,), range [-0.5, 0.5].
    """
    command = env.command_manager.get_term(command_name)
    latent = env.action_manager.get_term(action_name).processed_actions
    return (command.latent * latent).sum(dim=1) * (1.0 - command.task_share)


def kicked_ball_velocity(
    env: SportEnv, command_name: str, scale: float = 1.0, eps: float = 1.0e-6, normalize: bool = True
) -> torch.Tensor:
    """The kicked ball flies as asked. Shape is (num_envs,), range [0, 1].

    ``exp(-scale * (|v_hat - v_ball| / (|v_hat| + eps))^2)`` for 1/3 s after the first contact, else 0 (PhysicsFC).
    The summary of the text at hand prints scale 1, a transcription 10. Without NTS the error isn't divided. Where a
    foot is asked for, zero if another part made the first contact.
    """
    command = env.command_manager.get_term(command_name)
    command.measure()
    velocity = env.scene["ball"].data.root_link_lin_vel_w.torch
    error = nts_error(command.velocity_w, velocity, eps, normalize=normalize, speed_weight=0.0)
    value = torch.exp(-scale * error) * command.in_window
    return value if command.foot is None else value * command.foot.kept


def foot_towards_ball(
    env: SportEnv, command_name: str, asset_cfg: SceneEntityCfg, limit: float = 3.0, behind: float = 0.0
) -> torch.Tensor:
    """Bring a foot to the ball, until the first contact (ours, off) [m/s]. Shape is (num_envs,).

    The speed at which the nearest listed body and the ball approach each other, negative where they part, within
    ``limit``. Over time that adds up to the distance gained, so that waiting near the ball earns nothing. The text's
    Kick pays nothing before the contact; it starts from states in which the ball is at the foot. ``behind`` [m] moves
    the point to come to against the target's horizontal direction: to where a foot can drive the ball that way.
    """
    command = env.command_manager.get_term(command_name)
    data, ball = env.scene[asset_cfg.name].data, env.scene["ball"].data
    point = ball.root_link_pos_w.torch - behind * torch.nn.functional.pad(command.aim_w, (0, 1))
    offset = point.unsqueeze(1) - data.body_com_pos_w.torch[:, asset_cfg.body_ids]
    velocity = data.body_com_lin_vel_w.torch[:, asset_cfg.body_ids] - ball.root_link_lin_vel_w.torch.unsqueeze(1)
    distance = offset.norm(dim=-1)
    closing = (velocity * offset).sum(dim=-1) / distance.clamp_min(1e-3)
    nearest = closing.gather(1, distance.argmin(dim=1, keepdim=True)).squeeze(1)
    return nearest.clamp(-limit, limit) * (command.first_touch.refresh().steps_since < 0)


def pass_into_zone(env: SportEnv, command_name: str, tolerance: float = 0.2) -> torch.Tensor:
    """Pass the ball into the zone (ours). Shape is (num_envs,), range [0, 1].

    ``exp(-(m / (tolerance D))^2)`` for 1/3 s after the first contact, else 0, with the miss m [m], how far from the
    zone's rim the ball will come down or roll by, and the distance D from the player to the zone's centre: a relative
    error, like NTS. Where a foot is asked for, zero if another part made the contact.
    """
    command = env.command_manager.get_term(command_name)
    command.measure()
    root = env.scene["robot"].data.root_link_pos_w.torch[:, :2]
    distance = (command.centre_w - root).norm(dim=1).clamp_min(1.0)
    miss = command.predicted_miss() / (tolerance * distance)
    value = torch.exp(-miss.square()) * command.in_window
    return value if command.foot is None else value * command.foot.kept
