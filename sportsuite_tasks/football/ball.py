"""The football."""

from __future__ import annotations

from sportsuite.physics.ball_contact import BallContactCfg


def football() -> BallContactCfg:
    """PhysicsFC's ball: diameter 0.22 m, mass 0.45 kg, restitution 0.8."""
    return BallContactCfg(radius=0.11, mass=0.45, restitution=0.8, look="football")
