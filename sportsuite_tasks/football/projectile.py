"""Where a pass must start so that it lands where we want: projectile arithmetic, no simulator."""

from __future__ import annotations

import torch

GRAVITY = 9.81
"""Acceleration of gravity [m/s^2]."""


def flight_time(vertical_speed: torch.Tensor, drop: torch.Tensor | float) -> torch.Tensor:
    """Time until a projectile is ``drop`` metres below its start.

    Args:
        vertical_speed: Vertical speed at the start, upwards positive [m/s]. Shape is (N,).
        drop: Start height minus end height [m], not negative.

    Returns:
        ``(v_z + sqrt(v_z^2 + 2 g drop)) / g`` [s]. Shape is (N,).
    """
    return (vertical_speed + torch.sqrt(vertical_speed.square() + 2.0 * GRAVITY * drop)) / GRAVITY


def sector_points(count: int, radius: float, half_angle: float, device: torch.device | str) -> torch.Tensor:
    """Points uniform in area within a sector around the x axis.

    Args:
        count: Number of points.
        radius: Radius of the sector [m].
        half_angle: Half of its opening [rad].
        device: Where to put them.

    Returns:
        Horizontal points in the heading frame [m]. Shape is (count, 2).
    """
    distance = radius * torch.rand(count, device=device).sqrt()
    angle = torch.empty(count, device=device).uniform_(-half_angle, half_angle)
    return torch.stack((distance * angle.cos(), distance * angle.sin()), dim=-1)


def lob_state(
    landing: torch.Tensor,
    direction: torch.Tensor,
    speed: torch.Tensor,
    elevation: torch.Tensor,
    start_height: float,
    landing_height: float,
    substep_dt: float,
    elapsed_share: torch.Tensor | float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Start position and velocity of a lob that comes down exactly at ``landing``, without drag.

    The simulators integrate gravity semi-implicitly: each substep falls by ``g dt^2 / 2`` more than the parabola. A
    launch faster by ``g dt / 2`` puts every substep back on it; without this a flat 2 s lob lands 0.2 m short.

    Args:
        landing: Landing point [m]. Shape is (N, 2).
        direction: Unit direction of flight. Shape is (N, 2).
        speed: Launch speed [m/s]. Shape is (N,).
        elevation: Launch angle above the ground [rad]. Shape is (N,).
        start_height: Height of the ball's centre at launch [m].
        landing_height: Height of the ball's centre at the landing point [m].
        substep_dt: Length of a physics step [s].
        elapsed_share: How much of the flight is already over, in [0, 1). A number or shape (N,).

    Returns:
        Position (N, 3) and velocity (N, 3). PhysicsFC's projectile initialisation: p0 = p_f - d v_h T.
    """
    horizontal, vertical = speed * elevation.cos(), speed * elevation.sin()
    time = flight_time(vertical, start_height - landing_height)
    elapsed = elapsed_share * time
    position = landing - direction * (horizontal * (time - elapsed)).unsqueeze(-1)
    height = start_height + vertical * elapsed - 0.5 * GRAVITY * elapsed.square()
    climb = vertical - GRAVITY * elapsed + 0.5 * GRAVITY * substep_dt
    velocity = torch.cat((direction * horizontal.unsqueeze(-1), climb.unsqueeze(-1)), dim=-1)
    return torch.cat((position, height.unsqueeze(-1)), dim=-1), velocity


def pass_distance(
    position: torch.Tensor, velocity: torch.Tensor, centre: torch.Tensor, radius: float, airborne_s: float = 0.2
) -> torch.Tensor:
    """How far from a point on the ground a ball will come down, or pass by if it rolls, without drag.

    Args:
        position: Ball, height above the ground [m]. Shape is (N, 3).
        velocity: Its velocity [m/s]. Shape is (N, 3).
        centre: The point [m]. Shape is (N, 2).
        radius: Radius of the ball [m].
        airborne_s: A ball that stays longer in the air than this is one that comes down [s] (ours); a shorter hop
            counts as rolling.

    Returns:
        Horizontal distance [m]. Shape is (N,).
    """
    time = flight_time(velocity[:, 2], (position[:, 2] - radius).clamp_min(0.0))
    flat = velocity[:, :2]
    landing = position[:, :2] + flat * time.unsqueeze(1)
    ahead = ((centre - position[:, :2]) * flat).sum(dim=1) / flat.square().sum(dim=1).clamp_min(1e-9)
    nearest = position[:, :2] + flat * ahead.clamp_min(0.0).unsqueeze(1)
    point = torch.where((time > airborne_s).unsqueeze(1), landing, nearest)
    return (point - centre).norm(dim=1)
