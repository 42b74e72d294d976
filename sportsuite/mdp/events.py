"""Event terms that any sport can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from isaaclab.managers import EventTermCfg, ManagerTermBase, SceneEntityCfg

from sportsuite.assets import asset_path
from sportsuite.characters.spec import JOINT_NAMES
from sportsuite.errors import BadInputError

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

_ROBOT = SceneEntityCfg("robot")


def world_indices(env: SportEnv, env_ids: torch.Tensor | slice | None) -> torch.Tensor:
    """Indices of the addressed worlds. Isaac Lab hands terms a slice, None or an index tensor. Shape is (n,), long."""
    everyone = torch.arange(env.num_envs, device=env.device)
    return everyone if env_ids is None else everyone[env_ids] if isinstance(env_ids, slice) else env_ids.long()


def yaw_quat(yaw: torch.Tensor) -> torch.Tensor:
    """Rotation about the vertical by ``yaw`` [rad], xyzw. Shape is (n, 4)."""
    zero = torch.zeros_like(yaw)
    return torch.stack((zero, zero, torch.sin(0.5 * yaw), torch.cos(0.5 * yaw)), dim=-1)


class ResetCharacter(ManagerTermBase):
    """Start an episode standing, or with a given probability lying on the ground.

    Fallen starts are ASE's and CALM's recipe (probability 0.1): states of this character after it was dropped in a
    random orientation, loaded from an asset file. They set ``env.fallen_start``.

    Raises:
        BadInputError: If the asset's joints are not those of the character.
    """

    def __init__(self, cfg: EventTermCfg, env: SportEnv):
        super().__init__(cfg, env)
        path = asset_path(str(cfg.params["fallen_states"]))
        with np.load(path, allow_pickle=False) as states:
            names = tuple(str(name) for name in states["joint_names"])
            if names != JOINT_NAMES:
                raise BadInputError(f"{path.name}: expected the character's {len(JOINT_NAMES)} joints in their order")
            self._height = torch.as_tensor(states["root_height"], dtype=torch.float32, device=env.device)
            self._quat = torch.as_tensor(states["root_quat"], dtype=torch.float32, device=env.device)
            self._joint_pos = torch.as_tensor(states["joint_pos"], dtype=torch.float32, device=env.device)

    def __call__(
        self,
        env: SportEnv,
        env_ids: torch.Tensor | slice | None,
        fallen_states: str,
        fallen_fraction: float = 0.1,
        joint_noise: float = 0.05,
        yaw_range: tuple[float, float] = (-torch.pi, torch.pi),
        asset_cfg: SceneEntityCfg = _ROBOT,
    ) -> None:
        """Write the start states.

        Args:
            env: The environment.
            env_ids: Worlds to reset.
            fallen_states: Asset with root_height (S,) [m], root_quat (S, 4) xyzw, joint_pos (S, 28) [rad], joint_names.
            fallen_fraction: Probability of a fallen start.
            joint_noise: Standing starts: uniform noise on the joint positions [rad] (ours).
            yaw_range: Standing starts: heading [rad].
            asset_cfg: The character.
        """
        ids = world_indices(env, env_ids)
        robot = env.scene[asset_cfg.name]
        pose = robot.data.default_root_pose.torch[ids].clone()
        pose[:, :3] += env.scene.env_origins[ids]
        pose[:, 3:] = yaw_quat(torch.empty(len(ids), device=env.device).uniform_(*yaw_range))
        joint_pos = robot.data.default_joint_pos.torch[ids].clone()
        joint_pos += torch.empty_like(joint_pos).uniform_(-joint_noise, joint_noise)
        limits = robot.data.soft_joint_pos_limits.torch[ids]
        joint_pos.clamp_(limits[..., 0], limits[..., 1])

        fallen = torch.rand(len(ids), device=env.device) < fallen_fraction
        row = torch.randint(len(self._height), (len(ids),), device=env.device)
        pose[fallen, 2] = env.scene.env_origins[ids][fallen, 2] + self._height[row][fallen]
        pose[fallen, 3:] = self._quat[row][fallen]
        joint_pos[fallen] = self._joint_pos[row][fallen]
        env.fallen_start[ids] = fallen

        robot.write_root_pose_to_sim_index(root_pose=pose, env_ids=ids)
        robot.write_root_velocity_to_sim_index(root_velocity=torch.zeros_like(pose[:, :6]), env_ids=ids)
        robot.write_joint_position_to_sim_index(position=joint_pos, env_ids=ids)
        robot.write_joint_velocity_to_sim_index(velocity=torch.zeros_like(joint_pos), env_ids=ids)
