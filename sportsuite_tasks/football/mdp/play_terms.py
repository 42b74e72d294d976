"""Terms of SportSuite-Football-v0, where skills play in turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.mdp.events import world_indices
from sportsuite_tasks.football.mdp.events import reset_ball_pass

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def active_skill(env: SportEnv, action_name: str = "play") -> torch.Tensor:
    """Which skill plays, one-hot in the order of the machine's states. Shape is (num_envs, 4)."""
    return env.action_manager.get_term(action_name).processed_actions


def possession(env: SportEnv, distance: float = 2.0) -> torch.Tensor:
    """One while the ball is within reach, else 0 (ours). Shape is (num_envs,).

    Args:
        env: The environment.
        distance: Reach, horizontally from the root [m]; 2 m is where PhysicsFC's player dribbles.
    """
    return (ball_offset(env).norm(dim=1) <= distance).float()


def ball_offset(env: SportEnv) -> torch.Tensor:
    """From the root to the ball, horizontally, world frame [m]. Shape is (num_envs, 2)."""
    ball, robot = env.scene["ball"].data, env.scene["robot"].data
    return (ball.root_link_pos_w.torch - robot.root_link_pos_w.torch)[:, :2]


def feed_ball(
    env: SportEnv,
    env_ids: torch.Tensor | slice | None,
    distance: float = 15.0,
    ground_fraction: float = 0.5,
    lob_speed: tuple[float, float] = (10.0, 14.0),
    lob_elevation_deg: tuple[float, float] = (20.0, 45.0),
    ground_speed: tuple[float, float] = (5.0, 9.0),
    ground_distance: tuple[float, float] = (6.0, 12.0),
    azimuth_deg: tuple[float, float] = (-45.0, 45.0),
) -> None:
    """Where the ball is gone, pass another one to the player, so that play goes on (ours).

    Args:
        env: The environment.
        env_ids: Worlds to look at.
        distance: From where on a ball is gone [m].
        ground_fraction: Share of passes along the ground; the others are lobs.
        lob_speed: Launch speed of lobs [m/s].
        lob_elevation_deg: Launch angle of lobs [deg].
        ground_speed: Speed of ground passes [m/s].
        ground_distance: How far away they start [m].
        azimuth_deg: Where passes come from, against the heading [deg].
    """
    ids = world_indices(env, env_ids)
    ids = ids[ball_offset(env)[ids].norm(dim=1) > distance]
    if len(ids):
        reset_ball_pass(
            env,
            ids,
            ground_fraction=ground_fraction,
            lob_speed=lob_speed,
            lob_elevation_deg=lob_elevation_deg,
            ground_speed=ground_speed,
            ground_distance=ground_distance,
            azimuth_deg=azimuth_deg,
        )
