"""The machine that decides which skill plays, in every world on its own.

States are skills. A transition is a row of a declared table: from, to, and the name of a guard. A guard is a named
function of what it is shown (states, contacts, the user's commands) that says for every world whether the transition
may be taken. The table is checked when it is made, and draws itself for the docs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from sportsuite.errors import BadInputError, unknown_name

__all__ = ["Guard", "MachineTable", "StateMachine", "Transition"]

Guard = Callable[[Any], torch.Tensor]
"""Says in which worlds a transition may be taken. Returns shape (num_envs,), bool."""


@dataclass(frozen=True)
class Transition:
    """One row of the table."""

    source: str
    target: str
    guard: str
    """Name of the guard."""
    label: str = ""
    """What the guard means, for the drawing; its name if empty."""


@dataclass(frozen=True)
class MachineTable:
    """States and transitions, checked when made.

    Raises:
        BadInputError: If a name is given twice or unknown, two rows join the same states, a row stays in its state, or
            a state can't be reached from the first.
    """

    states: tuple[str, ...]
    """Skills; the first is where a world starts."""
    transitions: tuple[Transition, ...]
    """Where several rows leave one state, the first whose guard holds is taken."""

    def __post_init__(self) -> None:
        if not self.states or len(set(self.states)) < len(self.states):
            raise BadInputError(f"state machine: states {', '.join(self.states) or 'none'}: expected different names")
        seen: set[tuple[str, str]] = set()
        for row in self.transitions:
            for name in (row.source, row.target):
                if name not in self.states:
                    raise unknown_name("state", name, self.states)
            if row.source == row.target:
                raise BadInputError(f"state machine: {row.source} -> {row.target} leads nowhere")
            if (row.source, row.target) in seen:
                raise BadInputError(
                    f"state machine: {row.source} -> {row.target} is given twice; join the guards in one function"
                )
            seen.add((row.source, row.target))
        self._check_reachable()

    def _check_reachable(self) -> None:
        reached, frontier = {self.states[0]}, [self.states[0]]
        while frontier:
            here = frontier.pop()
            new = {row.target for row in self.transitions if row.source == here} - reached
            reached |= new
            frontier += new
        lost = [name for name in self.states if name not in reached]
        if lost:
            raise BadInputError(
                f"state machine: {', '.join(lost)} can't be reached from {self.states[0]}: add a transition to it"
            )

    def rows(self) -> tuple[tuple[str, str, str, str], ...]:
        """Return the transitions as plain tuples, for configs: source, target, guard, label."""
        return tuple((row.source, row.target, row.guard, row.label) for row in self.transitions)

    def to_mermaid(self) -> str:
        """Draw the table as a Mermaid state diagram."""
        lines = ["stateDiagram-v2", f"    [*] --> {self.states[0]}"]
        lines += [f"    {row.source} --> {row.target}: {row.label or row.guard}" for row in self.transitions]
        return "\n".join(lines) + "\n"


class StateMachine:
    """A table at work in many worlds at once. Every world takes at most one transition per step.

    Args:
        table: States and transitions.
        guards: Guards by name.
        num_envs: Number of worlds.
        device: Torch device.

    Attributes:
        state: Index of the skill that plays. Shape is (num_envs,), long.
        steps: Steps since the skill began, 0 in the step that switched. Shape is (num_envs,), long.
        taken: Row of the table that the last step took, -1 for none. Shape is (num_envs,), long.
        counts: How often each row has been taken in all worlds. Shape is (transitions,), long.

    Raises:
        BadInputError: If the table names a guard that isn't given.
    """

    def __init__(
        self, table: MachineTable, guards: Mapping[str, Guard], num_envs: int, device: str | torch.device = "cpu"
    ):
        for row in table.transitions:
            if row.guard not in guards:
                raise unknown_name("guard", row.guard, guards)
        self.table = table
        self._guards = {row.guard: guards[row.guard] for row in table.transitions}
        index = {name: number for number, name in enumerate(table.states)}
        self._ends = [(index[row.source], index[row.target]) for row in table.transitions]
        self.state = torch.zeros(num_envs, dtype=torch.long, device=device)
        self.steps = torch.zeros_like(self.state)
        self.taken = torch.full_like(self.state, -1)
        self.counts = torch.zeros(len(table.transitions), dtype=torch.long, device=device)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states by index."""
        return self.table.states

    def names(self) -> list[str]:
        """Name of every world's state."""
        return [self.states[number] for number in self.state.tolist()]

    def index(self, state: str) -> int:
        """Index of a state.

        Raises:
            BadInputError: If there is none of that name.
        """
        if state not in self.states:
            raise unknown_name("state", state, self.states)
        return self.states.index(state)

    def step(self, seen: Any) -> torch.Tensor:
        """Take the transitions whose guards hold.

        Args:
            seen: What the guards look at.

        Returns:
            Worlds that switched. Shape is (num_envs,), bool.

        Raises:
            BadInputError: If a guard returns something else than one truth value per world.
        """
        before = self.state.clone()
        self.taken.fill_(-1)
        verdicts: dict[str, torch.Tensor] = {}
        for number, (row, (source, target)) in enumerate(zip(self.table.transitions, self._ends, strict=True)):
            free = (before == source) & (self.taken < 0)
            if not free.any():
                continue
            if row.guard not in verdicts:
                verdicts[row.guard] = self._ask(row.guard, seen)
            going = free & verdicts[row.guard]
            self.state[going] = target
            self.taken[going] = number
            self.counts[number] += going.sum()
        switched = self.taken >= 0
        self.steps += 1
        self.steps[switched] = 0
        return switched

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> None:
        """Put worlds back to the first state."""
        ids = slice(None) if env_ids is None else env_ids
        self.state[ids] = 0
        self.steps[ids] = 0
        self.taken[ids] = -1

    def _ask(self, name: str, seen: Any) -> torch.Tensor:
        verdict = self._guards[name](seen)
        if not isinstance(verdict, torch.Tensor) or verdict.dtype != torch.bool or verdict.shape != self.state.shape:
            got = type(verdict).__name__
            if isinstance(verdict, torch.Tensor):
                got = f"shape {tuple(verdict.shape)} and type {verdict.dtype}"
            raise BadInputError(f"guard {name!r}: expected a bool tensor of shape ({len(self.state)},), got {got}")
        return verdict
