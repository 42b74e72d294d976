"""Clips without a recording: walks and runs in any direction, turns, standing, reaching and hanging on a wall.

Feet are placed first: each stands where the pelvis will be half way through the stance, and rolls from heel to toe on
fixed edges of its sole, so it can't slide. The pelvis moves over them as high as the legs allow; the joints follow by
the same solver that locks the feet of recordings. Trunk and arms swing with the phase.

Sources: stride frequency after Grieve & Gear 1966 (Ergonomics 5, 379-399); change from walking to running at a Froude
number of 0.5 (Alexander 1989, Physiol. Rev. 69, 1199-1227); pelvis and arm amplitudes are in the range of Perry's
Gait Analysis (1992) for walking. What no text gives is marked "ours".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.body_points import BodyPoints, body_points, trajectory_positions
from sportsuite.motion.clip import Clip
from sportsuite.motion.foot_contacts import both_soles
from sportsuite.motion.foot_lock import LEG_HINGES, FootLockCfg, PointGoals, hold_points
from sportsuite.motion.gait import Gait, body_path, foot_motion, gait_for, pelvis_heights
from sportsuite.motion.mujoco_model import humanoid_model, model_scale, sole_points
from sportsuite.motion.trajectory_solver import advance

LICENCE = "BSD-3-Clause"
"""Licence of synthetic clips: the project's own."""

SOURCE = "synthetic"

_MARGIN = 8
"""Frames before and after that are solved and cut off, so that the ends are as steady as the middle."""

_FIXED_ROOT = FootLockCfg(pin=1e5, keep_position=1e6, keep_rotation=1e6, keep_joint=1e-2, blend=0.06, rounds=30)
_MOST_FRAMES = 100_000
"""Most frames of a clip (ours: a typing error in its length must not fill the memory)."""

_REACH = 0.25
"""How far a hand reaches up at scale 1 [m] (ours: what is left of a bent arm)."""

_SWING = 10.0
"""Weight of a swinging sole against a standing one's ``pin`` (ours): it gives way where the leg would snap straight."""
_FREE_BODY = FootLockCfg(
    pin=1e4, keep_position=50.0, keep_rotation=30.0, keep_joint=1.0, keep_arm=1.0, blend=0.05, rounds=40
)


def walk_cycle(
    speed: float,
    direction: float = 0.0,
    *,
    turn_rate: float = 0.0,
    character: str = "football",
    fps: float = 60.0,
    seconds: float = 4.0,
) -> Clip:
    """Make whole strides of a walk, or of a run where the speed asks for it, that may be repeated.

    Args:
        speed: Speed of the pelvis over the ground [m/s]; 0 with a ``turn_rate`` turns on the spot.
        direction: Where it walks, against where it faces, counter-clockwise: 0 forward, pi/2 left, pi backward [rad].
        turn_rate: How fast it turns left meanwhile [rad/s].
        character: Size of the character.
        fps: Frames per second [Hz], at least 20.
        seconds: Least duration [s].

    Returns:
        A clip that starts at the origin, facing x, in a whole number of strides. Standing, if nothing moves.

    Raises:
        BadInputError: If the character is unknown, the speed isn't within 0 to 4.5 m/s (2 m/s sideways or backwards),
            the rate is too low, or there would be fewer than 3 or more than 100,000 frames.
    """
    _check(speed, direction, turn_rate, fps)
    _frames(seconds, fps)
    if speed < 1e-3 and abs(turn_rate) < 1e-3:
        return stand(seconds, character=character, fps=fps)
    gait = gait_for(speed, direction, turn_rate, model_scale(character), fps)
    strides = max(1, math.ceil(seconds / gait.period))
    count = strides * round(gait.period * fps) + 1
    times = (np.arange(-_MARGIN, count + _MARGIN)) / fps
    qpos = _solve_gait(gait, times, character, fps)[_MARGIN:-_MARGIN]
    name = f"{'run' if gait.running else 'walk'}_{speed:.1f}_{round(math.degrees(direction))}"
    labels = _labels(gait, direction)
    if abs(turn_rate) > 1e-3:
        name += f"_turn_{round(math.degrees(turn_rate))}"
    return _clip(name, qpos, character, fps, labels, loop=True)


def turn_in_place(turn_rate: float, *, character: str = "football", fps: float = 60.0, seconds: float = 4.0) -> Clip:
    """Step on the spot and turn left at ``turn_rate`` [rad/s] (right if negative); see :func:`walk_cycle`."""
    return walk_cycle(0.0, turn_rate=turn_rate, character=character, fps=fps, seconds=seconds)


def stand(seconds: float = 4.0, *, character: str = "football", fps: float = 60.0) -> Clip:
    """Stand upright on both feet and breathe: trunk and arms sway by about a degree (ours).

    Raises:
        BadInputError: If the character is unknown or the clip would have fewer than 3 or more than 100,000 frames.
    """
    count = _frames(seconds, fps)
    gait = Gait(0.0, 0.0, 0.0, period=1.0, duty=1.0, half_width=0.09, clearance=0.0, strike=0.0, lift=0.0)
    times = np.arange(count) / fps
    size = model_scale(character)
    qpos = np.zeros((count, 35))
    qpos[:, 2] = size * (0.985 * spec.ANKLE_DROP + spec.SOLE_DROP["boot"])
    qpos[:, 3] = 1.0
    _bend_legs(qpos)
    breath = np.sin(2.0 * math.pi * times / max(seconds, 1e-6) * max(1, round(seconds / 4.0)))
    _set(qpos, "abdomen_y", np.radians(1.0) * (1.0 + 0.5 * breath))
    _relax_arms(qpos, np.radians(1.0) * breath)
    feet = np.stack([_flat_feet(gait, size, character)] * count)
    return _clip("stand", _on_feet(qpos, feet, character, fps), character, fps, ("stand",), loop=True)


def hang_pose(*, character: str = "climbing", fps: float = 60.0, seconds: float = 2.0, height: float = 1.3) -> Clip:
    """Hang on a wall: hands on holds above the shoulders, arms nearly straight, feet on footholds.

    The wall is the plane x = 0, the character faces it from x < 0.

    Args:
        character: Size of the character.
        fps: Frames per second [Hz].
        seconds: Duration [s].
        height: Height of the pelvis [m].

    Raises:
        BadInputError: If the character is unknown or the clip would have fewer than 3 or more than 100,000 frames.
    """
    count = _frames(seconds, fps)
    holds = np.stack([_holds(character, height)] * count)
    qpos = _on_wall(holds, character, height, fps)
    return _clip("hang", qpos, character, fps, ("hang", "climb"), loop=True)


def reach_pose(
    *, character: str = "climbing", fps: float = 60.0, seconds: float = 2.0, height: float = 1.3, hand: str = "right"
) -> Clip:
    """Reach from a hang for a higher hold with one hand, hold it, the other hand and the feet on their holds.

    The wall is as in :func:`hang_pose`; the hand leaves its hold, swings out and grips 0.25 m higher (ours).

    Args:
        character: Size of the character.
        fps: Frames per second [Hz].
        seconds: Duration [s].
        height: Height of the pelvis at the start [m].
        hand: ``"left"`` or ``"right"``.

    Raises:
        BadInputError: If the character or the hand is unknown, or the clip would have fewer than 3 or more than
            100,000 frames.
    """
    if hand not in ("left", "right"):
        raise BadInputError(f"hand {hand!r}: expected 'left' or 'right'")
    size, share = model_scale(character), np.linspace(0.0, 1.0, _frames(seconds, fps))
    moved = _smooth(np.clip((share - 0.15) / 0.6, 0.0, 1.0))
    holds = np.stack([_holds(character, height)] * len(share))
    index = ("right", "left").index(hand)
    holds[:, index, 2] += _REACH * size * moved
    holds[:, index, 0] -= 0.12 * size * np.sin(math.pi * moved)
    lift = 0.6 * _REACH * size * moved
    qpos = _on_wall(holds, character, height, fps, lift)
    return _clip(f"reach_{hand}", qpos, character, fps, ("reach", "climb", hand))


@dataclass(frozen=True)
class _Swing:
    """Amplitudes of trunk and arms (radians) and the phase (T,) of the right heel's strike, in strides."""

    phase: np.ndarray
    arm: float
    elbow: float
    yaw: float
    list: float
    lean: float


def _check(speed: float, direction: float, turn_rate: float, fps: float) -> None:
    for name, value in (("speed", speed), ("direction", direction), ("turn rate", turn_rate), ("rate", fps)):
        if not math.isfinite(value):
            raise BadInputError(f"{name} {value!r} of a walk: expected a finite number")
    most = 4.5 if math.cos(direction) > 0.9 else 2.0
    if not 0.0 <= speed <= most:
        raise BadInputError(f"speed {speed:g} m/s of a walk in this direction: expected 0 to {most:g}")
    if abs(turn_rate) > 3.0:
        raise BadInputError(f"turn rate {turn_rate:g} rad/s of a walk: expected -3 to 3")
    if fps < 20.0:
        raise BadInputError(f"{fps:g} frames per second of a walk: expected at least 20")


def _frames(seconds: float, fps: float) -> int:
    if not 1.5 <= seconds * fps <= _MOST_FRAMES:
        raise BadInputError(f"{seconds!r} s at {fps!r} Hz: expected at least 3 frames and at most {_MOST_FRAMES:,}")
    return round(seconds * fps) + 1


def _labels(gait: Gait, direction: float) -> tuple[str, ...]:
    kind = "run" if gait.running else "walk"
    if gait.speed < 1e-3:
        kind = "turn"
    names = ("forward", "left", "backward", "right")
    where = () if gait.speed < 1e-3 else (names[round(direction / (0.5 * math.pi)) % 4],)
    turn = () if abs(gait.turn_rate) < 1e-3 else ("turn_left" if gait.turn_rate > 0 else "turn_right",)
    return tuple(dict.fromkeys((kind, *where, *turn)))


def _solve_gait(gait: Gait, times: np.ndarray, character: str, fps: float) -> np.ndarray:
    size = model_scale(character)
    outline = sole_points(character)
    place, yaw = body_path(gait, times)
    feet = np.stack([foot_motion(gait, times, side, outline) for side in (-1.0, 1.0)], axis=1)
    qpos = np.zeros((len(times), 35))
    qpos[:, :2] = place
    swing = _swing(gait, times / gait.period)
    side = np.sin(2.0 * math.pi * (swing.phase - 0.05))
    sway = -0.02 * min(1.0, 1.3 / max(gait.speed, 0.3)) * (0.4 if gait.running else 1.0) * size * side
    qpos[:, 0] -= np.sin(yaw) * sway
    qpos[:, 1] += np.cos(yaw) * sway
    qpos[:, 2] = pelvis_heights(gait, times, qpos[:, :2], yaw, feet, outline, size)
    _set_trunk(qpos, yaw, swing)
    _bend_legs(qpos)
    return _on_feet(qpos, feet.reshape(len(times), -1, 3), character, fps)


def _swing(gait: Gait, phase: np.ndarray) -> _Swing:
    forward = math.cos(gait.direction) * min(1.0, gait.speed / 1.3)
    if gait.running:
        return _Swing(phase, 0.75 * forward, -1.5, 0.12 * forward, 0.03, 0.10 + 0.03 * gait.speed)
    return _Swing(phase, 0.40 * forward, -0.35 - 0.1 * abs(forward), 0.07 * forward, 0.05, 0.03 * forward)


def _set_trunk(qpos: np.ndarray, yaw: np.ndarray, swing: _Swing) -> None:
    """Pelvis turns with the leg in front and tilts; the chest turns against it, the arms against the legs."""
    angle = 2.0 * math.pi * swing.phase
    turn, tilt = swing.yaw * np.cos(angle), swing.list * np.sin(angle)
    _set_root_rotation(qpos, np.stack((tilt, np.full(len(yaw), 0.3 * swing.lean), yaw + turn), axis=1))
    _set(qpos, "abdomen_x", -tilt)
    _set(qpos, "abdomen_y", np.full(len(yaw), 0.7 * swing.lean))
    _set(qpos, "abdomen_z", -2.0 * turn)
    _set(qpos, "neck_z", turn)
    _relax_arms(qpos, np.zeros(len(yaw)))
    for side, sign in (("right", 1.0), ("left", -1.0)):
        back = sign * swing.arm * np.cos(angle)
        _set(qpos, f"{side}_shoulder_y", back)
        _set(qpos, f"{side}_elbow", swing.elbow + 0.3 * np.minimum(back, 0.0))


def _set_root_rotation(qpos: np.ndarray, angles: np.ndarray) -> None:
    """Root orientation from roll, pitch and yaw (T, 3) [rad], yaw first."""
    qpos[:, 3:7] = (1.0, 0.0, 0.0, 0.0)
    for axis in (2, 1, 0):
        step = np.zeros((len(qpos), 6))
        step[:, 3 + axis] = angles[:, axis]
        advance(qpos, step, np.arange(0))


def _set(qpos: np.ndarray, joint: str, angle: np.ndarray | float) -> None:
    low, high = spec.JOINT_LIMITS[joint]
    qpos[:, 7 + spec.JOINT_NAMES.index(joint)] = np.clip(angle, low, high)


def _bend_legs(qpos: np.ndarray) -> None:
    for side in ("left", "right"):
        for joint, angle in (("hip_y", -0.15), ("knee", 0.3), ("ankle_y", -0.15)):
            _set(qpos, f"{side}_{joint}", angle)


def _relax_arms(qpos: np.ndarray, sway: np.ndarray) -> None:
    for side, sign in (("right", -1.0), ("left", 1.0)):
        _set(qpos, f"{side}_shoulder_x", sign * 0.12 + sign * sway)
        _set(qpos, f"{side}_elbow", np.full(len(qpos), -0.3))


def _flat_feet(gait: Gait, size: float, character: str) -> np.ndarray:
    outline = sole_points(character) * (1.0, 1.0, 0.0)
    feet = [outline + (0.0, side * gait.half_width * size, 0.0) for side in (-1.0, 1.0)]
    return np.concatenate(feet)


def _on_feet(qpos: np.ndarray, feet: np.ndarray, character: str, fps: float) -> np.ndarray:
    """Bend the legs so that the soles' outlines are at given places (T, 2 P, 3)."""
    soles = feet.reshape(len(feet), 2, -1, 3)
    stands = soles[..., 2].min(-1) < 1e-4
    weight = np.where(stands[..., None, None], _FIXED_ROOT.pin, _SWING) * np.ones_like(soles)
    goals = PointGoals(feet, weight.reshape(feet.shape), np.zeros(feet.shape[:2]))
    return hold_points(
        humanoid_model(character), both_soles(character), np.array(LEG_HINGES), qpos, goals, fps, _FIXED_ROOT
    )


def _climbing_pose(character: str, height: float) -> np.ndarray:
    """Arms up, knees turned out, the pelvis close to the wall, shape (35,) (ours)."""
    qpos = np.zeros((1, 35))
    qpos[:, 0], qpos[:, 2] = -0.38 * model_scale(character), height
    qpos[:, 3] = 1.0
    for side, sign in (("right", -1.0), ("left", 1.0)):
        angles = {"shoulder_y": -2.75, "shoulder_x": sign * 0.45, "elbow": -0.9}
        angles |= {"hip_x": sign * 0.75, "hip_y": -0.75, "hip_z": sign * 0.85, "knee": 1.45, "ankle_y": -0.3}
        for joint, angle in angles.items():
            _set(qpos, f"{side}_{joint}", angle)
    return qpos[0]


def _grips(character: str) -> BodyPoints:
    """Right hand, left hand, right toe and left toe."""
    toe = np.array([0.15, 0.0, -0.04]) * model_scale(character)
    hand = np.zeros(3)
    return body_points([("right_hand", hand), ("left_hand", hand), ("right_foot", toe), ("left_foot", toe)])


def _holds(character: str, height: float) -> np.ndarray:
    """Holds on the wall nearest to the climbing pose's grips, shape (4, 3) [m]."""
    pose = _climbing_pose(character, height)
    holds = trajectory_positions(humanoid_model(character), pose[None], _grips(character))[0]
    holds[:, 0] = np.array([-0.04, -0.04, -0.02, -0.02]) * model_scale(character)
    return holds


def _on_wall(
    holds: np.ndarray, character: str, height: float, fps: float, lift: np.ndarray | float = 0.0
) -> np.ndarray:
    """Pose the character on four holds (T, 4, 3), its pelvis near ``height + lift``."""
    qpos = np.tile(_climbing_pose(character, height), (len(holds), 1))
    qpos[:, 2] += lift
    goals = PointGoals(holds, np.full(holds.shape, _FREE_BODY.pin), np.zeros(holds.shape[:2]))
    every = np.arange(spec.NUM_JOINTS)
    return hold_points(humanoid_model(character), _grips(character), every, qpos, goals, fps, _FREE_BODY)


def _smooth(share: np.ndarray) -> np.ndarray:
    """Minimum jerk from 0 to 1 (Flash & Hogan 1985)."""
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


def _clip(name: str, qpos: np.ndarray, character: str, fps: float, labels: tuple[str, ...], loop: bool = False) -> Clip:
    quat = np.roll(qpos[:, 3:7], -1, axis=1)
    flips = np.cumprod(np.where((quat[1:] * quat[:-1]).sum(1) < 0.0, -1.0, 1.0))
    quat[1:] *= flips[:, None]
    return Clip(
        name=name,
        fps=fps,
        joint_names=spec.JOINT_NAMES,
        root_pos=qpos[:, :3].astype(np.float32),
        root_quat=quat.astype(np.float32),
        joint_pos=qpos[:, 7:].astype(np.float32),
        character=character,
        source=SOURCE,
        licence=LICENCE,
        labels=labels,
        loop=loop,
    )
