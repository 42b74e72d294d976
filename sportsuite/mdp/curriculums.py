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


class HeadingCommandLevel(ManagerTermBase):
    """From slow straight walks to the command's whole range, a step whenever episodes last and commands are followed.

    The level goes from 0 to 1. With it rise the highest speed that is asked for, and at which the reference is drawn,
    and the largest turn. From scratch a character doesn't learn to run from clips of running, but it does once it walks
    (measured).
    """

    def __init__(self, cfg: CurriculumTermCfg, env: SportEnv):
        super().__init__(cfg, env)
        self._level: float = cfg.params.get("start", 0.0)  # type: ignore[assignment]
        self._lasted, self._ended = 0.0, 0
        command: HeadingCommand = env.command_manager.get_term(cfg.params.get("command_name", "heading"))  # type: ignore[assignment]
        self._speed_range, self._turn_range = command.cfg.speed_range, command.cfg.turn_range

    def __call__(
        self,
        env: SportEnv,
        env_ids: Sequence[int] | torch.Tensor | slice,
        command_name: str = "heading",
        speed: float = 1.6,
        turn: float = 0.8,
        start: float = 0.0,
        step: float = 0.05,
        threshold: float = 0.75,
        error: float = 0.3,
        episodes: int = 200,
    ) -> float:
        """Take the episodes that end now into account.

        Args:
            env: The environment.
            env_ids: Worlds whose episodes end.
            command_name: A :class:`~sportsuite.mdp.commands.HeadingCommand`; its ranges are the goal.
            speed: Highest speed at level 0 [m/s] (ours, as all numbers here).
            turn: Largest turn at level 0 [rad].
            start: Level at the beginning; a resumed training may begin where the last one ended.
            step: How much the level rises at once.
            threshold: Share of episodes that must last to their end.
            error: Largest mean difference of the speed along the commanded direction from the command [m/s].
            episodes: Ended episodes over which that is judged.

        Returns:
            The level, for the log.
        """
        term: HeadingCommand = env.command_manager.get_term(command_name)  # type: ignore[assignment]
        ids = world_indices(env, env_ids)  # type: ignore[arg-type]
        self._lasted += float(env.termination_manager.time_outs[ids].sum())
        self._ended += len(ids)
        if self._ended >= episodes:
            if self._lasted >= threshold * self._ended and float(term.settled_error()) <= error:
                self._level = min(self._level + step, 1.0)
            self._lasted, self._ended = 0.0, 0
        low, full = self._speed_range
        # a command may begin above the curriculum's speed
        top = full if full <= speed else max(low, speed + self._level * (full - speed))
        term.cfg.speed_range = (low, top)
        term.cfg.turn_range = min(self._turn_range, turn + self._level * (self._turn_range - turn))
        if env.reference is not None:
            env.reference.cfg.speed_range = term.cfg.speed_range
        return self._level
