"""Foot locking: feet that stand neither slide nor sink, and everything else stays as it was.

The whole trajectory is solved at once. Where a point of the sole stands, it is held at the stance's place on the
ground; the deviation of the root and the legs from the recorded motion is kept small and smooth over time, so
corrections fade in and out by themselves. Gauss-Newton on MuJoCo's kinematics; each step is one banded linear system,
because frames are only coupled by the second difference of the deviation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.body_points import (
    BodyPoints,
    body_points,
    jacobian,
    positions,
    trajectory_poses,
    trajectory_positions,
)
from sportsuite.motion.clip import Clip
from sportsuite.motion.foot_contacts import (
    ContactCfg,
    Stance,
    body_heights,
    both_soles,
    find_stances,
    floor_under,
    point_speeds,
    sole_trajectory,
    touching_points,
)
from sportsuite.motion.mujoco_model import (
    ROOT_DOFS,
    body_spheres,
    humanoid_model,
    joint_limits,
    qpos_of,
    sole_points,
    with_qpos,
)
from sportsuite.motion.trajectory_solver import advance, apply_band, banded_step, deviation, difference_band, push_back

LEG_HINGES = tuple(
    index for index, name in enumerate(spec.JOINT_NAMES) if any(part in name for part in ("hip", "knee", "ankle"))
)
"""Hinges that foot locking changes; the others too where the body lies in the ground."""

_LEGS = np.array(LEG_HINGES)
_ARMS = frozenset(index for index, name in enumerate(spec.JOINT_NAMES) if "shoulder" in name or "elbow" in name)
_FULL_STEPS = 3
_LOW = 0.03
"""Feet below this are about to touch or have just left the ground [m]."""

_BAND = 0.05
"""A point that the last step would have pressed below its least height feels it up to this far above [m].

Else a step that lifts the toes out of the ground by lowering the heel would be followed by its opposite, for ever.
"""

_LONGEST_STEP = 0.7
"""No hinge turns further in one step of the solver [rad]; the linear model doesn't reach further."""
_SETTLED = 2e-3
"""Steps below this are not worth another round [m or rad]."""


@dataclass(frozen=True)
class FootLockCfg:
    """Weights of foot locking, per squared metre or radian (ours).

    Attributes:
        contact: When a sole touches.
        floor: ``"drift"`` takes out a slow drift of the floor, ``"flat"`` one height, ``"keep"`` leaves heights alone
            (climbing and hanging clips).
        clearance: A moving point of the sole that doesn't stand stays this high, so that it can't scuff [m].
        approach: A foot is held sideways this long before it stands and after, while it is low [s].
        moving: Above this speed a point counts as moving [m/s].
        pin: Weight of standing points at 30 frames per second; it grows with the square of the rate, as what counts is
            how fast they slide.
        lift: Weight of points below the ground or the clearance.
        sunken_body: Where another part of the body sinks deeper than this, all hinges help to lift the body out [m].
        keep_position: Weight of the root's deviation from the recorded place.
        keep_rotation: Weight of the root's deviation from the recorded orientation.
        keep_joint: Weight of the legs' deviation from the recorded angles.
        keep_arm: The same for shoulders and elbows, where these change at all: arms give way before the body does.
        wall: Weight of hinges beyond their limits.
        blend: Time over which corrections fade in and out [s].
        rounds: Gauss-Newton steps at most.
    """

    contact: ContactCfg = field(default_factory=ContactCfg)
    floor: str = "drift"
    clearance: float = 0.015
    approach: float = 0.025
    moving: float = 0.3
    pin: float = 3e4
    lift: float = 1e4
    sunken_body: float = 0.01
    keep_position: float = 10.0
    keep_rotation: float = 10.0
    keep_joint: float = 1.0
    keep_arm: float = 0.1
    wall: float = 1e6
    blend: float = 0.08
    rounds: int = 24


def lock_feet(clip: Clip, cfg: FootLockCfg | None = None) -> Clip:
    """Put the feet of a clip on the ground and stop them from sliding.

    Args:
        clip: A clip of one of the suite's characters, at 20 frames per second or more.
        cfg: Weights and thresholds.

    Returns:
        The clip with root and legs changed, hinges within their limits. Arms, trunk and head keep their angles, unless
        part of the body was below the ground.

    Raises:
        BadInputError: If ``cfg.floor`` is unknown or the clip has fewer than 3 frames.
    """
    cfg = cfg or FootLockCfg()
    rate = clip.fps / 30.0
    cfg = replace(cfg, pin=cfg.pin * rate**2, lift=cfg.lift * rate**2)
    if clip.num_frames < 3:
        raise BadInputError(f"clip {clip.name!r} has {clip.num_frames} frames: foot locking needs at least 3")
    model = humanoid_model(clip.character)
    start = settle(model, clip.character, qpos_of(clip), clip.fps, cfg)
    hinges, points, goals = _LEGS, both_soles(clip.character), _sole_goals(model, start, clip, cfg)
    if body_heights(model, start, clip.character).min() < -cfg.sunken_body:
        hinges = np.arange(spec.NUM_JOINTS)
        points, goals = _with_body(points, goals, clip.character)
    return with_qpos(clip, hold_points(model, points, hinges, start, goals, clip.fps, cfg))


def settle(model: mujoco.MjModel, character: str, qpos: np.ndarray, fps: float, cfg: FootLockCfg) -> np.ndarray:
    """Clamp hinges to their limits and move the root so that the floor is at z = 0.

    Args:
        model: The character's model.
        character: Its size.
        qpos: MuJoCo coordinates, shape (T, 35).
        fps: Frames per second [Hz].
        cfg: Which floor to assume.

    Raises:
        BadInputError: If ``cfg.floor`` is unknown.
    """
    if cfg.floor not in ("drift", "flat", "keep"):
        raise BadInputError(f"floor {cfg.floor!r} of foot locking: expected 'drift', 'flat' or 'keep'")
    qpos = qpos.copy()
    qpos[:, 7:] = np.clip(qpos[:, 7:], *joint_limits())
    if cfg.floor != "keep":
        soles = sole_trajectory(trajectory_positions(model, qpos, both_soles(character)))
        # arms are left out: recordings of people on the ground often have them below it
        floor = floor_under(soles, fps, cfg.contact, body_heights(model, qpos, character, arms=False))
        qpos[:, 2] -= floor if cfg.floor == "drift" else np.median(floor)
    return qpos


@dataclass(frozen=True)
class PointGoals:
    """Where points of the body should be.

    Attributes:
        target: Places in the world, shape (T, P, 3) [m].
        weight: Weight per squared metre along each axis, shape (T, P, 3).
        least_height: What points without a vertical weight must not sink below, shape (T, P) [m].
    """

    target: np.ndarray
    weight: np.ndarray
    least_height: np.ndarray


def _sole_goals(model: mujoco.MjModel, qpos: np.ndarray, clip: Clip, cfg: FootLockCfg) -> PointGoals:
    place = sole_trajectory(trajectory_positions(model, qpos, both_soles(clip.character)))
    touching = touching_points(place, clip.fps, cfg.contact)
    outline = sole_points(clip.character)[:, :2]
    target, weight = np.zeros_like(place), np.zeros_like(place)
    speed = point_speeds(place, clip.fps)
    for stance in find_stances(place, touching, outline, clip.fps):
        slow = speed[stance.start : stance.stop, stance.foot] < cfg.moving
        _hold(stance, slow, target, weight, cfg.pin)
        _hold_around(stance, int(cfg.approach * clip.fps), place[..., 2], target, weight, cfg.pin)
    moving = (speed > cfg.moving) & (weight[..., 2] == 0.0)
    shape = (len(place), -1)
    least = np.where(moving, cfg.clearance, 0.0).reshape(shape)
    return PointGoals(target.reshape(*shape, 3), weight.reshape(*shape, 3), least)


def _hold(stance: Stance, slow: np.ndarray, target: np.ndarray, weight: np.ndarray, pin: float) -> None:
    """Enter one stance into targets and weights of shape (T, 2, P, 3).

    Where a foot turns about a pivot, that point is held in place and the ``slow`` ones (T, P) only on the ground.
    """
    held, grounded = stance.touching.copy(), stance.touching.copy()
    if stance.pivot is not None:
        others = np.arange(held.shape[1]) != stance.pivot
        held[:, others] = False
        grounded[:, others] &= slow[:, others]
    frames = slice(stance.start, stance.stop)
    target[frames, stance.foot, :, :2] = stance.target
    weight[frames, stance.foot, :, :2] = pin * held[..., None]
    weight[frames, stance.foot, :, 2] = pin * grounded


def _hold_around(
    stance: Stance, reach: int, height: np.ndarray, target: np.ndarray, weight: np.ndarray, pin: float
) -> None:
    """Let the foot come down and leave upright: hold it sideways, not in height, in low frames just around a stance."""
    for inner, frames in (
        (0, range(max(0, stance.start - reach), stance.start)),
        (-1, range(stance.stop, min(len(height), stance.stop + reach))),
    ):
        held = stance.touching[inner] if stance.pivot is None else np.arange(height.shape[-1]) == stance.pivot
        for frame in frames:
            points = held & (height[frame, stance.foot] < _LOW) & (weight[frame, stance.foot, :, 2] == 0.0)
            target[frame, stance.foot, points, :2] = stance.target[points]
            weight[frame, stance.foot, points, :2] = pin


def _with_body(soles: BodyPoints, goals: PointGoals, character: str) -> tuple[BodyPoints, PointGoals]:
    """Add the body's colliders to the points: they must not sink into the ground."""
    spheres = body_spheres(character)
    extra = body_points([(body, centre) for body, centre, _ in spheres])
    points = BodyPoints(*(np.concatenate(pair) for pair in zip(soles.arrays, extra.arrays, strict=True)))
    count = len(goals.target)
    nothing = np.zeros((count, len(spheres), 3))
    radii = np.tile([radius for _, _, radius in spheres], (count, 1))
    return points, PointGoals(
        np.concatenate((goals.target, nothing), axis=1),
        np.concatenate((goals.weight, nothing), axis=1),
        np.concatenate((goals.least_height, radii), axis=1),
    )


def hold_points(
    model: mujoco.MjModel,
    points: BodyPoints,
    hinges: np.ndarray,
    start: np.ndarray,
    goals: PointGoals,
    fps: float,
    cfg: FootLockCfg,
) -> np.ndarray:
    """Change a trajectory so that points of the body are where they should be, and as little as possible otherwise.

    Args:
        model: The character's model.
        points: Points of the body.
        hinges: Which of the 28 hinges may change, shape (H,); the root always may.
        start: MuJoCo coordinates, shape (T, 35), T at least 3.
        goals: Places, weights and least heights of the points.
        fps: Frames per second [Hz].
        cfg: Weights.

    Returns:
        MuJoCo coordinates (T, 35), the changed hinges within their limits.
    """
    weights = [cfg.keep_arm if hinge in _ARMS else cfg.keep_joint for hinge in hinges]
    keep = np.array([cfg.keep_position] * 3 + [cfg.keep_rotation] * 3 + weights)
    columns = np.array([*range(ROOT_DOFS), *(ROOT_DOFS + hinges)])
    block = np.arange(len(columns))
    # the deviation x minimises keep * x^2 + keep * blend^4 * x''^2: it decays over the blend time away from contacts
    bends = difference_band(len(start), 2) * (cfg.blend * fps) ** 4
    qpos, low, high = start.copy(), *joint_limits()[:, hinges]
    pressed = np.zeros(goals.least_height.shape, bool)
    for count in range(cfg.rounds):
        poses = trajectory_poses(model, qpos)
        place = positions(poses, points)
        slopes = jacobian(poses, points, place, columns)
        matrix, slope = _point_terms(place, slopes, pressed, goals, cfg.lift)
        push_back(matrix, slope, qpos[:, 7 + hinges], low, high, cfg.wall)
        moved = deviation(qpos, start, hinges)
        matrix[:, block, block] += keep
        step = banded_step(matrix, slope - keep * (moved + apply_band(bends, moved)), bends, keep)
        pressed = place[..., 2] + np.matmul(slopes[:, :, 2], step[..., None])[..., 0] < goals.least_height
        # ground and limits act on one side only: full steps can jump across, shorter ones settle
        step *= 1.0 if count < _FULL_STEPS else 0.6
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(1, keepdims=True), 1e-9))
        advance(qpos, step, hinges)
        if np.abs(step).max() < _SETTLED:
            break
    qpos[:, 7 + hinges] = np.clip(qpos[:, 7 + hinges], low, high)
    return qpos


def _point_terms(
    place: np.ndarray, slopes: np.ndarray, pressed: np.ndarray, goals: PointGoals, lift: float
) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Newton matrix (T, N, N) and descent direction (T, N) of held points and of those below their least height.

    Args:
        place: Positions (T, P, 3) [m].
        slopes: Their Jacobians (T, P, 3, N).
        pressed: Which points the last step would have left below their least height, (T, P).
        goals: Where points should be.
        lift: Weight of points below their least height.
    """
    low = place[..., 2] < goals.least_height + np.where(pressed, _BAND, 0.0)
    low &= goals.weight[..., 2] == 0.0
    weight, miss = goals.weight.copy(), goals.target - place
    weight[..., 2] += lift * low
    miss[..., 2] = np.where(low, goals.least_height - place[..., 2], miss[..., 2])
    rows = slopes.reshape(len(place), -1, slopes.shape[-1])
    weighted = rows * weight.reshape(len(place), -1, 1)
    matrix = np.matmul(weighted.swapaxes(1, 2), rows)
    return matrix, np.matmul(weighted.swapaxes(1, 2), miss.reshape(len(place), -1, 1))[..., 0]
