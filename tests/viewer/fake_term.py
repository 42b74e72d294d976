"""A term to steer, without physics."""

from sportsuite.viewer.controls import Control

CONTROLS = (
    Control("go", "direction", "Go", keys=("w", "a", "s", "d", "arrowup", "arrowleft", "arrowdown", "arrowright")),
    Control("run", "hold", "Run", keys=("shift",)),
    Control("kick", "press", "Kick", keys=("k", "space"), gamepad=0),
    Control("speed", "number", "Speed", low=0.0, high=7.0, step=0.5, default=2.0),
)


class FakeTerm:
    """Remembers what it was told; a kick makes it kick until it is told where to go."""

    def __init__(self):
        self.calls = []
        self.skill = "move"

    def controls(self):
        return CONTROLS

    def set_control(self, name, value):
        self.calls.append((name, value))
        self.skill = "kick" if name == "kick" else "move" if name == "go" else self.skill

    def status(self):
        return {"Skill": self.skill}

    def last(self, name):
        """What a control was last set to; None if it wasn't."""
        return next((value for called, value in reversed(self.calls) if called == name), None)
