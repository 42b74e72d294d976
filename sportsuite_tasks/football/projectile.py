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
