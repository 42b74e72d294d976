"""Football's observation terms. What it shares with other sports is in :mod:`sportsuite.mdp.observations`."""

from __future__ import annotations

from sportsuite.mdp.observations import body_state_h, object_state_h

__all__ = ["body_state_h", "object_state_h"]
