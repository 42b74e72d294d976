"""What is wrong with a clip, in numbers: sliding, sinking and floating feet, joint spikes, limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sportsuite.characters import spec
from sportsuite.motion.body_points import trajectory_positions
from sportsuite.motion.clip import Clip
from sportsuite.motion.foot_contacts import body_heights, both_soles, point_speeds, sole_trajectory
from sportsuite.motion.mujoco_model import humanoid_model, joint_limits, qpos_of

CONTACT_HEIGHT = 0.01
"""A point of the sole this close to the ground, or below it, counts as touching [m] (ours)."""

SPIKE_SPEED = np.deg2rad(2500.0)
"""Hinges faster than this are recording faults [rad/s]; a hard kick's knee reaches about half of it."""

_AT_LIMIT = 1e-3


@dataclass(frozen=True)
class ClipReport:
    """Quality of a clip.

    Attributes:
        name: Name of the clip.
        frames: Number of frames.
        fps: Frames per second [Hz].
        duration: First to last frame [s].
        slide_mean: Mean horizontal speed of the touching points of the soles, over feet and frames in contact [m/s].
        slide_p95: 95th percentile of it [m/s].
        contact: Share of frames in which at least one foot touches.
        penetration: Deepest point of the soles below the ground [m], 0 or more.
        body_penetration: Deepest point of the other colliders below the ground [m], 0 or more.
        float_height: Median height of the lowest sole over frames in which a foot is slow and low [m].
        joint_speed_max: Fastest hinge [rad/s].
        spikes: Hinge and time [s] of speeds above :data:`SPIKE_SPEED`.
        at_limit: Share of hinge angles within 0.001 rad of a limit or beyond it.
        beyond_limit: Furthest that a hinge is beyond its limit [rad].
        root_speed_mean: Mean horizontal speed of the pelvis along its path [m/s].
    """

    name: str
    frames: int
    fps: float
    duration: float
    slide_mean: float
    slide_p95: float
    contact: float
    penetration: float
    body_penetration: float
    float_height: float
    joint_speed_max: float
    spikes: tuple[tuple[str, float], ...]
    at_limit: float
    beyond_limit: float
    root_speed_mean: float


def clip_report(clip: Clip) -> ClipReport:
    """Measure a clip of at least 2 frames against the ground z = 0."""
    model, qpos = humanoid_model(clip.character), qpos_of(clip)
    soles = sole_trajectory(trajectory_positions(model, qpos, both_soles(clip.character)))
    slide, touching = contact_slide(soles, clip.fps)
    speeds = np.abs(np.diff(qpos[:, 7:], axis=0)) * clip.fps
    low, high = joint_limits()
    beyond = np.maximum(low - qpos[:, 7:], qpos[:, 7:] - high)
    return ClipReport(
        name=clip.name,
        frames=clip.num_frames,
        fps=clip.fps,
        duration=clip.duration,
        slide_mean=float(slide.mean()) if len(slide) else 0.0,
        slide_p95=float(np.percentile(slide, 95)) if len(slide) else 0.0,
        contact=float(touching.any(-1).mean()),
        penetration=max(0.0, -float(soles[..., 2].min())),
        body_penetration=max(0.0, -float(body_heights(model, qpos, clip.character).min())),
        float_height=_float_height(soles, clip.fps),
        joint_speed_max=float(speeds.max()),
        spikes=_spikes(speeds, clip.fps),
        at_limit=float((beyond > -_AT_LIMIT).mean()),
        beyond_limit=max(0.0, float(beyond.max())),
        root_speed_mean=float(np.linalg.norm(np.diff(qpos[:, :2], axis=0), axis=-1).mean() * clip.fps),
    )


def contact_slide(soles: np.ndarray, fps: float, height: float = CONTACT_HEIGHT) -> tuple[np.ndarray, np.ndarray]:
    """Horizontal speed of feet in contact, judged by height alone.

    A point touches from one frame to the next if it is below ``height`` in both; a foot's slide is the mean over its
    touching points.

    Args:
        soles: Points of the soles, shape (T, 2, P, 3) [m].
        fps: Frames per second [Hz].
        height: Highest touching point [m].

    Returns:
        Slides of all feet and frame pairs in contact, shape (N,) [m/s]; which feet those are, shape (T - 1, 2), bool.
    """
    low = soles[..., 2] < height
    touching = low[1:] & low[:-1]
    speed = np.linalg.norm(np.diff(soles[..., :2], axis=0), axis=-1) * fps
    count = touching.sum(-1)
    feet = count > 0
    return (speed * touching).sum(-1)[feet] / count[feet], feet


def _float_height(soles: np.ndarray, fps: float) -> float:
    low, slow = soles[..., 2].min(-1), point_speeds(soles, fps).min(-1) < 0.3
    near = slow & (low < 0.1)
    return float(np.median(low[near])) if near.any() else 0.0


def _spikes(speeds: np.ndarray, fps: float) -> tuple[tuple[str, float], ...]:
    frames, hinges = np.nonzero(speeds > SPIKE_SPEED)
    return tuple((spec.JOINT_NAMES[hinge], float(frame / fps)) for frame, hinge in zip(frames, hinges, strict=True))
