"""Starts of Kick out of clips of kicks, with the ball where the foot will meet it (ours).

A swing of the leg is hard to find by trial, and easy to keep once it is there. A file is built once::

    write_buffer("strikes.npz", strike_states([resolve_clip("kick.npz")]))

and given to Kick as ``"env.events.buffer.params.buffers={strikes.npz: 0.5}"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from sportsuite.characters.spec import BODY_NAMES, FEET
from sportsuite.composition.state_buffer import StateBuffer, concatenate
from sportsuite.errors import BadInputError
from sportsuite.mdp.frames import angle_between, heading_from_quat
from sportsuite.motion.clip import Clip
from sportsuite.motion.kinematics import clip_scale, forward_kinematics, quat_rotate, time_derivative
from sportsuite.motion.library import MotionLibrary
from sportsuite.motion.mirror import mirror_clip

__all__ = ["AZIMUTH", "Strike", "find_strike", "strike_states"]

AZIMUTH = "azimuth_deg"
"""Name in the buffer of the direction of the strike against the heading of the start [deg]."""

_RATE = 120.0
_INSTEP = (0.05, 0.0, -0.04)
"""Point of a foot that meets the ball, from the ankle for a character of scale 1 [m]."""
_FEET = [BODY_NAMES.index(name) for name in FEET]


@dataclass(frozen=True)
class Strike:
    """The kick of a clip.

    Attributes:
        time: When the foot is fastest [s].
        foot: Index into :data:`~sportsuite.characters.spec.FEET`.
        ball: Horizontal place of a ball that the foot meets then, world frame [m]. Shape is (2,).
        direction: Horizontal direction of the foot, unit vector, world frame. Shape is (2,).
        speed: Horizontal speed of the foot [m/s].
    """

    time: float
    foot: int
    ball: torch.Tensor
    direction: torch.Tensor
    speed: float


def find_strike(clip: Clip, height: float = 0.25, ahead: float = 0.17) -> Strike:
    """Find the moment at which a clip's foot is fastest near the ground.

    Args:
        clip: A clip with one kick, with or without a ball.
        height: Highest place of the foot at that moment [m].
        ahead: Distance from the instep to the centre of the ball [m].
    """
    feet = _feet(clip)
    velocity = time_derivative(feet, _RATE)[..., :2]
    speed = velocity.norm(dim=-1) * (feet[..., 2] < height)
    row, foot = divmod(int(speed.flatten().argmax()), len(FEET))
    direction = torch.nn.functional.normalize(velocity[row, foot], dim=0)
    ball = feet[row, foot, :2] + ahead * direction
    return Strike(row / _RATE, foot, ball, direction, float(speed[row, foot]))


def strike_states(
    clips: Sequence[Clip],
    states: int = 500,
    lead: tuple[float, float] = (0.12, 1.0),
    noise: float = 0.04,
    clearance: float = 0.2,
    ball_radius: float = 0.11,
    mirror: bool = True,
) -> StateBuffer:
    """Make start states of clips of kicks.

    Args:
        clips: Clips of the character, each with one kick.
        states: States per clip.
        lead: How long before the kick a state may be [s].
        noise: Standard deviation of the ball's place, along either horizontal axis [m].
        clearance: Horizontal distance that both feet keep from the ball between the state and the kick [m].
        ball_radius: Height of the ball [m].
        mirror: Whether the mirrored clips are used as well.

    Returns:
        A buffer of at most ``states`` per clip, roots above the origin, the ball at rest. Its extra :data:`AZIMUTH`
        is the direction of the kick against the heading of each state, which
        :class:`~sportsuite_tasks.football.mdp.commands.KickCommand` takes for its goals.

    Raises:
        BadInputError: If in no clip the ball's place is free before the kick.
    """
    clips = [*clips, *(mirror_clip(clip) for clip in clips)] if mirror else list(clips)
    parts = [part for clip in clips if (part := _starts(clip, states, lead, noise, clearance, ball_radius))]
    if not parts:
        raise BadInputError(
            f"no start of a kick in {', '.join(clip.name for clip in clips)}: expected a foot that comes to the ball's "
            f"place for the first time, {lead[0]:g} to {lead[1]:g} s into the clip or later"
        )
    about = {"task": "clips", "when": "before the kick of a clip", "clips": [clip.name for clip in clips]}
    return concatenate(parts, about)


def _starts(
    clip: Clip, states: int, lead: tuple[float, float], noise: float, clearance: float, radius: float
) -> StateBuffer | None:
    strike = find_strike(clip)
    distance = (_feet(clip)[..., :2] - strike.ball).norm(dim=-1).amin(dim=1)
    kick = round(strike.time * _RATE)
    first, last = max(0, kick - round(lead[1] * _RATE)), kick - round(lead[0] * _RATE)
    # the kicking foot itself comes near in the last moments
    blocked = (distance[first : max(first, last)] < clearance).nonzero()
    first = first if len(blocked) == 0 else first + int(blocked.max()) + 1
    if first >= last:
        return None
    rows = torch.randint(first, last, (states,))
    moments = MotionLibrary([clip]).states(torch.zeros_like(rows), rows / _RATE)
    ball = torch.zeros(states, 7)
    ball[:, :2] = strike.ball + noise * torch.randn(states, 2) - moments.root_pos[:, :2]
    ball[:, 2], ball[:, 6] = radius, 1.0
    place = moments.root_pos.clone()
    place[:, :2] = 0.0
    azimuth = angle_between(heading_from_quat(moments.root_quat), strike.direction.expand(states, 2))
    return StateBuffer(
        root_pose=torch.cat((place, moments.root_quat), dim=1),
        root_velocity=torch.cat((moments.root_lin_vel, moments.root_ang_vel), dim=1),
        joint_pos=moments.joint_pos,
        joint_vel=moments.joint_vel,
        ball_pose=ball,
        ball_velocity=torch.zeros(states, 6),
        extras={AZIMUTH: azimuth.rad2deg()},
    )


def _feet(clip: Clip) -> torch.Tensor:
    """Insteps of a clip at the rate of this module, shape (T, 2, 3) [m]."""
    library = MotionLibrary([clip])
    times = torch.arange(int(float(library.durations[0]) * _RATE)) / _RATE
    states = library.states(torch.zeros(len(times), dtype=torch.long), times)
    scale = clip_scale(clip)
    places, quats = forward_kinematics(states.root_pos, states.root_quat, states.joint_pos, scale)
    instep = scale * torch.tensor(_INSTEP)
    return places[:, _FEET] + quat_rotate(quats[:, _FEET], instep.expand(len(times), len(_FEET), 3))
