"""Turns what went wrong in a step into log lines that name the worlds, and into counters."""

from __future__ import annotations

import logging

import mujoco
import numpy as np

logger = logging.getLogger(__name__)

_MEANING = {
    "INERTIA": "inertia matrix is singular",
    "CONTACTFULL": "MuJoCo's arena has no room for more contacts",
    "CNSTRFULL": "MuJoCo's arena has no room for more constraint rows",
    "BADQPOS": "NaN, infinite or huge position; the world is not stepped until it is reset",
    "BADQVEL": "NaN, infinite or huge velocity; the world is not stepped until it is reset",
    "BADQACC": "NaN, infinite or huge acceleration; the world is not stepped until it is reset",
    "BADCTRL": "NaN, infinite or huge control; MuJoCo used zeros",
}


def warning_names() -> list[str]:
    """Return the names of MuJoCo's warnings in the order of their bits, without the ``mjWARN_`` prefix."""
    members = sorted(mujoco.mjtWarning.__members__.values(), key=int)
    return [member.name.removeprefix("mjWARN_") for member in members if member.name.startswith("mjWARN_")]


def list_worlds(worlds: np.ndarray, limit: int = 8) -> str:
    """Return world numbers for a message, shortened after ``limit``."""
    shown = ", ".join(str(int(world)) for world in worlds[:limit])
    return shown if len(worlds) <= limit else f"{shown} and {len(worlds) - limit} more"


class StepReport:
    """Counts warnings and overflows; each kind is logged the first time it occurs.

    Args:
        num_worlds: Number of worlds.

    Attributes:
        warnings: Number of (world, step) warnings of each kind so far, by name.
        contact_overflow: Contacts so far that the contact arrays had no room for (they acted, but are not reported).
        row_overflow: Constraint rows so far beyond ``njmax`` (they acted, but their forces are not reported).
    """

    def __init__(self, num_worlds: int) -> None:
        self._names = warning_names()
        self.warned = np.zeros(num_worlds, np.int32)
        self.warnings = dict.fromkeys(self._names, 0)
        self.contact_overflow = 0
        self.row_overflow = 0

    def read_warnings(self) -> None:
        """Count and log the warnings that the last step left in :attr:`warned`, and clear them."""
        if not self.warned.any():
            return
        for bit, name in enumerate(self._names):
            worlds = np.flatnonzero(self.warned & (1 << bit))
            if worlds.size and self.warnings[name] == 0:
                logger.warning("MuJoCo: %s in world %s (later cases are counted)", _MEANING[name], list_worlds(worlds))
            self.warnings[name] += int(worlds.size)
        self.warned[:] = 0

    def count_contacts(self, lost: int, capacity: int) -> None:
        """Count contacts that did not fit.

        Args:
            lost: Contacts of the last step beyond ``capacity``.
            capacity: Contacts that all worlds together may report.
        """
        if lost and self.contact_overflow == 0:
            logger.warning(
                "%d contacts of this step are not reported, the arrays hold %d: raise nconmax (later ones are counted)",
                lost,
                capacity,
            )
        self.contact_overflow += lost

    def count_rows(self, rows: np.ndarray, limit: int) -> None:
        """Count constraint rows that did not fit.

        Args:
            rows: (worlds,) constraint rows of the last step.
            limit: Rows per world that can be reported.
        """
        over = np.maximum(rows - limit, 0)
        lost = int(over.sum())
        if lost and self.row_overflow == 0:
            logger.warning(
                "forces of %d constraint rows are not reported, world %s: njmax is %d (later cases are counted)",
                lost,
                list_worlds(np.flatnonzero(over)),
                limit,
            )
        self.row_overflow += lost
