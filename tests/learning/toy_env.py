"""A vectorised environment small enough to train in milliseconds, with the interface that rsl_rl expects.

A point on a line is pushed by the action and rewarded for being near zero. ``spec.id`` and ``extras`` look like those
of a wrapped Isaac Lab environment.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from isaaclab_rl.rsl_rl import RslRlVecEnvWrapper, create_rsl_rl_runner, handle_deprecated_rsl_rl_cfg
from tensordict import TensorDict

from sportsuite.learning.agent_cfgs import ppo_cfg

assert RslRlVecEnvWrapper  # the runner is created exactly as Isaac Lab's own commands do it


class ToyEnv:
    num_actions = 1
    max_episode_length = 20

    def __init__(self, num_envs: int = 8, task: str = "Toy-v0", extra_obs: int = 0):
        self.num_envs, self.device = num_envs, "cpu"
        self.cfg = {"task": task, "decimation": 4, "scale": (1.0, 2.0)}
        self.spec = SimpleNamespace(id=task)
        self.position = torch.zeros(num_envs)
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long)
        self.extra_obs = extra_obs
        self.poison: torch.Tensor | None = None
        self._reset(torch.arange(num_envs))

    @property
    def unwrapped(self):
        return self

    def _reset(self, ids):
        self.position[ids] = torch.rand(len(ids)) * 2 - 1
        self.episode_length_buf[ids] = 0

    def get_observations(self):
        obs = torch.stack([self.position, self.position.square(), *[self.position] * self.extra_obs], dim=-1)
        return TensorDict({"policy": obs, "critic": obs.clone()}, batch_size=[self.num_envs])

    def step(self, action):
        self.position = self.position + 0.1 * action[:, 0].clamp(-5, 5)
        self.episode_length_buf = self.episode_length_buf + 1
        reward = 1.0 - self.position.abs()
        if self.poison is not None:
            reward = torch.where(self.poison, torch.nan, reward)
        fell = self.position.abs() > 3.0
        out = (self.episode_length_buf >= self.max_episode_length) & ~fell
        extras = {"time_outs": out, "log": {"Metrics/success_rate": (self.position.abs() < 0.2).float().mean()}}
        ids = (fell | out).nonzero().squeeze(-1)
        if len(ids):
            extras["final_obs"] = self.get_observations()
            self.position = self.position.clone()
            self._reset(ids)
        return self.get_observations(), reward, (fell | out).long(), extras


def toy_cfg(**changes):
    cfg = ppo_cfg("smoke", "toy", **{"actor.hidden_dims": [16], "critic.hidden_dims": [16], "num_envs": 8, **changes})
    return handle_deprecated_rsl_rl_cfg(cfg, "5.5.1")


def toy_runner(env=None, log_dir=None, **changes):
    return create_rsl_rl_runner(env or ToyEnv(), toy_cfg(**changes), log_dir=log_dir and str(log_dir))
