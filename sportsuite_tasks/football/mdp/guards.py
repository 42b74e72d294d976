"""When a football skill hands over to the next: PhysicsFC's eight transitions, as pure functions of what is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from sportsuite.composition.state_machine import MachineTable, Transition

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

NEAR_M = 2.0
"""Horizontal distance of root and ball up to which a player dribbles or kicks [m] (PhysicsFC)."""


@dataclass(frozen=True)
class Play:
    """What the guards look at; every field has one row per world."""

    root_pos: torch.Tensor
    """Horizontal position of the root [m]. Shape is (N, 2)."""
    root_vel: torch.Tensor
    """Its horizontal velocity [m/s]. Shape is (N, 2)."""
    ball_pos: torch.Tensor
    """Horizontal position of the ball [m]. Shape is (N, 2)."""
    ball_vel: torch.Tensor
    """Its horizontal velocity [m/s]. Shape is (N, 2)."""
    touched: torch.Tensor
    """Ball and character touched in the last step. Shape is (N,), bool."""
    trap: torch.Tensor
    """The user asks for a trap. Shape is (N,), bool."""
    kick: torch.Tensor
    """The user asks for a kick. Shape is (N,), bool."""
    cancel: torch.Tensor
    """The user takes it back. Shape is (N,), bool."""


def ball_distance(play: Play) -> torch.Tensor:
    """Horizontal distance of root and ball [m]. Shape is (N,)."""
    return (play.ball_pos - play.root_pos).norm(dim=1)


def closing_speed(play: Play) -> torch.Tensor:
    """How fast the horizontal distance of root and ball shrinks, times that distance [m^2/s]. Shape is (N,).

    PhysicsFC says "approaching" without a formula; this one is ours: ``(v_ball - v_root) . (x_root - x_ball) > 0``.
    """
    return ((play.ball_vel - play.root_vel) * (play.root_pos - play.ball_pos)).sum(dim=1)


def trap_wanted(play: Play) -> torch.Tensor:
    """Move -> Trap: the user asks for a trap and the ball approaches."""
    return play.trap & (closing_speed(play) > 0.0)


def ball_comes_near(play: Play) -> torch.Tensor:
    """Move -> Dribble: the ball is within 2 m and approaches."""
    return (ball_distance(play) <= NEAR_M) & (closing_speed(play) > 0.0)


def kick_wanted(play: Play) -> torch.Tensor:
    """Dribble -> Kick: the user asks for a kick."""
    return play.kick


def ball_lost(play: Play) -> torch.Tensor:
    """Dribble -> Move: the ball is farther than 2 m."""
    return ball_distance(play) > NEAR_M


def ball_touched(play: Play) -> torch.Tensor:
    """Trap -> Dribble: ball and character touch."""
    return play.touched


def trap_over(play: Play) -> torch.Tensor:
    """Trap -> Move: the user cancels, or the ball moves away."""
    return play.cancel | (closing_speed(play) < 0.0)


def kick_done(play: Play) -> torch.Tensor:
    """Kick -> Move: the ball has been touched, or is farther than 2 m."""
    return play.touched | (ball_distance(play) > NEAR_M)


def kick_cancelled(play: Play) -> torch.Tensor:
    """Kick -> Dribble: the user cancels."""
    return play.cancel


GUARDS: dict[str, Callable[[Play], torch.Tensor]] = {
    guard.__name__: guard
    for guard in (
        trap_wanted,
        ball_comes_near,
        kick_wanted,
        ball_lost,
        ball_touched,
        trap_over,
        kick_done,
        kick_cancelled,
    )
}

TABLE = MachineTable(
    states=("move", "trap", "dribble", "kick"),
    transitions=(
        Transition("move", "trap", "trap_wanted", "trap command, ball approaches"),
        Transition("move", "dribble", "ball_comes_near", "ball within 2 m, approaches"),
        Transition("dribble", "kick", "kick_wanted", "kick command"),
        Transition("dribble", "move", "ball_lost", "ball beyond 2 m"),
        Transition("trap", "dribble", "ball_touched", "ball touched"),
        Transition("trap", "move", "trap_over", "cancelled, or ball moves away"),
        Transition("kick", "move", "kick_done", "ball touched, or beyond 2 m"),
        Transition("kick", "dribble", "kick_cancelled", "cancelled"),
    ),
)
"""PhysicsFC's state machine. Where two guards hold at once the upper row is taken: a wanted trap before a dribble
(ours; the text names no order)."""


def near_and_closing(env: SportEnv) -> torch.Tensor:
    """Moments for recording Move's states that Dribble starts from: the ball is within 2 m and approaches.

    Shape is (num_envs,), bool. See :func:`sportsuite.composition.recorder.moment_of`.
    """
    robot, ball = env.scene["robot"].data, env.scene["ball"].data
    nobody = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    return ball_comes_near(
        Play(
            robot.root_link_pos_w.torch[:, :2],
            robot.root_link_lin_vel_w.torch[:, :2],
            ball.root_link_pos_w.torch[:, :2],
            ball.root_link_lin_vel_w.torch[:, :2],
            *(nobody,) * 4,
        )
    )
