"""Changing a motion's rate, length, height and size; the duration and the speeds stay what they were.

Everything here takes a clip or a source motion and returns a new one of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from sportsuite.characters import spec
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.source import SourceMotion

__all__ = [
    "drop_repeated_frames",
    "onto_even_times",
    "repeats",
    "resample_clip",
    "resample_motion",
    "scale_motion",
    "set_character",
    "shift_height",
    "trim",
]

_CUTOFF = 0.8
"""Cut-off of the low-pass before decimating, as a part of the new Nyquist frequency (ours: 12 Hz for 30 Hz)."""

_ORDER = 4
_MAX_FRAMES = 5_000_000
"""Most frames that resampling makes (ours: a typing error in a rate must not fill the memory)."""

_COPY = 1e-3
"""A step below this part of the median step is a repeated frame (ours: text files round to about 1e-4 of a step)."""

_MAX_REPEATS = 8


def resample_clip(clip: Clip, fps: float) -> Clip:
    """Bring a clip to another rate.

    Positions and joint angles go through cubic splines, orientations through splines of their quaternions; before
    decimating, all of them pass a zero-phase low-pass (Butterworth, 4th order, 0.8 of the new Nyquist frequency). The
    ball's track is interpolated linearly and not filtered, since it has kinks where it bounces.

    Args:
        clip: The clip.
        fps: New rate [Hz].

    Returns:
        A clip that starts at the same time and ends less than one new frame earlier.

    Raises:
        BadInputError: If the rate isn't a positive number, or is so low that fewer than 2 frames remain.
    """
    times, at = _grids(clip.num_frames, clip.fps, fps)
    smooth = _low_pass(clip.fps, fps)
    return clip.with_(
        fps=float(fps),
        root_pos=_spline(times, smooth(clip.root_pos), at),
        root_quat=_spline_quat(times, clip.root_quat, at, smooth),
        joint_pos=_spline(times, smooth(clip.joint_pos), at),
        ball=_resample_track(clip.ball, times, at),
    )


def resample_motion(motion: SourceMotion, fps: float) -> SourceMotion:
    """Bring a source motion to another rate, as :func:`resample_clip` does.

    Args:
        motion: The motion.
        fps: New rate [Hz].

    Raises:
        BadInputError: If the rate isn't a positive number, or is so low that fewer than 2 frames remain.
    """
    times, at = _grids(len(motion.position), motion.fps, fps)
    return _at_times(motion, times, at, fps, _low_pass(motion.fps, fps))


def onto_even_times(motion: SourceMotion, times: np.ndarray, fps: float) -> SourceMotion:
    """Put frames of differing durations onto an even grid, and note it.

    Args:
        motion: Its ``fps`` is ignored.
        times: Time of each frame, increasing, shape (T,) [s].
        fps: Rate of the grid [Hz].
    """
    times = times - times[0]
    note = f"The frames' durations differ; they were put onto even times at {fps:g} Hz."
    moved = _at_times(motion, times, _grid(float(times[-1]), fps), fps, lambda values: values)
    return replace(moved, notes=(*motion.notes, note))


def trim[M: Clip | SourceMotion](motion: M, start: float = 0.0, end: float | None = None) -> M:
    """Cut a piece out.

    Args:
        motion: A clip or a source motion.
        start: Time of the first frame that is kept [s].
        end: Time of the last frame that is kept [s]; the motion's end if None.

    Returns:
        The piece, frames at both ends included. It doesn't loop unless nothing was cut.

    Raises:
        BadInputError: If the times don't lie in the motion in this order, at least two frames apart.
    """
    frames = len(_root_pos(motion))
    duration = (frames - 1) / motion.fps
    last = duration if end is None else end
    slack = 1e-6 / motion.fps
    if not (-slack <= start < last <= duration + slack):
        raise BadInputError(f"trim from {start:g} to {last:g} s: expected times in order between 0 and {duration:g} s")
    first, stop = math.ceil(start * motion.fps - 1e-6), math.floor(last * motion.fps + 1e-6) + 1
    if stop - first < 2:
        raise BadInputError(f"trim from {start:g} to {last:g} s: fewer than 2 frames at {motion.fps:g} Hz remain")
    if stop - first == frames:
        return motion
    return replace(_take(motion, np.arange(first, stop)), loop=False)


def repeats(motion: Clip | SourceMotion) -> tuple[int, int]:
    """Find out whether a motion holds every frame several times, as 30 Hz data in a 60 Hz file does.

    Returns:
        How often each frame is there (1 if all differ), and the index of the first frame of a whole group.
    """
    values = _pose_vectors(motion)
    step = np.abs(np.diff(values, axis=0)).max(axis=1)
    for count in range(2, _MAX_REPEATS + 1):
        if len(step) < 3 * count:
            break
        for phase in range(count):
            is_real = (np.arange(len(step)) - phase) % count == count - 1
            real, copies = step[is_real], step[~is_real]
            if np.median(real) > 1e-9 and copies.max() < _COPY * np.median(real):
                return count, phase
    return 1, 0


def drop_repeated_frames[M: Clip | SourceMotion](motion: M) -> M:
    """Keep one of each group of equal frames and lower the rate accordingly; the duration stays within a group.

    Returns:
        The motion itself if all its frames differ. A source motion gets a note.
    """
    count, phase = repeats(motion)
    if count == 1:
        return motion
    kept = _take(motion, np.arange(phase, len(_root_pos(motion)), count))
    kept = replace(kept, fps=motion.fps / count)
    if isinstance(kept, SourceMotion):
        text = f"Every frame was there {count} times: {motion.fps:g} Hz became {kept.fps:g} Hz."
        kept = replace(kept, notes=(*kept.notes, text))
    return kept


def shift_height[M: Clip | SourceMotion](motion: M, by: float) -> M:
    """Raise or lower a whole motion, its ball included.

    Args:
        motion: A clip or a source motion.
        by: Distance along z [m].
    """
    up = np.array([0.0, 0.0, by])
    ball = None if motion.ball is None else replace(motion.ball, position=motion.ball.position + up)
    if isinstance(motion, Clip):
        return replace(motion, root_pos=motion.root_pos + up, ball=ball)
    return replace(motion, position=motion.position + up, ball=ball)


def scale_motion(motion: SourceMotion, factor: float) -> SourceMotion:
    """Multiply all lengths of a source motion about the world's origin, e.g. by a ratio of leg lengths.

    Args:
        motion: The motion.
        factor: Factor on every position, the ball's included.

    Raises:
        BadInputError: If the factor isn't a positive number.
    """
    if not (math.isfinite(factor) and factor > 0.0):
        raise BadInputError(f"scale {factor!r}: expected a number above 0")
    ball = None if motion.ball is None else replace(motion.ball, position=factor * motion.ball.position)
    return replace(motion, position=factor * motion.position, ball=ball)


def set_character(clip: Clip, character: str) -> Clip:
    """Make a clip fit another size of the humanoid: same angles, root path and height scaled with the body.

    Args:
        clip: The clip.
        character: A key of :data:`sportsuite.characters.spec.VARIANTS`.

    Raises:
        BadInputError: If the character is unknown.
    """
    if character not in spec.VARIANTS:
        raise unknown_name("character", character, spec.VARIANTS)
    ratio = spec.VARIANTS[character].height / spec.VARIANTS[clip.character].height
    ball = None if clip.ball is None else replace(clip.ball, position=ratio * clip.ball.position)
    return clip.with_(character=character, root_pos=ratio * clip.root_pos, ball=ball)


def _root_pos(motion: Clip | SourceMotion) -> np.ndarray:
    return motion.root_pos if isinstance(motion, Clip) else motion.position[:, 0]


def _pose_vectors(motion: Clip | SourceMotion) -> np.ndarray:
    """Everything that moves, shape (T, N)."""
    if isinstance(motion, Clip):
        return np.concatenate((motion.root_pos, motion.root_quat, motion.joint_pos), axis=1)
    return motion.position.reshape(len(motion.position), -1)


def _take[M: Clip | SourceMotion](motion: M, frames: np.ndarray) -> M:
    ball = motion.ball
    if ball is not None:
        ball = ObjectTrack(ball.position[frames], ball.quat[frames], ball.contact[frames])
    if isinstance(motion, Clip):
        return replace(
            motion,
            root_pos=motion.root_pos[frames],
            root_quat=motion.root_quat[frames],
            joint_pos=motion.joint_pos[frames],
            ball=ball,
        )
    return replace(motion, position=motion.position[frames], quat=motion.quat[frames], ball=ball)


def _at_times(
    motion: SourceMotion, times: np.ndarray, at: np.ndarray, fps: float, smooth: Callable[[np.ndarray], np.ndarray]
) -> SourceMotion:
    return replace(
        motion,
        fps=float(fps),
        position=_spline(times, smooth(motion.position), at),
        quat=_spline_quat(times, motion.quat, at, smooth),
        ball=_resample_track(motion.ball, times, at),
    )


def _grids(frames: int, old_fps: float, fps: float) -> tuple[np.ndarray, np.ndarray]:
    if not (isinstance(fps, (int, float)) and math.isfinite(fps) and fps > 0.0):
        raise BadInputError(f"rate {fps!r} Hz: expected a number above 0")
    times = np.arange(frames) / old_fps
    return times, _grid(float(times[-1]), fps)


def _grid(duration: float, fps: float) -> np.ndarray:
    # rounding must not cost the last frame; the grid never reaches beyond the data
    count = duration * fps * (1.0 + 1e-9) + 1e-6
    if count < 1.0:
        raise BadInputError(f"rate {fps:g} Hz: fewer than 2 frames of a motion of {duration:g} s remain")
    if count > _MAX_FRAMES:
        raise BadInputError(f"rate {fps:g} Hz: a motion of {duration:g} s would have {count:,.0f} frames")
    return np.minimum(np.arange(math.floor(count) + 1) / fps, duration)


def _low_pass(old_fps: float, fps: float) -> Callable[[np.ndarray], np.ndarray]:
    """Zero-phase low-pass along the first axis for going from one rate to a lower one, or nothing for a higher."""
    edge = _CUTOFF * fps / old_fps
    if edge >= _CUTOFF:
        return lambda values: values
    sections = butter(_ORDER, edge, output="sos")

    def smooth(values: np.ndarray) -> np.ndarray:
        # odd padding of a few periods of the cut-off keeps positions and speeds at the ends
        pad = min(len(values) - 1, math.ceil(6.0 / edge))
        return sosfiltfilt(sections, values, axis=0, padtype="odd", padlen=pad)

    return smooth


def _spline(times: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    return CubicSpline(times, values, axis=0)(at)


def _spline_quat(
    times: np.ndarray, quat: np.ndarray, at: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Interpolate orientations (T, ..., 4), xyzw, through cubic splines of their components.

    On the unit sphere this is of the same order as a rotation spline: at 40 degrees per frame it is off by 5e-5.
    """
    flips = np.where((quat[1:] * quat[:-1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    near = np.concatenate((quat[:1], quat[1:] * np.cumprod(flips, axis=0)))
    out = _spline(times, smooth(near), at)
    length = np.linalg.norm(out, axis=-1, keepdims=True)
    # where recordings flip by 180 degrees between frames the spline may pass the origin: the nearest frame stands in
    out = np.where(length < 0.1, near[_nearest(times, at)], out)
    return out / np.linalg.norm(out, axis=-1, keepdims=True)


def _nearest(times: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Index of the frame nearest to each time."""
    return np.searchsorted(0.5 * (times[1:] + times[:-1]), at)


def _resample_track(track: ObjectTrack | None, times: np.ndarray, at: np.ndarray) -> ObjectTrack | None:
    if track is None:
        return None
    position = np.stack([np.interp(at, times, column) for column in track.position.T], axis=-1)
    quat = _spline_quat(times, track.quat, at, lambda values: values)
    return ObjectTrack(position, quat, track.contact[_nearest(times, at)])
