"""Recorded motions of any known skeleton to the suite's characters.

Inverse kinematics to canonical points (:mod:`sportsuite.motion.canonical`) by damped least squares: key frames one
after the other, which keeps the joints on one branch, then all frames at once, smooth over time; then foot locking.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from sportsuite.characters import spec
from sportsuite.motion.body_points import BodyPoints, Poses, frame_poses, jacobian, positions, trajectory_poses
from sportsuite.motion.canonical import POINT_WEIGHTS, Targets, canonical_points, canonical_targets
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.foot_contacts import runs
from sportsuite.motion.foot_lock import FootLockCfg, lock_feet, settle
from sportsuite.motion.mujoco_model import NUM_DOFS, ROOT_DOFS, humanoid_model, joint_limits
from sportsuite.motion.report import ClipReport, clip_report
from sportsuite.motion.source import SourceMotion
from sportsuite.motion.trajectory_solver import advance, apply_band, banded_step, difference_band, push_back

_ALL_HINGES = np.arange(spec.NUM_JOINTS)
_ROWS = np.repeat(POINT_WEIGHTS, 3)
_SETTLED = 3e-3
_AROUND = 5
"""Key frames before and after a stuck stretch that are solved again."""
_LONGEST_STEP = 1.5
"""Steps of key frames are shortened to this [m and rad]: far from the solution they overshoot."""


@dataclass(frozen=True)
class RetargetCfg:
    """Numbers of the inverse kinematics (ours).

    Attributes:
        key_step: Time between key frames [s].
        first_rounds: Steps at most for the first key frame.
        key_rounds: Steps at most for every other one.
        apart_rounds: Steps for key frames that are solved apart from the others.
        rounds: Steps for all frames together.
        damping: Weight of a step, per squared metre or radian.
        smooth_time: Hinges that the points leave free are smoothed over about ten times this [s].
        wall: Weight of hinges beyond their limits, per squared radian.
        stuck_cost: Weighted squared error of a key frame above which other solutions are looked for [m^2].
        jump_cost: Weight of hinge changes from key to key when choosing among solutions, per squared radian.
        lock: Foot locking after it.
    """

    key_step: float = 0.1
    first_rounds: int = 40
    key_rounds: int = 12
    apart_rounds: int = 20
    rounds: int = 4
    damping: float = 3e-3
    smooth_time: float = 0.004
    wall: float = 30.0
    stuck_cost: float = 6e-3
    jump_cost: float = 1e-3
    lock: FootLockCfg = field(default_factory=FootLockCfg)


@dataclass(frozen=True)
class RetargetReport:
    """How well a motion was retargeted.

    Attributes:
        scale: Factor on the recording's lengths.
        leg_length: Thigh and shin of the recorded skeleton [m].
        error_mean: Distance of the canonical points from their targets before locking, mean over all [m].
        error_p95: 95th percentile of it [m].
        error_max: Largest [m].
        frames_per_second: Frames per second of processor time, locking included.
        before: The clip before locking, on its floor.
        after: The result; the same where nothing was locked.
    """

    scale: float
    leg_length: float
    error_mean: float
    error_p95: float
    error_max: float
    frames_per_second: float
    before: ClipReport
    after: ClipReport


@dataclass(frozen=True)
class Retargeted:
    """A clip and how well it fits the recording."""

    clip: Clip
    report: RetargetReport


def retarget(
    motion: SourceMotion, character: str = "football", *, lock: bool = True, cfg: RetargetCfg | None = None
) -> Retargeted:
    """Make a clip of one of the suite's characters from a recorded motion.

    Lengths are scaled by the ratio of leg lengths, a ball's track with them. The floor is put at z = 0 as
    ``cfg.lock.floor`` says; pass ``"keep"`` for climbing and hanging.

    Args:
        motion: The recording.
        character: Size of the character, a key of :data:`~sportsuite.characters.spec.VARIANTS`.
        lock: Whether to lock the feet.
        cfg: Numbers of the method.

    Raises:
        BadInputError: If the character or the skeleton is unknown, or the motion has fewer than 3 frames.
    """
    cfg = cfg or RetargetCfg()
    started = time.process_time()
    model = humanoid_model(character)
    targets = canonical_targets(motion, character)
    qpos, errors = solve_poses(model, canonical_points(character), targets, motion.fps, cfg)
    qpos = settle(model, character, qpos, motion.fps, cfg.lock)
    plain = _clip(motion, character, qpos, targets.scale)
    clip = lock_feet(plain, replace(cfg.lock, floor="keep")) if lock else plain
    spent = time.process_time() - started
    before = clip_report(plain)
    report = RetargetReport(
        scale=targets.scale,
        leg_length=targets.leg_length,
        error_mean=float(errors.mean()),
        error_p95=float(np.percentile(errors, 95)),
        error_max=float(errors.max()),
        frames_per_second=len(qpos) / max(spent, 1e-9),
        before=before,
        after=clip_report(clip) if lock else before,
    )
    return Retargeted(clip, report)


def solve_poses(
    model: mujoco.MjModel, points: BodyPoints, targets: Targets, fps: float, cfg: RetargetCfg
) -> tuple[np.ndarray, np.ndarray]:
    """Find coordinates whose canonical points come closest to their targets.

    Args:
        model: The character.
        points: Its canonical points.
        targets: Where they should be.
        fps: Frames per second [Hz].
        cfg: Numbers of the method.

    Returns:
        MuJoCo coordinates (T, 35) within joint limits, and distances (T, 20) [m].
    """
    keys = _key_frames(len(targets.position), max(1, round(cfg.key_step * fps)))
    qpos = _between(keys, _solve_keys(model, points, targets, keys, cfg), len(targets.position))
    _refine(model, points, targets.position, qpos, fps, cfg)
    qpos[:, 7:] = np.clip(qpos[:, 7:], *joint_limits())
    reached = positions(trajectory_poses(model, qpos), points)
    return qpos, np.linalg.norm(reached - targets.position, axis=-1)


def _key_frames(count: int, step: int) -> np.ndarray:
    return np.unique(np.append(np.arange(0, count, step), count - 1))


def _solve_keys(
    model: mujoco.MjModel, points: BodyPoints, targets: Targets, keys: np.ndarray, cfg: RetargetCfg
) -> np.ndarray:
    """Solve the key frames one after the other, each from the one before, shape (K, 35).

    A three-axis joint can be led into a corner of its limits from which no small step leads out. Where that shows, the
    keys are solved again from a neutral pose each and backwards from there, and the best sequence is taken.
    """
    start = _first_guess(targets.position[keys[0], 0], targets.pelvis[keys[0]])
    solved, cost = _sweep(model, points, targets, keys, start, cfg)
    stuck = cost > cfg.stuck_cost
    if not stuck.any() or len(keys) < 2:
        return solved
    candidates, costs = np.stack((solved,) * 3), np.stack((cost,) * 3)
    candidates[1, stuck], costs[1, stuck] = _solve_apart(model, points, targets, keys[stuck], cfg)
    for first, last in runs(_widened(stuck, _AROUND)):
        backwards = keys[first:last][::-1]
        poses, costs[2, first:last][::-1] = _sweep(model, points, targets, backwards, candidates[1, last - 1], cfg)
        candidates[2, first:last] = poses[::-1]
    return _best_sequence(candidates, costs, cfg.jump_cost)


def _solve_apart(
    model: mujoco.MjModel, points: BodyPoints, targets: Targets, keys: np.ndarray, cfg: RetargetCfg
) -> tuple[np.ndarray, np.ndarray]:
    """Solve key frames from a neutral pose each: coordinates (K, 35) and weighted squared errors (K,)."""
    goal = targets.position[keys]
    qpos = np.stack([_first_guess(goal[row, 0], targets.pelvis[key]) for row, key in enumerate(keys)])
    for _ in range(cfg.apart_rounds):
        poses = trajectory_poses(model, qpos)
        _damped_step(poses, points, goal, qpos, cfg)
    qpos[:, 7:] = np.clip(qpos[:, 7:], *joint_limits())
    return qpos, _cost(positions(trajectory_poses(model, qpos), points) - goal)


def _cost(miss: np.ndarray) -> np.ndarray:
    return (POINT_WEIGHTS[:, None] ** 2 * miss**2).sum((-2, -1))


def _widened(active: np.ndarray, by: int) -> np.ndarray:
    return np.convolve(active, np.ones(2 * by + 1), mode="same") > 0.5


def _sweep(
    model: mujoco.MjModel,
    points: BodyPoints,
    targets: Targets,
    keys: np.ndarray,
    start: np.ndarray,
    cfg: RetargetCfg,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve key frames in their order, each from the last: coordinates (K, 35) and weighted squared errors (K,)."""
    data, pose, before = mujoco.MjData(model), start.copy(), keys[0]
    solved, cost = np.empty((len(keys), len(start))), np.empty(len(keys))
    for row, key in enumerate(keys):
        target = targets.position[key]
        pose[:3] += target[0] - targets.position[before, 0]
        before = key
        for _ in range(cfg.key_rounds if row else cfg.first_rounds):
            poses = frame_poses(model, data, pose)
            if _damped_step(poses, points, target, pose[None], cfg) < _SETTLED:
                break
        solved[row] = pose
        solved[row, 7:] = np.clip(pose[7:], *joint_limits())
        cost[row] = _cost(positions(frame_poses(model, data, solved[row]), points) - target)
    return solved, cost


def _damped_step(poses: Poses, points: BodyPoints, target: np.ndarray, qpos: np.ndarray, cfg: RetargetCfg) -> float:
    """One damped step of N poses (N, 35), independent of each other, in place; the longest step [m and rad]."""
    place = positions(poses, points)
    matrix, right = _point_terms(jacobian(poses, points, place), target - place)
    low, high = joint_limits()
    push_back(matrix, right, qpos[:, 7:], low, high, cfg.wall)
    matrix[:, range(NUM_DOFS), range(NUM_DOFS)] += cfg.damping
    step = np.linalg.solve(matrix, right[..., None])[..., 0]
    size = np.linalg.norm(step, axis=-1, keepdims=True)
    advance(qpos, step * np.minimum(1.0, _LONGEST_STEP / np.maximum(size, 1e-9)), _ALL_HINGES)
    return float(size.max())


def _best_sequence(candidates: np.ndarray, cost: np.ndarray, jump_cost: float) -> np.ndarray:
    """Choose one candidate per key with the least errors and jumps (Viterbi): (C, K, 35) and (C, K) to (K, 35)."""
    count = candidates.shape[1]
    total, came_from = cost[:, 0], np.zeros((count, len(cost)), int)
    for row in range(1, count):
        jump = candidates[None, :, row, 7:] - candidates[:, None, row - 1, 7:]
        paths = total[:, None] + jump_cost * (jump**2).sum(-1)
        came_from[row] = paths.argmin(0)
        total = paths.min(0) + cost[:, row]
    choice = np.empty(count, int)
    choice[-1] = total.argmin()
    for row in range(count - 1, 0, -1):
        choice[row - 1] = came_from[row, choice[row]]
    return candidates[choice, np.arange(count)]


def _first_guess(pelvis: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Upright on the pelvis' pose, knees and elbows slightly bent so that they bend the right way, shape (35,)."""
    wxyz = np.roll(Rotation.from_matrix(frame).as_quat(), 1)
    hinges = np.zeros(spec.NUM_JOINTS)
    for name, angle in (("elbow", -0.4), ("knee", 0.3)):
        for side in ("left", "right"):
            hinges[spec.JOINT_NAMES.index(f"{side}_{name}")] = angle
    return np.concatenate((pelvis, wxyz, hinges))


def _between(keys: np.ndarray, solved: np.ndarray, count: int) -> np.ndarray:
    """Interpolate key frames to all frames, shape (T, 35)."""
    if count == 1:
        return solved.copy()
    frames = np.arange(count)
    qpos = np.stack([np.interp(frames, keys, column) for column in solved.T], axis=1)
    turns = Slerp(keys, Rotation.from_quat(np.roll(solved[:, 3:7], -1, axis=1)))(frames)
    qpos[:, 3:7] = np.roll(turns.as_quat(), 1, axis=1)
    return qpos


def _point_terms(slopes: np.ndarray, miss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Newton matrix (T, 34, 34) and right-hand side (T, 34) of the weighted points."""
    rows = slopes.reshape(-1, len(_ROWS), NUM_DOFS) * _ROWS[:, None]
    miss = miss.reshape(-1, len(_ROWS), 1) * _ROWS[:, None]
    return np.matmul(rows.swapaxes(1, 2), rows), np.matmul(rows.swapaxes(1, 2), miss)[..., 0]


def _refine(
    model: mujoco.MjModel, points: BodyPoints, target: np.ndarray, qpos: np.ndarray, fps: float, cfg: RetargetCfg
) -> None:
    """Improve all frames together, in place: hinges that the points leave free move smoothly."""
    if len(qpos) < 3:
        return
    bends = difference_band(len(qpos), 2) * (cfg.smooth_time * fps) ** 4
    cost = np.where(np.arange(NUM_DOFS) < ROOT_DOFS, 0.0, 1.0)
    low, high = joint_limits()
    for _ in range(cfg.rounds):
        poses = trajectory_poses(model, qpos)
        place = positions(poses, points)
        matrix, right = _point_terms(jacobian(poses, points, place), target - place)
        push_back(matrix, right, qpos[:, 7:], low, high, cfg.wall)
        matrix[:, range(NUM_DOFS), range(NUM_DOFS)] += cfg.damping
        right[:, ROOT_DOFS:] -= apply_band(bends, qpos[:, 7:])
        advance(qpos, banded_step(matrix, right, bends, cost), _ALL_HINGES)


def _clip(motion: SourceMotion, character: str, qpos: np.ndarray, scale: float) -> Clip:
    ball = motion.ball
    if ball is not None:
        ball = ObjectTrack((ball.position * scale).astype(np.float32), ball.quat, ball.contact)
    quat = np.roll(qpos[:, 3:7], -1, axis=1)
    flips = np.cumprod(np.where((quat[1:] * quat[:-1]).sum(1) < 0.0, -1.0, 1.0))
    quat[1:] *= flips[:, None]
    return Clip(
        name=motion.name,
        fps=motion.fps,
        joint_names=spec.JOINT_NAMES,
        root_pos=qpos[:, :3].astype(np.float32),
        root_quat=quat.astype(np.float32),
        joint_pos=qpos[:, 7:].astype(np.float32),
        character=character,
        source=motion.source,
        licence=motion.licence,
        labels=motion.labels,
        loop=motion.loop,
        ball=ball,
    )
