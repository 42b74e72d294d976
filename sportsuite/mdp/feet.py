"""Where the soles are and how they move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.characters import spec

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedEnv

SOLE_CORNERS: tuple[tuple[float, float], ...] = ((-0.05, -0.03), (-0.05, 0.03), (0.14, -0.03), (0.14, 0.03))
"""Points of the sole that stand on the ground, x and y in the foot's frame at scale 1 [m]."""

CONTACT_HEIGHT = 0.008
"""Height below which a point of the sole counts as touching [m] (ours, as the measurements this is compared with)."""


def sole_points(
    position: torch.Tensor, quat: torch.Tensor, lin_vel: torch.Tensor, ang_vel: torch.Tensor, depth: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Height and horizontal speed of the corners of soles.

    Args:
        position: Foot origins (ankles), z above the ground. Shape is (..., 3) [m].
        quat: Their orientations, xyzw. Shape is (..., 4).
        lin_vel: Their velocities. Shape is (..., 3) [m/s].
        ang_vel: Their angular velocities. Shape is (..., 3) [rad/s].
        depth: Depth of the sole below the ankle [m].

    Returns:
        Heights [m] and horizontal speeds [m/s] of the four corners, each of shape (..., 4).
    """
    corners = torch.tensor([(x, y, -depth) for x, y in SOLE_CORNERS], device=position.device, dtype=position.dtype)
    axis = quat[..., None, :3]
    twice = 2.0 * torch.cross(axis.expand(*quat.shape[:-1], 4, 3), corners.expand(*quat.shape[:-1], 4, 3), dim=-1)
    arm = corners + quat[..., None, 3:] * twice + torch.cross(axis.expand_as(twice), twice, dim=-1)
    velocity = lin_vel.unsqueeze(-2) + torch.cross(ang_vel.unsqueeze(-2).expand_as(arm), arm, dim=-1)
    return position[..., None, 2] + arm[..., 2], velocity[..., :2].norm(dim=-1)


def sole_motion(
    env: ManagerBasedEnv, asset_name: str = "robot", foot: str = "boot"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Heights [m] and horizontal speeds [m/s] of the sole corners of both feet, each of shape (num_envs, 2, 4)."""
    data = env.scene[asset_name].data
    ids = [spec.BODY_NAMES.index(name) for name in spec.FEET]
    position = data.body_link_pos_w.torch[:, ids] - env.scene.env_origins.unsqueeze(1)
    return sole_points(
        position,
        data.body_link_quat_w.torch[:, ids],
        data.body_link_lin_vel_w.torch[:, ids],
        data.body_link_ang_vel_w.torch[:, ids],
        spec.SOLE_DROP[foot],
    )


def slide_speed(height: torch.Tensor, speed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean speed of the touching corners and how many touch, over the last two axes.

    Args:
        height: Heights of sole corners. Shape is (N, 2, 4) [m].
        speed: Their horizontal speeds. Shape is (N, 2, 4) [m/s].

    Returns:
        Mean speed, 0 where nothing touches [m/s], and number of touching corners, each of shape (N,).
    """
    touching = (height < CONTACT_HEIGHT).float()
    count = touching.sum(dim=(1, 2))
    return (touching * speed).sum(dim=(1, 2)) / count.clamp_min(1.0), count
