"""Plays on through one goal after the other and counts goals, not episodes.

A goal stands until the command draws the next one. A goal in which the episode ends (a fall, the ball lost) is over
then, and the next one begins with the next episode. As with episodes, every world contributes a number of goals that
is fixed beforehand, so that goals that end early don't count more often.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import torch

from sportsuite.evaluation.rollout import before_reset, quotas

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy

__all__ = ["GoalProbe", "run_goals"]


class GoalProbe(Protocol):
    """What is measured of goals."""

    def aim(self, env: Any) -> None:
        """Keep the goals of all worlds. Called before every step, while they are those that the policy acts on."""

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Look at some worlds. Every world is seen once per step, as physics left it and before it is reset.

        Args:
            env: The environment; its command may already be the next one.
            ids: Worlds, shape (n,).
        """

    def finish(self, env: Any, ids: torch.Tensor, episode_over: bool) -> dict[str, torch.Tensor]:
        """Return the figures of goals that end in this step, and forget them. Called after :meth:`observe`.

        Args:
            env: The environment.
            ids: Worlds, shape (n,).
            episode_over: Whether their episodes end too.

        Returns:
            By name, shape (n,).
        """
        ...


def run_goals(
    env: Any,
    policy: Policy,
    command_name: str,
    goals: int,
    seed: int,
    probe: GoalProbe,
    progress: Callable[[int, int], None] = lambda done, wanted: None,
) -> dict[str, torch.Tensor]:
    """Play until every world has had its share of goals.

    Args:
        env: A manager-based environment, not wrapped.
        policy: The policy.
        command_name: The command whose goals count; its ``resampling_time_range`` says how long one stands.
        goals: How many count.
        seed: Seed of the environment.
        probe: What is measured.
        progress: Called with the goals done and wanted, whenever one ended.

    Returns:
        One row per goal, ordered by world, on the CPU: the probe's columns, shape (goals,).
    """
    command = env.command_manager.get_term(command_name)
    counter = _Counter(env, quotas(goals, env.num_envs), probe, progress)
    obs, _ = env.reset(seed=seed)
    # rounding may make a goal one step longer
    longest = math.ceil(command.cfg.resampling_time_range[1] / env.step_dt) + 1
    with before_reset(env, counter.episode_ends):
        for _ in range(longest * int(counter.quota.max())):
            probe.aim(env)
            drawn = command.command_counter.clone()
            obs, _, terminated, truncated, _ = env.step(policy(obs))
            done = terminated | truncated
            policy.reset(done)
            counter.go_on(~done, command.command_counter != drawn)
            if counter.complete:
                break
    return counter.table()


class _Counter:
    """Collects the rows of the goals that count."""

    def __init__(self, env: Any, quota: torch.Tensor, probe: GoalProbe, progress: Callable[[int, int], None]):
        self.quota = quota
        self._env, self._probe, self._progress = env, probe, progress
        self._finished = torch.zeros_like(quota)
        self._rows: list[tuple[int, int, dict[str, float]]] = []

    @property
    def complete(self) -> bool:
        """Whether every world has had its share."""
        return len(self._rows) == int(self.quota.sum())

    def episode_ends(self, ids: torch.Tensor) -> None:
        """Take in the last step of worlds that are about to be reset."""
        ids = ids.long()
        self._probe.observe(self._env, ids)
        self._take(ids, episode_over=True)

    def go_on(self, going: torch.Tensor, redrawn: torch.Tensor) -> None:
        """Take in a step of worlds whose episode goes on; those with another goal have done with the last one."""
        ids = going.nonzero().squeeze(-1)
        if len(ids):
            self._probe.observe(self._env, ids)
            self._take((going & redrawn).nonzero().squeeze(-1), episode_over=False)

    def table(self) -> dict[str, torch.Tensor]:
        """Return the rows, ordered by world and then by time."""
        rows = [figures for _, _, figures in sorted(self._rows, key=lambda row: row[:2])]
        return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}

    def _take(self, ids: torch.Tensor, episode_over: bool) -> None:
        if not len(ids):
            return
        columns = self._probe.finish(self._env, ids, episode_over)
        columns = {name: values.detach().cpu() for name, values in columns.items()}
        for row, world in enumerate(ids.tolist()):
            if self._finished[world] < self.quota[world]:
                figures = {name: float(values[row]) for name, values in columns.items()}
                self._rows.append((world, int(self._finished[world]), figures))
                self._finished[world] += 1
        self._progress(len(self._rows), int(self.quota.sum()))
