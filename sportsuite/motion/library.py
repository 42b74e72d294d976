"""A set of clips as dense tables on a device: random states and windows of features at any time and playback speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from sportsuite.characters import spec
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.motion import features
from sportsuite.motion.clip import Clip
from sportsuite.motion.kinematics import clip_scale, forward_kinematics

_KEY_COLUMNS = [spec.BODY_NAMES.index(name) for name in spec.KEY_BODIES]
_VELOCITY_COLUMNS = [
    column
    for part in ("root_lin_vel", "root_ang_vel", "joint_vel")
    for column in range(features.layout()[part].start, features.layout()[part].stop)
]


def resolve_clip(text: str) -> Clip:
    """Return a clip by name or path.

    Args:
        text: ``isaaclab:walk`` for a clip of the installed isaaclab wheel (feet locked to the ground), ``suite:NAME``
            for one that sportsuite ships, or the path of a native clip file.

    Raises:
        BadInputError: If there is no such clip or the file isn't one.
    """
    origin, colon, name = text.partition(":")
    if origin == "isaaclab":
        from sportsuite.motion.foot_lock import lock_feet
        from sportsuite.motion.importers.isaaclab_npz import read_isaaclab_npz, wheel_clip_path

        return lock_feet(read_isaaclab_npz(wheel_clip_path(name), name=name))
    from sportsuite.motion.clip_io import load_clip

    if origin == "suite":
        return load_clip(_suite_clip_path(name))
    if colon and not Path(text).exists():
        raise unknown_name("origin of a clip", origin, ("isaaclab", "suite"))
    return load_clip(Path(text))


def _suite_clip_path(name: str) -> Path:
    from sportsuite.assets import asset_names, asset_path, assets_root

    files = [Path(file) for file in asset_names(assets_root()) if file.startswith("motions/")]
    # states to start from lie in the same folder
    known = [file.stem for file in files if file.suffix == ".npz" and not file.stem.endswith("_states")]
    if name not in known:
        raise unknown_name("clip of sportsuite", name, known)
    return asset_path(f"motions/{name}.npz")


@dataclass(frozen=True)
class MotionStates:
    """States of n frames, one row each; world frame, ground at z = 0.

    Attributes:
        root_pos: (n, 3) [m].
        root_quat: xyzw, (n, 4).
        root_lin_vel: (n, 3) [m/s].
        root_ang_vel: (n, 3) [rad/s].
        joint_pos: (n, 28) [rad].
        joint_vel: (n, 28) [rad/s].
    """

    root_pos: torch.Tensor
    root_quat: torch.Tensor
    root_lin_vel: torch.Tensor
    root_ang_vel: torch.Tensor
    joint_pos: torch.Tensor
    joint_vel: torch.Tensor


class MotionLibrary:
    """Clips, interpolated by splines to a dense grid, so that a lookup is one gather.

    Velocities are the splines' derivatives. A clip may be played faster or slower: poses come from other times,
    velocities scale with the speed.

    Args:
        clips: The clips; all for one size of character.
        weights: How often each clip is drawn; by duration if not given.
        device: Torch device of the tables.
        rate: Frames per second of the grid [Hz]; lower for large libraries, so that the tables stay small.

    Raises:
        BadInputError: If there is no clip, sizes of characters differ, or a clip has fewer than four frames.

    Attributes:
        names: Name of each clip.
        labels: Labels of each clip.
        durations: Shape (C,) [s].
        speeds: Mean horizontal speed of the root, shape (C,) [m/s].
        weights: Probability of each clip, shape (C,).
    """

    def __init__(
        self,
        clips: Sequence[Clip],
        weights: Sequence[float] | None = None,
        device: str | torch.device = "cpu",
        rate: float | None = None,
    ) -> None:
        _check(clips, weights)
        seconds = sum(clip.duration for clip in clips)
        self.rate = rate or _affordable_rate(seconds)
        self.names = tuple(clip.name for clip in clips)
        self.labels = tuple(clip.labels for clip in clips)
        dense = [_densify(clip, self.rate) for clip in clips]
        self._states = MotionStates(
            *(torch.cat([getattr(states, f.name) for states, _ in dense]).to(device) for f in fields(MotionStates))
        )
        self.features = torch.cat([table for _, table in dense]).to(device)
        lengths = torch.tensor([len(table) for _, table in dense])
        self._length = lengths.to(device)
        self._start = (lengths.cumsum(0) - lengths).to(device)
        self.durations = (self._length - 1) / self.rate
        self.speeds = torch.tensor([_mean_speed(clip) for clip in clips], device=device)
        chosen = torch.tensor(weights if weights is not None else [clip.duration for clip in clips], dtype=torch.float)
        self.weights = (chosen / chosen.sum()).to(device)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return self.features.device

    def sample_clips(self, num: int) -> torch.Tensor:
        """Draw clips by weight. Shape is (num,), long."""
        return torch.multinomial(self.weights, num, replacement=True)

    def sample_times(self, clips: torch.Tensor, needed: torch.Tensor | float = 0.0) -> torch.Tensor:
        """Draw times from which ``needed`` seconds of each clip are left, 0 where a clip is shorter. Shape (n,) [s]."""
        return torch.rand(len(clips), device=self.device) * (self.durations[clips] - needed).clamp_min(0.0)

    def states(self, clips: torch.Tensor, times: torch.Tensor, speed: torch.Tensor | float = 1.0) -> MotionStates:
        """States of clips at given times.

        Args:
            clips: Indices, shape (n,), long.
            times: Clip time, held at the clip's ends, shape (n,) [s].
            speed: Playback speed, a number or shape (n,).
        """
        row = self._rows(clips, times)
        values = {f.name: getattr(self._states, f.name)[row] for f in fields(MotionStates)}
        factor = torch.as_tensor(speed, device=self.device).expand(len(row)).unsqueeze(1)
        for name in ("root_lin_vel", "root_ang_vel", "joint_vel"):
            values[name] = values[name] * factor
        return MotionStates(**values)

    def windows(
        self, clips: torch.Tensor, times: torch.Tensor, frames: int, dt: float, speed: torch.Tensor | float = 1.0
    ) -> torch.Tensor:
        """Features of consecutive frames.

        Args:
            clips: Indices, shape (n,), long.
            times: Clip time of the first frame, shape (n,) [s].
            frames: Frames per window.
            dt: Time between frames [s].
            speed: Playback speed, a number or shape (n,).

        Returns:
            Shape (n, frames, 125). Frames beyond a clip's end repeat its last one.
        """
        factor = torch.as_tensor(speed, dtype=torch.float, device=self.device).expand(len(clips)).unsqueeze(1)
        steps = torch.arange(frames, device=self.device) * dt
        at = times.unsqueeze(1) + steps * factor
        window = self.features[self._rows(clips.unsqueeze(1), at)]
        columns = _velocity_columns(self.device)
        window[..., columns] *= factor.unsqueeze(2)
        return window

    def _rows(self, clips: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        frame = (times * self.rate).round().long().clamp_min(0)
        return self._start[clips] + torch.minimum(frame, self._length[clips] - 1)


def _velocity_columns(device: torch.device) -> torch.Tensor:
    return torch.tensor(_VELOCITY_COLUMNS, device=device)


def _affordable_rate(seconds: float) -> float:
    """Grid rate [Hz] at which the tables stay below about 200 MB (ours); 960 Hz for less than four minutes."""
    for rate in (960.0, 480.0, 240.0, 120.0):
        if rate * seconds < 250_000:
            return rate
    return 60.0


def _check(clips: Sequence[Clip], weights: Sequence[float] | None) -> None:
    if not clips:
        raise BadInputError("motion library: expected at least one clip")
    sizes = {clip.character for clip in clips}
    if len(sizes) > 1:
        raise BadInputError(f"motion library: clips for characters of different size: {', '.join(sorted(sizes))}")
    for clip in clips:
        if clip.num_frames < 4:
            raise BadInputError(f"clip {clip.name}: {clip.num_frames} frames, expected at least 4")
    if weights is not None and (len(weights) != len(clips) or min(weights) < 0.0 or not 0.0 < sum(weights) < math.inf):
        raise BadInputError(f"motion library: weights {list(weights)} for {len(clips)} clips: expected one >= 0 each")


def _mean_speed(clip: Clip) -> float:
    path = np.linalg.norm(np.diff(clip.root_pos[:, :2], axis=0), axis=1).sum()
    return float(path / clip.duration)


def _densify(clip: Clip, rate: float) -> tuple[MotionStates, torch.Tensor]:
    """States and features of a clip on a grid of ``rate`` Hz."""
    frame_time = np.arange(clip.num_frames) / clip.fps
    time = np.arange(int(clip.duration * rate) + 1) / rate
    root, joints = CubicSpline(frame_time, clip.root_pos), CubicSpline(frame_time, clip.joint_pos)
    rotation = RotationSpline(frame_time, Rotation.from_quat(clip.root_quat))
    root_quat = rotation(time).as_quat()
    arrays = (root(time), root_quat, root(time, 1), _world_rate(rotation, time), joints(time), joints(time, 1))
    states = MotionStates(*(torch.as_tensor(np.ascontiguousarray(array)).float() for array in arrays))
    body_pos, _ = forward_kinematics(states.root_pos, states.root_quat, states.joint_pos, clip_scale(clip))
    table = features.frame_features(
        states.root_pos,
        states.root_quat,
        states.root_lin_vel,
        states.root_ang_vel,
        states.joint_pos,
        states.joint_vel,
        body_pos[:, _KEY_COLUMNS],
    )
    return states, table


def _world_rate(rotation: RotationSpline, time: np.ndarray) -> np.ndarray:
    """World-frame angular velocity (T, 3) [rad/s]; scipy's first derivative is in the rotating frame."""
    return rotation(time).apply(rotation(time, 1))
