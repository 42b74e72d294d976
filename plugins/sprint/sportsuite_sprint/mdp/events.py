"""The sprint's event terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.mdp.events import world_indices, yaw_quat

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def reset_on_start_line(
    env: SportEnv,
    env_ids: torch.Tensor | slice | None,
    joint_noise: float = 0.05,
    yaw_noise: float = 0.1,
    distance_behind: tuple[float, float] = (0.2, 0.4),
) -> None:
    """Put the runner upright and at rest behind the start line, facing the finish.

    Args:
        env: The environment.
        env_ids: Worlds to reset.
        joint_noise: Uniform noise on the joint positions [rad] (ours).
        yaw_noise: Uniform noise on the heading [rad] (ours).
        distance_behind: How far behind the line the root stands, drawn uniformly [m] (ours).
    """
    ids = world_indices(env, env_ids)
    robot = env.scene["robot"]
    pose = robot.data.default_root_pose.torch[ids].clone()
    pose[:, :3] += env.scene.env_origins[ids]
    pose[:, 0] -= torch.empty_like(pose[:, 0]).uniform_(*distance_behind)
    pose[:, 3:] = yaw_quat(torch.empty_like(pose[:, 0]).uniform_(-yaw_noise, yaw_noise))
    joint_pos = robot.data.default_joint_pos.torch[ids].clone()
    joint_pos += torch.empty_like(joint_pos).uniform_(-joint_noise, joint_noise)
    limits = robot.data.soft_joint_pos_limits.torch[ids]
    joint_pos.clamp_(limits[..., 0], limits[..., 1])
    robot.write_root_pose_to_sim_index(root_pose=pose, env_ids=ids)
    robot.write_root_velocity_to_sim_index(root_velocity=torch.zeros_like(pose[:, :6]), env_ids=ids)
    robot.write_joint_position_to_sim_index(position=joint_pos, env_ids=ids)
    robot.write_joint_velocity_to_sim_index(velocity=torch.zeros_like(joint_pos), env_ids=ids)
