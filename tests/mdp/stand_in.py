"""A stand-in for an environment: just what terms read of a character, in worlds that tests set up by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch

from sportsuite.characters import spec


def yaw_quat(*degrees: float) -> torch.Tensor:
    """Turns about the vertical, xyzw, (n, 4)."""
    half = torch.tensor([0.5 * math.radians(angle) for angle in degrees])
    return torch.stack((0 * half, 0 * half, half.sin(), half.cos()), dim=1)


class Data:
    """Tensors of an asset under Isaac Lab's names: ``data.root_link_quat_w.torch``."""

    def __init__(self, **tensors: torch.Tensor) -> None:
        self.tensors = tensors

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__["tensors"]:
            raise AttributeError(name)
        return SimpleNamespace(torch=self.tensors[name])


class Scene(dict):
    """Assets by name, and where the worlds are."""

    env_origins: torch.Tensor


def standing_env(num_envs: int, dt: float = 0.1) -> SimpleNamespace:
    """Characters that float upright and still, facing +x, all bodies 1 m above the origins of worlds 10 m apart."""
    scene = Scene()
    scene.env_origins = torch.stack((10.0 * torch.arange(num_envs), torch.zeros(num_envs), torch.zeros(num_envs)), 1)
    place = (scene.env_origins + torch.tensor([0.0, 0.0, 1.0])).unsqueeze(1).repeat(1, spec.NUM_BODIES, 1)
    unturned = torch.tensor([0.0, 0.0, 0.0, 1.0])
    data = Data(
        root_link_quat_w=unturned.repeat(num_envs, 1),
        root_link_lin_vel_w=torch.zeros(num_envs, 3),
        root_com_vel_w=torch.zeros(num_envs, 6),
        body_link_pos_w=place,
        body_link_quat_w=unturned.repeat(num_envs, spec.NUM_BODIES, 1),
        body_link_lin_vel_w=torch.zeros(num_envs, spec.NUM_BODIES, 3),
        body_link_ang_vel_w=torch.zeros(num_envs, spec.NUM_BODIES, 3),
    )
    scene["robot"] = SimpleNamespace(data=data)
    return SimpleNamespace(
        scene=scene,
        num_envs=num_envs,
        device="cpu",
        step_dt=dt,
        episode_length_buf=torch.zeros(num_envs, dtype=torch.long),
    )
