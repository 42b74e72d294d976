"""Curriculum terms that any sport can use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CurriculumTermCfg, ManagerTermBase

from sportsuite.mdp.events import world_indices

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv
    from sportsuite.mdp.commands import HeadingCommand


class CommandedSpeed(ManagerTermBase):
    """Raise the speed that is asked for, and at which the reference is drawn, as episodes last to their end.

    From scratch a character doesn't learn to run from clips of running, but it does once it walks (measured).
    """

    def __init__(self, cfg: CurriculumTermCfg, env: SportEnv):
        super().__init__(cfg, env)
        self._lasted = 0.0
        self._ended = 0
        self._full: tuple[float, float] | None = None
        self._top = 0.0

    def __call__(
        self,
        env: SportEnv,
        env_ids: Sequence[int] | torch.Tensor | slice,
        command_name: str = "heading",
        start: float = 1.6,
        step: float = 0.1,
        threshold: float = 0.7,
        error: float = 0.3,
        episodes: int = 200,
    ) -> float:
        """Take the episodes that end now into account.

        Args:
            env: The environment.
            env_ids: Worlds whose episodes end.
            command_name: A :class:`~sportsuite.mdp.commands.HeadingCommand`; its range is the goal of the curriculum.
            start: Highest speed at the beginning [m/s] (ours, as all numbers here).
            step: How much it is raised at once [m/s].
            threshold: Share of episodes that must last to their end.
            error: Largest mean difference of the speed along the commanded direction from the command [m/s].
            episodes: Ended episodes over which that is judged.

        Returns:
            The highest speed now [m/s], for the log.
        """
        term: HeadingCommand = env.command_manager.get_term(command_name)  # type: ignore[assignment]
        command = term.cfg
        if self._full is None:
            self._full = command.speed_range
            self._top = min(start, self._full[1])
        ids = world_indices(env, env_ids)  # type: ignore[arg-type]
        self._lasted += float(env.termination_manager.time_outs[ids].sum())
        self._ended += len(ids)
        if self._ended >= episodes:
            if self._lasted / self._ended >= threshold and float(term.settled_error()) <= error:
                self._top = min(self._top + step, self._full[1])
            self._lasted, self._ended = 0.0, 0
        command.speed_range = (self._full[0], self._top)
        if env.reference is not None:
            env.reference.cfg.speed_range = command.speed_range
        return self._top
