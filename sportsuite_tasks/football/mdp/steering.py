"""What a person can set while SportSuite-Football-v0 is shown in the browser, and the order that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.viewer.controls import Control, Value

MAX_SPEED, MAX_KICK = 7.0, 35.0
"""Largest speeds that the skills were asked for in training [m/s] (PhysicsFC)."""

CONTROLS = (
    Control(
        "direction",
        "direction",
        "Direction",
        keys=("w", "a", "s", "d", "arrowup", "arrowleft", "arrowdown", "arrowright"),
    ),
    Control("run", "hold", "Run", keys=("shift",), gamepad=5),
    Control("to_ball", "hold", "To the ball", keys=("b",), gamepad=4),
    Control("trap", "press", "Trap", keys=("t",), gamepad=2),
    Control("kick", "press", "Kick", keys=("k", "space"), gamepad=0),
    Control("cancel", "press", "Cancel", keys=("c",), gamepad=1),
    Control("speed", "number", "Speed [m/s]", high=MAX_SPEED, default=2.0),
    Control("run_speed", "number", "Run speed [m/s]", high=MAX_SPEED, default=4.0),
    Control("kick_speed", "number", "Kick speed [m/s]", high=MAX_KICK, step=0.5, default=12.0),
    Control("kick_elevation", "number", "Kick angle [deg]", high=60.0, step=1.0, default=15.0),
)
"""Speeds, angles and keys are ours."""

_BY_NAME = {control.name: control for control in CONTROLS}


@dataclass
class Steering:
    """What a person holds and has set."""

    direction: tuple[float, float] = (0.0, 0.0)
    """In the ground plane, world frame, length 1; zeros: none."""
    direction_deg: float = 0.0
    """The last direction [deg], kept while there is none."""
    held: dict[str, bool] = field(default_factory=lambda: {"run": False, "to_ball": False})
    """What is held."""
    numbers: dict[str, float] = field(
        default_factory=lambda: {control.name: control.default for control in CONTROLS if control.kind == "number"}
    )
    """What the sliders say."""

    def set(self, name: str, value: Value) -> None:
        """Take the value of a control; presses leave no trace here.

        Raises:
            BadInputError: If there is no such control, or it can't have that value.
        """
        if name not in _BY_NAME:
            raise unknown_name("control", name, _BY_NAME)
        control = _BY_NAME[name]
        if control.kind == "direction":
            if not isinstance(value, tuple):
                raise BadInputError(f"control {name!r}: {value!r}: expected x and y")
            self.direction = value
            if any(value):
                self.direction_deg = math.degrees(math.atan2(value[1], value[0]))
        elif control.kind == "number":
            if isinstance(value, tuple) or not control.low <= value <= control.high:
                raise BadInputError(f"control {name!r}: {value!r}: expected {control.low} to {control.high}")
            self.numbers[name] = float(value)
        elif control.kind == "hold":
            self.held[name] = bool(value)

    def order(self) -> dict[str, Any]:
        """Return the order of this moment, in the words of :class:`~sportsuite_tasks.football.mdp.user_command.Order`.

        The player stands while no direction is held, and kicks where it faces.
        """
        goes = any(self.direction) or self.held["to_ball"]
        return {
            "direction_deg": self.direction_deg,
            "speed": self.numbers["run_speed" if self.held["run"] else "speed"] if goes else 0.0,
            # who holds a direction too goes there
            "to_ball": self.held["to_ball"] and not any(self.direction),
            "kick_speed": self.numbers["kick_speed"],
            "kick_elevation_deg": self.numbers["kick_elevation"],
        }
