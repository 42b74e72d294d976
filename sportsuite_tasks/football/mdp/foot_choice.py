"""Which foot shall play the ball, and which part of the body did so last (ours; PhysicsFC's policies use one foot)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sportsuite.characters.spec import BODY_NAMES

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

SIDES = ("right", "left")
"""Order of the one-hot that a policy sees."""

_LEGS = tuple(tuple(BODY_NAMES.index(f"{side}_{part}") for part in ("shin", "foot")) for side in SIDES)


class FootChoice:
    """The foot that is asked for and the part that touched the ball last.

    Attributes:
        side: Index in :data:`SIDES` of the foot that is asked for. Shape is (num_envs,), long.
        last: Index of the leg (shin or foot) that touched the ball last, 2 for any other part, -1 before the first
            touch since the choice. Shape is (num_envs,), long.
    """

    def __init__(self, env: SportEnv):
        self._env = env
        self._updated_at = -1
        self.side = torch.zeros(env.num_envs, dtype=torch.long, device=env.device)
        self.last = torch.full_like(self.side, -1)

    @property
    def one_hot(self) -> torch.Tensor:
        """The choice. Shape is (num_envs, 2)."""
        return torch.nn.functional.one_hot(self.side, len(SIDES)).float()

    @property
    def kept(self) -> torch.Tensor:
        """Worlds in which nothing but the right foot has touched the ball last. Shape is (num_envs,), bool."""
        self.refresh()
        return (self.last < 0) | (self.last == self.side)

    def refresh(self) -> None:
        """Take in the contacts of the current step, once per step."""
        if self._updated_at == self._env.common_step_counter:
            return
        self._updated_at = self._env.common_step_counter
        touched = self._env.touch.impulse[:, :-1] > 0.0
        self.last[touched.any(dim=1)] = 2
        for side, bodies in enumerate(_LEGS):
            self.last[touched[:, list(bodies)].any(dim=1)] = side

    def draw(self, ids: torch.Tensor | slice) -> None:
        """Choose anew and forget the touches in the given worlds."""
        self.side[ids] = torch.randint_like(self.side[ids], len(SIDES))
        self.last[ids] = -1
