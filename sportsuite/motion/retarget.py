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
from sportsuite.motion.body_points import BodyPoints, frame_poses, jacobian, positions, trajectory_poses
from sportsuite.motion.canonical import POINT_WEIGHTS, Targets, canonical_points, canonical_targets
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.foot_contacts import both_soles
from sportsuite.motion.foot_lock import FootLockCfg, lock_feet, settle
from sportsuite.motion.mujoco_model import NUM_DOFS, ROOT_DOFS, humanoid_model, joint_limits
from sportsuite.motion.report import ClipReport, clip_report
from sportsuite.motion.source import SourceMotion
from sportsuite.motion.trajectory_solver import advance, apply_band, banded_step, difference_band, push_back

_ALL_HINGES = np.arange(spec.NUM_JOINTS)
_ROWS = np.repeat(POINT_WEIGHTS, 3)


@dataclass(frozen=True)
class RetargetCfg:
    """Numbers of the inverse kinematics (ours).

    Attributes:
        key_step: Time between key frames [s].
        first_rounds: Steps at most for the first key frame.
        key_rounds: Steps at most for every other one.
        rounds: Steps for all frames together.
        damping: Weight of a step, per squared metre or radian.
        smooth_time: Hinges that the points leave free are smoothed over about ten times this [s].
        wall: Weight of hinges beyond their limits, per squared radian.
        lock: Foot locking after it.
    """

    key_step: float = 0.1
    first_rounds: int = 60
    key_rounds: int = 12
    rounds: int = 4
    damping: float = 3e-3
    smooth_time: float = 0.004
    wall: float = 30.0
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
    qpos = settle(model, both_soles(character), qpos, motion.fps, cfg.lock)
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
    """Solve the key frames one after the other, each from the one before, shape (K, 35)."""
    data, pose = mujoco.MjData(model), _first_guess(targets.position[keys[0], 0], targets.pelvis[keys[0]])
    solved = np.empty((len(keys), len(pose)))
    for index, key in enumerate(keys):
        if index:
            pose[:3] += targets.position[key, 0] - targets.position[keys[index - 1], 0]
        for _ in range(cfg.key_rounds if index else cfg.first_rounds):
            poses = frame_poses(model, data, pose)
            place = positions(poses, points)
            matrix, right = _point_terms(jacobian(poses, points, place)[None], (targets.position[key] - place)[None])
            push_back(matrix, right, pose[None, 7:], *joint_limits(), cfg.wall)
            matrix[0, range(NUM_DOFS), range(NUM_DOFS)] += cfg.damping
            step = np.linalg.solve(matrix[0], right[0])
            size = np.linalg.norm(step)
            advance(pose[None], (step * min(1.0, 1.5 / max(size, 1e-9)))[None], _ALL_HINGES)
            if size < 1e-3:
                break
        solved[index] = pose
    return solved


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
    rows = slopes.reshape(len(slopes), -1, NUM_DOFS) * _ROWS[:, None]
    miss = miss.reshape(len(miss), -1, 1) * _ROWS[:, None]
    return np.matmul(rows.swapaxes(1, 2), rows), np.matmul(rows.swapaxes(1, 2), miss)[..., 0]


def _refine(
    model: mujoco.MjModel, points: BodyPoints, target: np.ndarray, qpos: np.ndarray, fps: float, cfg: RetargetCfg
) -> None:
    """Improve all frames together, in place: hinges that the points leave free move smoothly."""
    if len(qpos) < 3:
        return
    bends = difference_band(len(qpos), 2) * (cfg.smooth_time * fps) ** 4
    cost = np.where(np.arange(NUM_DOFS) < ROOT_DOFS, 0.0, 1.0)
    for _ in range(cfg.rounds):
        poses = trajectory_poses(model, qpos)
        place = positions(poses, points)
        matrix, right = _point_terms(jacobian(poses, points, place), target - place)
        push_back(matrix, right, qpos[:, 7:], *joint_limits(), cfg.wall)
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
