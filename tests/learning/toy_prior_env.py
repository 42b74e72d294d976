"""A point mass in the plane with a motion prior: the task is a commanded speed, the reference a circle.

The reference runs counter-clockwise on the unit circle, so a prior shows in the sense of rotation alone.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from isaaclab_rl.rsl_rl import create_rsl_rl_runner, handle_deprecated_rsl_rl_cfg
from tensordict import TensorDict

from sportsuite.priors.latent import LatentCommand, LatentCommandCfg


class CircleEnv:
    num_actions = 2
    max_episode_length = 120

    def __init__(self, num_envs: int = 16, hz: float = 30.0, final_obs: bool = True, seed: int = 0):
        self.num_envs, self.device, self.step_dt, self.final_obs = num_envs, "cpu", 1.0 / hz, final_obs
        self.cfg, self.spec = {"task": "Circle-v0"}, SimpleNamespace(id="Circle-v0")
        self.prior_columns = {"position": [0, 1], "velocity": [2, 3]}
        self.random = torch.Generator().manual_seed(seed)
        self.position, self.velocity = torch.zeros(num_envs, 2), torch.zeros(num_envs, 2)
        self.speed = torch.zeros(num_envs, 1)
        self.episode = torch.zeros(num_envs)
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long)
        self._reset(torch.arange(num_envs))

    @property
    def unwrapped(self):
        return self

    def _reset(self, ids):
        for name in ("position", "velocity", "speed", "episode"):
            setattr(self, name, getattr(self, name).clone())
        self.position[ids] = torch.randn(len(ids), 2, generator=self.random)
        self.velocity[ids] = torch.randn(len(ids), 2, generator=self.random)
        self.speed[ids] = torch.rand(len(ids), 1, generator=self.random) * 2 + 1
        self.episode[ids] += 1
        self.episode_length_buf[ids] = 0

    def get_observations(self):
        return TensorDict(
            {"policy": torch.cat([self.position, self.velocity, self.speed], -1), "prior": self.features()},
            batch_size=[self.num_envs],
        )

    def features(self):
        return torch.cat([self.position, self.velocity], -1)

    def step(self, action):
        self.velocity = self.velocity + self.step_dt * 10.0 * action.clamp(-1, 1)
        self.position = self.position + self.step_dt * self.velocity
        self.episode_length_buf = self.episode_length_buf + 1
        off = self.velocity.norm(dim=-1) - self.speed[:, 0]
        rate = 30.0 * torch.exp(-2.0 * off.square())
        fell = (self.position.norm(dim=-1) > 4.0) | (self.velocity.norm(dim=-1) > 8.0)
        out = (self.episode_length_buf >= self.max_episode_length) & ~fell
        extras = {"time_outs": out, "log": {"Metrics/success_rate": (off.abs() < 0.2).float().mean()}}
        extras["reward_groups"] = {"speed": rate * self.step_dt, "alive": torch.full_like(rate, self.step_dt)}
        ids = (fell | out).nonzero().squeeze(-1)
        if len(ids):
            if self.final_obs:
                extras["final_obs"] = self.get_observations()
            self._reset(ids)
        return self.get_observations(), rate * self.step_dt, (fell | out).long(), extras

    def reference_windows(self, num, frames):
        rate = torch.rand(num, 1, generator=self.random) * 2 + 1
        angle = torch.rand(num, 1, generator=self.random) * 6.3 + rate * self.step_dt * torch.arange(frames)
        cos, sin = torch.cos(angle), torch.sin(angle)
        return torch.stack([cos, sin, -rate * sin, rate * cos], -1)


def circle_mirror(env, obs=None, actions=None):
    """A stand-in for a character's mirror: a quarter turn of the plane, which leaves the task what it is."""
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    turned_obs = turned_actions = None
    if obs is not None:
        policy = obs["policy"]
        parts = [policy[:, :2] @ turn, policy[:, 2:4] @ turn, policy[:, 4:]]
        both = {"policy": torch.cat([policy, torch.cat(parts, -1)])}
        turned_obs = TensorDict(both, batch_size=[2 * len(policy)])
    if actions is not None:
        turned_actions = torch.cat([actions, actions @ turn])
    return turned_obs, turned_actions


def circle_runner(make_cfg, env=None, log_dir=None, **changes):
    defaults = {"num_envs": 16, "num_steps_per_env": 16, "algorithm.mirror": None}
    cfg = make_cfg("smoke", "circle", **{**defaults, **changes})
    cfg = handle_deprecated_rsl_rl_cfg(cfg, "5.5.1")
    return create_rsl_rl_runner(env or CircleEnv(), cfg, log_dir=log_dir and str(log_dir))


class LatentCircleEnv(CircleEnv):
    """The same with a latent command; the reference turns slowly or fast, so there are two styles to tell apart."""

    def __init__(self, num_envs: int = 16, window_frames: int = 0, **options):
        self.command_manager = SimpleNamespace(get_term=lambda name: self.term)
        self.term = None
        super().__init__(num_envs, **options)
        cfg = LatentCommandCfg(latent_dim=8, hold_steps=(3, 6), window_frames=window_frames, window_stride=2)
        self.term = LatentCommand(cfg, self)

    def _reset(self, ids):
        super()._reset(ids)
        if self.term is not None:
            self.term.reset(ids)

    def get_observations(self):
        obs = super().get_observations()
        if self.term is not None:
            obs["latent"] = self.term.command.clone()
            if self.term.cfg.window_frames:
                obs["latent_window"] = self.term.windows.clone()
        return obs

    def step(self, action):
        self.term.compute(self.step_dt)
        return super().step(action)
