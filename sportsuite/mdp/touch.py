"""First contact between the ball and the character, known in the step in which it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


class FirstTouch:
    """Which worlds have had a ball-character contact in this episode, when, and with which bodies.

    Terminations, rewards and observations of one step all need it, in an order that the managers decide: so the first
    one to ask brings it up to date and the others read.

    Attributes:
        steps_since: Steps since the first touch, 0 in its own step, -1 before. Shape is (num_envs,), long.
        bodies: Bodies touched in the step of the first touch. Shape is (num_envs, num_bodies), bool.
        bounced: The ball hit something other than the character (the ground) before the first touch, or in the same
            step: the order within one step is not resolved, and the doubt counts against the character. Shape is
            (num_envs,), bool.
    """

    def __init__(self, env: SportEnv):
        self._env = env
        self._updated_at = -1
        num_bodies = len(env.touch.body_names)
        self.steps_since = torch.full((env.num_envs,), -1, dtype=torch.long, device=env.device)
        self.bodies = torch.zeros(env.num_envs, num_bodies, dtype=torch.bool, device=env.device)
        self.bounced = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)

    def refresh(self) -> FirstTouch:
        """Take in the contacts of the current step, once per step."""
        if self._updated_at != self._env.common_step_counter:
            self._updated_at = self._env.common_step_counter
            self._advance(self._env.touch.impulse > 0.0)
        return self

    def _advance(self, touched: torch.Tensor) -> None:
        before = self.steps_since < 0
        first = before & touched[:, :-1].any(dim=1)
        self.bounced |= before & touched[:, -1]
        self.bodies |= first.unsqueeze(1) & touched[:, :-1]
        self.steps_since += (~before).long()
        self.steps_since[first] = 0

    def reset(self, env_ids: torch.Tensor | slice) -> None:
        """Forget the episode of the given worlds."""
        self.steps_since[env_ids] = -1
        self.bodies[env_ids] = False
        self.bounced[env_ids] = False

    @property
    def touched(self) -> torch.Tensor:
        """Worlds with a first touch in this episode. Shape is (num_envs,), bool."""
        return self.steps_since >= 0
