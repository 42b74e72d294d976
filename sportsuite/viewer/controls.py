"""What a person can steer a task with: controls that a command term declares, and how keys become their values.

A task is steered when one of its command terms is :class:`Steerable`. Nothing here knows a sport or a browser:
:mod:`sportsuite.viewer.control_panel` shows the controls, the command term gives them their meaning.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sportsuite.errors import BadInputError, unknown_name

__all__ = [
    "KINDS",
    "Control",
    "Steerable",
    "Value",
    "check_controls",
    "direction_of",
    "held_keys",
    "pressed",
    "steerable_term",
    "turned",
]

KINDS = ("direction", "hold", "press", "number")
"""Kinds of controls: a direction in the ground plane, on while a key is held, once per press, a slider."""

Value = float | bool | tuple[float, float]
"""What a control is set to."""


@dataclass(frozen=True)
class Control:
    """One thing that a person can set.

    Keys are named as in ``"w"``, ``"5"``, ``"space"``, ``"shift"``, ``"arrowup"``: by their place on an American
    keyboard, in lower case. A direction has four or a multiple of it: forward, left, back, right, and so on.

    Raises:
        BadInputError: If the kind is unknown, a direction's keys aren't a multiple of four, a control without a slider
            has no key, or a number's default isn't within its range.
    """

    name: str
    kind: str
    label: str
    """As shown."""
    keys: tuple[str, ...] = ()
    low: float = 0.0
    """Lowest number."""
    high: float = 1.0
    """Highest number."""
    step: float = 0.1
    """Smallest change of a number."""
    default: float = 0.0
    """Number before anyone sets it."""
    gamepad: int | None = None
    """Button of a gamepad in the browsers' standard layout; directions have the left stick."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown_name(f"kind of control {self.name!r}", self.kind, KINDS)
        if self.kind == "direction" and (not self.keys or len(self.keys) % 4):
            raise BadInputError(f"control {self.name!r}: {len(self.keys)} keys: expected four or a multiple of it")
        if self.kind in ("hold", "press") and not self.keys:
            raise BadInputError(f"control {self.name!r}: expected a key")
        if self.kind == "number" and not self.low <= self.default <= self.high:
            raise BadInputError(f"control {self.name!r}: default {self.default}: expected {self.low} to {self.high}")


@runtime_checkable
class Steerable(Protocol):
    """A command term that a person can steer. All calls come from the thread that steps the environment."""

    def controls(self) -> Sequence[Control]:
        """Return what can be set, in the order in which it is shown."""
        ...

    def set_control(self, name: str, value: Value) -> None:
        """Set a control; from the first call on the person commands, in all worlds.

        Args:
            name: Name of the control.
            value: A direction as (x, y) in the ground plane, world frame, length 1, or 0 where no key is held; True
                or False for one that is held; True for a press; a number within the control's range.
        """
        ...

    def status(self) -> Mapping[str, str]:
        """Return what is shown of the first world, by label."""
        ...


def check_controls(controls: Sequence[Control]) -> tuple[Control, ...]:
    """Make sure that no two controls share a name or a key.

    Raises:
        BadInputError: If they do.
    """
    names, owners = set(), {}
    for control in controls:
        if control.name in names:
            raise BadInputError(f"control {control.name!r} is declared twice: expected different names")
        names.add(control.name)
        for key in control.keys:
            if key in owners:
                raise BadInputError(f"key {key!r} is used by {owners[key]!r} and {control.name!r}: expected one")
            owners[key] = control.name
    return tuple(controls)


def steerable_term(env: Any) -> Steerable | None:
    """Return the first command term that a person can steer; None if there is none.

    Args:
        env: The environment, not wrapped.
    """
    manager = getattr(env, "command_manager", None)
    terms = [] if manager is None else [manager.get_term(name) for name in manager.active_terms]
    return next((term for term in terms if isinstance(term, Steerable)), None)


def held_keys(text: str) -> frozenset[str]:
    """Read which keys are held from names with spaces between them."""
    return frozenset(text.split())


def direction_of(control: Control, held: Collection[str]) -> tuple[float, float]:
    """Return where held keys point to, seen by the person.

    Args:
        control: A direction.
        held: Names of the keys that are held.

    Returns:
        Forward and left, of length 1, or zeros if no key is held or they cancel each other.
    """
    forward, left, back, right = (any(key in held for key in control.keys[start::4]) for start in range(4))
    ahead, aside = float(forward) - float(back), float(left) - float(right)
    length = math.hypot(ahead, aside)
    return (ahead / length, aside / length) if length else (0.0, 0.0)


def turned(local: tuple[float, float], heading: tuple[float, float]) -> tuple[float, float]:
    """Turn a direction seen by the person into the world.

    Args:
        local: Forward and left.
        heading: Where the person looks, x and y in the ground plane, world frame, length 1.

    Returns:
        x and y in the ground plane, world frame.
    """
    (ahead, aside), (x, y) = local, heading
    return ahead * x - aside * y, ahead * y + aside * x


def pressed(control: Control, before: Collection[str], held: Collection[str]) -> bool:
    """Tell whether a control's key has gone down.

    Args:
        control: The control.
        before: Names of the keys that were held.
        held: Names of the keys that are held now.
    """
    return any(key in held and key not in before for key in control.keys)
