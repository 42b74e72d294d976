"""Football's event terms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.mdp.events import world_indices
from sportsuite.mdp.frames import heading_from_quat
from sportsuite_tasks.football.projectile import lob_state, sector_points

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def _uniform(bounds: tuple[float, float], like: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(like).uniform_(*bounds)


def pass_targets(root_pos: torch.Tensor, root_quat: torch.Tensor, radius: float, half_angle: float) -> torch.Tensor:
    """Landing points in front of the character.

    Args:
        root_pos: Root position [m]. Shape is (N, 3).
        root_quat: Root orientation, xyzw. Shape is (N, 4).
        radius: Reach [m].
        half_angle: Half opening around the heading [rad].

    Returns:
        Horizontal points in the frame of ``root_pos`` [m]. Shape is (N, 2).
    """
    local = sector_points(len(root_pos), radius, half_angle, root_pos.device)
    heading = heading_from_quat(root_quat)
    turned = torch.stack(
        (
            heading[:, 0] * local[:, 0] - heading[:, 1] * local[:, 1],
            heading[:, 1] * local[:, 0] + heading[:, 0] * local[:, 1],
        ),
        dim=-1,
    )
    return root_pos[:, :2] + turned


def ground_pass_state(
    target: torch.Tensor,
    direction: torch.Tensor,
    speed: torch.Tensor,
    elevation: torch.Tensor,
    distance: torch.Tensor,
    radius: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Start of a pass along the ground, aimed at ``target`` from ``distance`` [m] away; it may bounce on its way.

    Returns:
        Position (N, 3) and velocity (N, 3).
    """
    start = target - direction * distance.unsqueeze(-1)
    position = torch.cat((start, torch.full_like(start[:, :1], radius)), dim=-1)
    velocity = torch.cat((direction * elevation.cos().unsqueeze(-1), elevation.sin().unsqueeze(-1)), dim=-1)
    return position, velocity * speed.unsqueeze(-1)


def _unsolved_lob(
    velocity: torch.Tensor, target: torch.Tensor, direction: torch.Tensor, distance: torch.Tensor, radius: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Start of a lob at a distance that has nothing to do with its launch: position (N, 3) and velocity (N, 3)."""
    start = target - direction * distance.unsqueeze(-1)
    return torch.cat((start, torch.full_like(start[:, :1], radius)), dim=-1), velocity


def reset_ball_pass(
    env: SportEnv,
    env_ids: torch.Tensor | slice | None,
    ground_fraction: float = 0.0,
    lob_speed: tuple[float, float] = (10.0, 30.0),
    lob_elevation_deg: tuple[float, float] = (10.0, 45.0),
    ground_speed: tuple[float, float] = (10.0, 30.0),
    ground_elevation_deg: tuple[float, float] = (0.0, 10.0),
    ground_distance: tuple[float, float] = (5.0, 20.0),
    landing_radius: float = 1.0,
    landing_half_angle_deg: float = 45.0,
    azimuth_deg: tuple[float, float] = (-180.0, 180.0),
    elapsed_share: tuple[float, float] = (0.0, 0.0),
    solve_start: bool = True,
) -> None:
    """Send the ball on its way to the character: PhysicsFC's projectile initialisation.

    A lob lands in the sector of ``landing_radius`` and +-``landing_half_angle_deg`` in front of the character; launch
    speed and angle are drawn, the start position is solved. A ground pass has all drawn, aimed at the same sector.

    Args:
        env: The environment.
        env_ids: Worlds to reset.
        ground_fraction: Share of ground passes (0 in stage 1, 0.2 in stage 2).
        lob_speed: Launch speed [m/s] (PhysicsFC: 10 to 30).
        lob_elevation_deg: Launch angle [deg] (PhysicsFC: 10 to 45).
        ground_speed: Launch speed of ground passes [m/s].
        ground_elevation_deg: Launch angle of ground passes [deg] (PhysicsFC: 0 to 10).
        ground_distance: How far away a ground pass starts [m] (ours).
        landing_radius: Radius of the landing sector [m] (PhysicsFC: 1).
        landing_half_angle_deg: Half opening of the landing sector [deg] (PhysicsFC: 45).
        azimuth_deg: Direction the ball comes from, against the heading; 0 is from the front [deg] (ours: all around).
        elapsed_share: How much of a lob's flight is already over (ours). PhysicsFC starts at the kick, (0, 0); a range
            up to 0.7 spends fewer samples on waiting.
        solve_start: Whether a lob's start is solved for its landing point. False: it is drawn like a ground pass's (the
            text's ablation without the projectile initialisation).
    """
    ids = world_indices(env, env_ids)
    robot, ball = env.scene["robot"].data, env.scene["ball"]
    radius = env.cfg.ball.radius
    root_quat = robot.root_link_quat_w.torch[ids]
    target = pass_targets(
        robot.root_link_pos_w.torch[ids], root_quat, landing_radius, math.radians(landing_half_angle_deg)
    )
    heading = heading_from_quat(root_quat)
    azimuth = torch.deg2rad(_uniform(azimuth_deg, target[:, 0])) + torch.atan2(heading[:, 1], heading[:, 0]) + math.pi
    direction = torch.stack((azimuth.cos(), azimuth.sin()), dim=-1)

    lob_pos, lob_vel = lob_state(
        target,
        direction,
        _uniform(lob_speed, azimuth),
        torch.deg2rad(_uniform(lob_elevation_deg, azimuth)),
        start_height=radius,
        landing_height=radius,
        substep_dt=env.cfg.substep_dt(),
        elapsed_share=_uniform(elapsed_share, azimuth),
    )
    if not solve_start:
        lob_pos, lob_vel = _unsolved_lob(lob_vel, target, direction, _uniform(ground_distance, azimuth), radius)
    ground_pos, ground_vel = ground_pass_state(
        target,
        direction,
        _uniform(ground_speed, azimuth),
        torch.deg2rad(_uniform(ground_elevation_deg, azimuth)),
        _uniform(ground_distance, azimuth),
        radius,
    )
    is_ground = (torch.rand(len(ids), device=env.device) < ground_fraction).unsqueeze(-1)
    pose = torch.zeros(len(ids), 7, device=env.device)
    pose[:, 6] = 1.0
    pose[:, :3] = torch.where(is_ground, ground_pos, lob_pos)
    pose[:, 2] += env.scene.env_origins[ids, 2]
    velocity = torch.zeros(len(ids), 6, device=env.device)
    velocity[:, :3] = torch.where(is_ground, ground_vel, lob_vel)
    ball.write_root_pose_to_sim_index(root_pose=pose, env_ids=ids)
    ball.write_root_velocity_to_sim_index(root_velocity=velocity, env_ids=ids)


def rolling_spin(velocity: torch.Tensor, radius: float) -> torch.Tensor:
    """Spin of a ball that rolls without slip: ``z x v / r``.

    Args:
        velocity: Horizontal velocity [m/s]. Shape is (N, 2).
        radius: Radius of the ball [m].

    Returns:
        Shape is (N, 3) [rad/s].
    """
    return torch.stack((-velocity[:, 1], velocity[:, 0], torch.zeros_like(velocity[:, 0])), dim=1) / radius


def clear_distance(bodies: torch.Tensor, direction: torch.Tensor, distance: torch.Tensor, gap: float) -> torch.Tensor:
    """Least distance from the root, not below the one wished for, at which a ball in some direction touches no body.

    Args:
        bodies: Body origins relative to the root, horizontal [m]. Shape is (N, B, 2).
        direction: Unit vectors from the root. Shape is (N, 2).
        distance: Distances wished for [m]. Shape is (N,).
        gap: How far the ball's centre keeps from each origin [m].

    Returns:
        Shape is (N,) [m].
    """
    along = (bodies * direction.unsqueeze(1)).sum(dim=-1)
    across = (bodies - along.unsqueeze(-1) * direction.unsqueeze(1)).square().sum(dim=-1)
    beyond = along + (gap**2 - across).clamp_min(0.0).sqrt()
    beyond = torch.where(across < gap**2, beyond, torch.zeros_like(beyond))
    return torch.maximum(distance, beyond.max(dim=1).values)


def reset_ball_near(
    env: SportEnv,
    env_ids: torch.Tensor | slice | None,
    distance: tuple[float, float] = (0.4, 1.5),
    half_angle_deg: float = 60.0,
    follow: tuple[float, float] = (0.0, 1.0),
    speed: tuple[float, float] = (0.0, 1.0),
    rest_fraction: float = 0.0,
    gap: float = 0.3,
) -> None:
    """Put the ball on the ground near the player, resting or rolling (ours; PhysicsFC starts from skills' states).

    Args:
        env: The environment.
        env_ids: Worlds to reset.
        distance: How far from the root [m]; farther where a limb would be in the way.
        half_angle_deg: Half of the sector around the heading that it is put in [deg].
        follow: Share of the root's velocity that the ball has.
        speed: Further speed in a random direction [m/s].
        rest_fraction: Share of resting balls.
        gap: How far the ball's centre keeps from the origins of all bodies [m]: a toe is 0.14 m before the ankle.
    """
    ids = world_indices(env, env_ids)
    robot, ball, radius = env.scene["robot"].data, env.scene["ball"], env.cfg.ball.radius
    heading = heading_from_quat(robot.root_link_quat_w.torch[ids])
    root = robot.root_link_pos_w.torch[ids, :2]
    limit = math.radians(half_angle_deg)
    angle = torch.atan2(heading[:, 1], heading[:, 0]) + _uniform((-limit, limit), heading[:, 0])
    direction = torch.stack((angle.cos(), angle.sin()), dim=1)
    bodies = robot.body_link_pos_w.torch[ids, : len(BODY_NAMES), :2] - root.unsqueeze(1)
    away = clear_distance(bodies, direction, _uniform(distance, angle), gap)
    course = _uniform((-math.pi, math.pi), away)
    rolling = _uniform(speed, away).unsqueeze(1) * torch.stack((course.cos(), course.sin()), dim=1)
    rolling = rolling + _uniform(follow, away).unsqueeze(1) * robot.root_link_lin_vel_w.torch[ids, :2]
    rolling = rolling * (torch.rand_like(away) >= rest_fraction).unsqueeze(1)
    pose, velocity = torch.zeros(len(ids), 7, device=env.device), torch.zeros(len(ids), 6, device=env.device)
    pose[:, :2] = root + away.unsqueeze(1) * direction
    pose[:, 2] = env.scene.env_origins[ids, 2] + radius
    pose[:, 6] = 1.0
    velocity[:, :2], velocity[:, 3:] = rolling, rolling_spin(rolling, radius)
    ball.write_root_pose_to_sim_index(root_pose=pose, env_ids=ids)
    ball.write_root_velocity_to_sim_index(root_velocity=velocity, env_ids=ids)
