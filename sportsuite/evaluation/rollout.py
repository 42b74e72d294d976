"""Plays episodes in parallel worlds and counts them without a bias to short ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from sportsuite.errors import SportSuiteError
from sportsuite.learning.policy import Policy

__all__ = ["Probe", "before_reset", "quotas", "run_episodes"]


class Probe(Protocol):
    """Something that is measured while episodes are played."""

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Look at some worlds. Every world is seen once per step, as physics left it and before it is reset.

        Args:
            env: The environment.
            ids: Worlds, shape (n,).
        """

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the figures of episodes that end in this step, and forget them. Called after :meth:`observe`.

        Args:
            env: The environment, not yet reset.
            ids: Worlds, shape (n,).

        Returns:
            By name, shape (n,).
        """
        ...


def quotas(episodes: int, num_envs: int) -> torch.Tensor:
    """Say how many episodes of each world count.

    The first episodes to finish anywhere would be the short ones. With a number fixed beforehand for every world, the
    length of an episode has no say in whether it counts.

    Args:
        episodes: Episodes wanted.
        num_envs: Number of worlds.

    Returns:
        Shape (num_envs,), summing to ``episodes``.
    """
    share = torch.full((num_envs,), episodes // num_envs)
    share[: episodes % num_envs] += 1
    return share


def run_episodes(
    env: Any,
    policy: Policy,
    episodes: int,
    seed: int,
    probe: Probe | None = None,
    progress: Callable[[int, int], None] = lambda done, wanted: None,
) -> dict[str, torch.Tensor]:
    """Play until every world has finished its share of episodes.

    Args:
        env: A manager-based environment, not wrapped.
        policy: The policy.
        episodes: How many episodes count.
        seed: Seed of the environment.
        probe: What else to measure.
        progress: Called with the episodes done and wanted, whenever one ended.

    Returns:
        One row per episode, ordered by world, on the CPU. Columns of shape (episodes,): ``"return"``, ``"length_s"``
        [s], ``"terminated"`` and ``"end:<term>"`` for every termination term (0 or 1), and the probe's.

    Raises:
        SportSuiteError: If a world goes on for more than twice its time limit.
    """
    counter = _Counter(env, quotas(episodes, env.num_envs), probe, progress)
    obs, _ = env.reset(seed=seed)
    limit = 2 * int(env.max_episode_length) * int(counter.quota.max()) + 2
    with before_reset(env, counter.ended):
        for _ in range(limit):
            obs, _, terminated, truncated, _ = env.step(policy(obs))
            done = terminated | truncated
            counter.went_on(done)
            policy.reset(done)
            if counter.complete:
                return counter.table()
    raise SportSuiteError(
        f"{episodes - counter.done} episodes did not end within {limit} steps: the task has no time limit"
    )


class _Counter:
    """Collects the rows of the episodes that count."""

    def __init__(self, env: Any, quota: torch.Tensor, probe: Probe | None, progress: Callable[[int, int], None]):
        self.quota = quota
        self.done = 0
        self._env, self._probe, self._progress = env, probe, progress
        self._finished = torch.zeros_like(quota)
        self._returns = torch.zeros(env.num_envs, device=env.device)
        self._steps = torch.zeros(env.num_envs, device=env.device)
        self._rows: list[tuple[int, int, dict[str, float]]] = []

    @property
    def complete(self) -> bool:
        """Whether every world has finished its share."""
        return self.done == int(self.quota.sum())

    def ended(self, ids: torch.Tensor) -> None:
        """Take in the last step of worlds that are about to be reset."""
        ids = ids.long()
        self._step(ids)
        columns = self._figures(ids)
        if self._probe is not None:
            columns |= self._probe.finish(self._env, ids)
        columns = {name: values.detach().cpu() for name, values in columns.items()}
        self._returns[ids] = 0.0
        self._steps[ids] = 0.0
        for row, world in enumerate(ids.tolist()):
            if self._finished[world] < self.quota[world]:
                figures = {name: float(values[row]) for name, values in columns.items()}
                self._rows.append((world, int(self._finished[world]), figures))
                self._finished[world] += 1
                self.done += 1
        self._progress(self.done, int(self.quota.sum()))

    def went_on(self, done: torch.Tensor) -> None:
        """Take in a step of the worlds whose episode goes on."""
        self._step((~done).nonzero().squeeze(-1))

    def table(self) -> dict[str, torch.Tensor]:
        """Return the rows, ordered by world and then by time."""
        rows = [figures for _, _, figures in sorted(self._rows, key=lambda row: row[:2])]
        return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}

    def _step(self, ids: torch.Tensor) -> None:
        self._returns[ids] += self._env.reward_buf[ids]
        self._steps[ids] += 1.0
        if self._probe is not None and len(ids):
            self._probe.observe(self._env, ids)

    def _figures(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        manager = self._env.termination_manager
        figures = {
            "return": self._returns[ids],
            "length_s": self._steps[ids] * self._env.step_dt,
            "terminated": manager.terminated[ids].float(),
        }
        return figures | {f"end:{name}": manager.get_term(name)[ids].float() for name in manager.active_terms}


@contextmanager
def before_reset(env: Any, look: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Have this one environment show its worlds before it resets them; its step would only return their new state.

    Args:
        env: The environment.
        look: Called with the worlds, shape (n,), as physics left them.
    """
    reset = env._reset_idx

    def look_then_reset(env_ids: torch.Tensor) -> None:
        look(env_ids)
        reset(env_ids)

    env._reset_idx = look_then_reset
    try:
        yield
    finally:
        del env._reset_idx
