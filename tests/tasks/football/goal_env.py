"""A footballer of numbers: goals are drawn every few steps, and the ball does what a script says."""

from __future__ import annotations

from types import SimpleNamespace

import torch


def wrapped(value):
    """What Isaac Lab's data looks like."""
    return SimpleNamespace(torch=value)


class Goals:
    """Draws goal number k as (k, 0) m/s every ``period`` steps, on its own or when ``time_left`` is 0."""

    def __init__(self, num_envs, period, step_dt):
        self.cfg = SimpleNamespace(
            resampling_time_range=(period * step_dt,) * 2, speed_range=(0.0, 7.0), degcl_fraction=0.8
        )
        self.buffer = None
        self.period, self.step_dt = period, step_dt
        self.command_counter = torch.zeros(num_envs, dtype=torch.long)
        self.time_left = torch.zeros(num_envs)
        self.velocity_w = torch.zeros(num_envs, 2)
        self.facing_w = torch.tensor([[1.0, 0.0]]).repeat(num_envs, 1)
        self.heading = self.facing_w.clone()
        self.latent = torch.zeros(num_envs, 2)
        self.drawn = 0

    def reset(self, ids):
        self.command_counter[ids] = 0
        self._resample(ids)

    def compute(self):
        self.time_left -= self.step_dt
        self._resample((self.time_left <= 1e-6).nonzero().squeeze(-1))

    def _resample(self, ids):
        self.time_left[ids] = self.cfg.resampling_time_range[1]
        for world in ids.tolist():
            self.drawn += 1
            self.velocity_w[world] = torch.tensor([float(self.drawn), 0.0])
        self.command_counter[ids] += 1


class GoalEnv:
    """World i's episode ends after ``lengths[i]`` steps. ``play(env)`` sets what the physics leaves behind."""

    step_dt = 0.5
    device = "cpu"

    def __init__(self, lengths, period, play=lambda env: None, name="move"):
        self.num_envs = len(lengths)
        self.lengths, self.play = torch.tensor(lengths), play
        self.goals = Goals(self.num_envs, period, self.step_dt)
        self.command_manager = SimpleNamespace(get_term=lambda asked: {name: self.goals}[asked])
        self.latents = torch.zeros(self.num_envs, 2)
        term = SimpleNamespace(processed_actions=self.latents)
        self.action_manager = SimpleNamespace(get_term=lambda asked: {"latent": term}[asked], active_terms=["latent"])
        n = self.num_envs
        self.root_velocity, self.root = torch.zeros(n, 3), torch.zeros(n, 3)
        self.ball_velocity, self.ball, self.bodies = torch.zeros(n, 3), torch.zeros(n, 3), torch.zeros(n, 15, 3)
        self.scene = {"robot": SimpleNamespace(data=self._robot()), "ball": SimpleNamespace(data=self._ball())}
        self.cfg = SimpleNamespace(foot="boot")
        self.age = torch.zeros(n, dtype=torch.long)

    def _robot(self):
        return SimpleNamespace(
            root_link_lin_vel_w=wrapped(self.root_velocity),
            root_link_pos_w=wrapped(self.root),
            body_com_pos_w=wrapped(self.bodies),
        )

    def _ball(self):
        return SimpleNamespace(root_link_lin_vel_w=wrapped(self.ball_velocity), root_link_pos_w=wrapped(self.ball))

    def reset(self, seed=None):
        self._reset_idx(torch.arange(self.num_envs))
        return {}, {}

    def _reset_idx(self, env_ids):
        self.age[env_ids.long()] = 0
        self.goals.reset(env_ids.long())

    def step(self, action):
        self.age += 1
        self.play(self)
        done = self.age >= self.lengths
        if done.any():
            self._reset_idx(done.nonzero().squeeze(-1).int())
        self.goals.compute()
        return {}, torch.zeros(self.num_envs), done, torch.zeros_like(done), {}
