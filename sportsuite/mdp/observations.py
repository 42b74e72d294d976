"""Observation terms that any sport can use. All are in the heading frame of the character's root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import SceneEntityCfg

from sportsuite.mdp import frames

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedEnv

_ROBOT = SceneEntityCfg("robot")
_BALL = SceneEntityCfg("ball")


def body_features_h(
    position_w: torch.Tensor, quat_w: torch.Tensor, lin_vel_w: torch.Tensor, ang_vel_w: torch.Tensor
) -> torch.Tensor:
    """State of B bodies in the heading frame of the first one (the root).

    Args:
        position_w: Body origins [m], z measured from the ground. Shape is (N, B, 3).
        quat_w: Orientations, xyzw. Shape is (N, B, 4).
        lin_vel_w: Linear velocities [m/s]. Shape is (N, B, 3).
        ang_vel_w: Angular velocities [rad/s]. Shape is (N, B, 3).

    Returns:
        Root height (1), positions of the other bodies relative to the root (3 (B-1)), tangent and normal of all bodies
        (6 B), linear (3 B) and angular velocities (3 B). Shape is (N, 15 B - 2), which is 223 for 15 bodies: the "max"
        observation of ASE and CALM (calm/env/tasks/humanoid.py), used by PhysicsFC.
    """
    num_envs, num_bodies = quat_w.shape[:2]
    heading = frames.heading_from_quat(quat_w[:, 0])
    axes = frames.tangent_normal(quat_w).reshape(num_envs, 2 * num_bodies, 3)
    # one rotation for everything: kernels cost more than elements on a CPU
    stacked = torch.cat((position_w[:, 1:] - position_w[:, :1], axes, lin_vel_w, ang_vel_w), dim=1)
    rotated = frames.rotate_to_heading(stacked, heading)
    return torch.cat((position_w[:, 0, 2:3], rotated.reshape(num_envs, -1)), dim=1)


def leading_slice(ids: list[int] | slice | torch.Tensor) -> list[int] | slice | torch.Tensor:
    """Turn ``[0, 1, ..., n - 1]`` into a slice: a view instead of a copy, and no index tensor built in every step."""
    return slice(0, len(ids)) if isinstance(ids, list) and ids == list(range(len(ids))) else ids


def body_state_h(env: ManagerBasedEnv, asset_cfg: SceneEntityCfg = _ROBOT) -> torch.Tensor:
    """Full body state in the heading frame. Shape is (num_envs, 15 B - 2) for the B bodies of ``asset_cfg``.

    See :func:`body_features_h` for the layout. The first body of ``asset_cfg`` must be the root.
    """
    data = env.scene[asset_cfg.name].data
    ids = leading_slice(asset_cfg.body_ids)
    position_w = data.body_link_pos_w.torch[:, ids] - env.scene.env_origins.unsqueeze(1)
    quat_w = data.body_link_quat_w.torch[:, ids]
    return body_features_h(
        position_w, quat_w, data.body_link_lin_vel_w.torch[:, ids], data.body_link_ang_vel_w.torch[:, ids]
    )


def object_features_h(
    root_pos_w: torch.Tensor,
    root_quat_w: torch.Tensor,
    object_pos_w: torch.Tensor,
    object_quat_w: torch.Tensor,
    object_lin_vel_w: torch.Tensor,
    object_ang_vel_w: torch.Tensor,
) -> torch.Tensor:
    """State of an object in the heading frame of a root, shape (N, 13).

    Horizontal position relative to the root and height above the ground [m] (3), orientation xyzw (4), linear velocity
    [m/s] (3), angular velocity [rad/s] (3). PhysicsFC gives the count 13; this layout is ours, after CALM's strike
    task.
    """
    heading = frames.heading_from_quat(root_quat_w)
    offset = object_pos_w - torch.cat((root_pos_w[:, :2], torch.zeros_like(root_pos_w[:, :1])), dim=1)
    vectors = torch.stack((offset, object_lin_vel_w, object_ang_vel_w), dim=1)
    position_h, lin_vel_h, ang_vel_h = frames.rotate_to_heading(vectors, heading).unbind(1)
    return torch.cat((position_h, frames.quat_in_heading(object_quat_w, heading), lin_vel_h, ang_vel_h), dim=1)


def object_state_h(
    env: ManagerBasedEnv, object_cfg: SceneEntityCfg = _BALL, asset_cfg: SceneEntityCfg = _ROBOT
) -> torch.Tensor:
    """State of a rigid object (a ball) in the heading frame. Shape is (num_envs, 13); see :func:`object_features_h`."""
    robot, thing = env.scene[asset_cfg.name].data, env.scene[object_cfg.name].data
    origins = env.scene.env_origins
    return object_features_h(
        robot.root_link_pos_w.torch - origins,
        robot.root_link_quat_w.torch,
        thing.root_link_pos_w.torch - origins,
        thing.root_link_quat_w.torch,
        thing.root_link_lin_vel_w.torch,
        thing.root_link_ang_vel_w.torch,
    )
