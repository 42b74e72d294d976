"""The exceptions that sportsuite raises on purpose, and the wording they share.

The command line turns them into exit codes: 2 for :class:`BadInputError`, 1 for every other :class:`SportSuiteError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["BadInputError", "SportSuiteError", "nearest", "unknown_name"]

_SIMILARITY = 0.5
"""Lowest difflib ratio that still counts as a likely misspelling (ours: finds ``trapp`` and ``Trap``, not ``xyz``)."""

_MARGIN = 0.2
"""Candidates this much less alike than the best one are left out (ours: long common prefixes make all ids alike)."""

_SHORT_LIST = 8
"""Up to this many known names an error lists them all (ours: about one line of a terminal)."""


class SportSuiteError(Exception):
    """Base of all errors that sportsuite raises on purpose; its text is meant for the user."""


class BadInputError(SportSuiteError, ValueError):
    """Something the user gave (a name, a value, a file) can't be used.

    The message names the thing, the value, what was expected and, for names, the nearest valid ones.
    """


def nearest(name: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """Return the candidates that look most like a name, best first.

    Case is ignored, and a candidate that contains the whole name counts as near however long it is.

    Args:
        name: What was asked for.
        candidates: The valid names.
        count: How many to return at most.

    Returns:
        Up to ``count`` candidates; empty if none is near.
    """
    wanted = name.casefold()
    likeness = {candidate: _likeness(wanted, candidate.casefold()) for candidate in candidates}
    enough = max([_SIMILARITY, *(value - _MARGIN for value in likeness.values())])
    near = [candidate for candidate, value in likeness.items() if value >= enough]
    return sorted(near, key=lambda candidate: (-likeness[candidate], candidate))[:count]


def unknown_name(kind: str, name: str, candidates: Iterable[str]) -> BadInputError:
    """Make the error for a name that isn't among the valid ones.

    Args:
        kind: What the name stands for, such as ``"task"`` or ``"motion clip"``.
        name: What was asked for.
        candidates: The valid names.

    Returns:
        An error to raise. Its text gives the nearest names, or all of them where they are few.
    """
    known = sorted(set(candidates))
    near = nearest(name, known)
    if near:
        hint = f"did you mean {' or '.join(repr(candidate) for candidate in near)}?"
    elif not known:
        hint = f"there is no {kind} to choose from"
    elif len(known) <= _SHORT_LIST:
        hint = f"known: {', '.join(known)}"
    else:
        hint = f"none of the {len(known)} known names is near; the first are {', '.join(known[:_SHORT_LIST])}"
    return BadInputError(f"unknown {kind} {name!r}: {hint}")


def _likeness(wanted: str, candidate: str) -> float:
    """Rate from 0 to 1 how likely ``candidate`` was meant; both are casefolded."""
    ratio = difflib.SequenceMatcher(None, wanted, candidate).ratio()
    if wanted and wanted in candidate:
        return max(ratio, _SIMILARITY + 0.01)
    return ratio
