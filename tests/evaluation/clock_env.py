"""An environment whose worlds end after a fixed number of steps each, to check how episodes are counted."""

from __future__ import annotations

import torch


class Terminations:
    """Two terms: one ends short episodes, the other is the time limit of long ones."""

    active_terms = ["short", "time_out"]

    def __init__(self, env):
        self.env = env

    @property
    def terminated(self):
        return self.env.done & (self.env.lengths < self.env.max_episode_length)

    def get_term(self, name):
        return self.terminated if name == "short" else self.env.done & ~self.terminated


class ClockEnv:
    """World i ends after ``lengths[i]`` steps and pays 1 per step; ``age`` is its state, 0 after a reset."""

    step_dt = 0.5
    device = "cpu"

    def __init__(self, lengths, limit=10):
        self.lengths = torch.tensor(lengths)
        self.num_envs, self.max_episode_length = len(lengths), limit
        self.age = torch.zeros(self.num_envs)
        self.reward_buf = torch.zeros(self.num_envs)
        self.done = torch.zeros(self.num_envs, dtype=torch.bool)
        self.termination_manager = Terminations(self)
        self.seeds = []

    def reset(self, seed=None):
        self.seeds.append(seed)
        self._reset_idx(torch.arange(self.num_envs))
        return {"policy": self.age[:, None]}, {}

    def _reset_idx(self, env_ids):
        self.age[env_ids.long()] = 0.0

    def step(self, action):
        self.age += 1
        self.done = self.age >= self.lengths
        self.reward_buf = torch.ones(self.num_envs)
        if self.done.any():
            self._reset_idx(self.done.nonzero().squeeze(-1).int())
        short = self.done & (self.lengths < self.max_episode_length)
        return {"policy": self.age[:, None]}, self.reward_buf, short, self.done & ~short, {}
