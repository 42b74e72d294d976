"""Videos without a display: off-screen OpenGL through EGL, frames piped to ffmpeg one by one."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from sportsuite.envs.offscreen import HEIGHT, WIDTH
from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.learning.policy import Policy
from sportsuite.viewer.camera import FollowCamera, subjects_of

__all__ = ["VideoWriter", "check_offscreen", "record"]

_SUFFIXES = (".mp4",)


class VideoWriter:
    """Writes an H.264 file frame by frame; only the frame at hand is in memory.

    The file appears under its name when it is complete.

    Args:
        path: Target, ending in ``.mp4``.
        fps: Frames per second.
        width: Width of the frames [pixels], even.
        height: Height of the frames [pixels], even.

    Raises:
        BadInputError: If the path doesn't end in ``.mp4`` or its folder can't be written.
    """

    def __init__(self, path: str | Path, fps: float, width: int = WIDTH, height: int = HEIGHT):
        self.path = check_video_path(path)
        self.frames = 0
        self._shape = (height, width, 3)
        self._temporary = self.path.with_name(f".{self.path.stem}.{os.getpid()}.mp4")
        self._fps = fps
        self._pipe: Any = None

    def __enter__(self) -> VideoWriter:
        """Start ffmpeg."""
        import imageio_ffmpeg

        height, width, _ = self._shape
        self._pipe = imageio_ffmpeg.write_frames(
            str(self._temporary),
            (width, height),
            fps=self._fps,  # type: ignore[arg-type]
            macro_block_size=2,
            quality=7,
            ffmpeg_log_level="error",
        )
        self._pipe.send(None)
        return self

    def write(self, frame: np.ndarray) -> None:
        """Append a frame.

        Args:
            frame: RGB, shape (height, width, 3), uint8.

        Raises:
            ValueError: If the shape or the type differs.
        """
        if frame.shape != self._shape or frame.dtype != np.uint8:
            raise ValueError(f"frame of shape {frame.shape} and type {frame.dtype}: expected {self._shape}, uint8")
        self._pipe.send(np.ascontiguousarray(frame))
        self.frames += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the file; drop it after an error or without a frame."""
        self._pipe.close()
        interrupted = kind is not None and not issubclass(kind, KeyboardInterrupt)
        if interrupted or self.frames == 0:
            self._temporary.unlink(missing_ok=True)
        else:
            os.replace(self._temporary, self.path)


def check_video_path(path: str | Path) -> Path:
    """Make sure that a video can be written to a path; makes its folder.

    Raises:
        BadInputError: If not.
    """
    path = Path(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise BadInputError(f"video {path}: expected a name that ends in .mp4; nearest: {path.with_suffix('.mp4')}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(f"video {path}: its folder can't be made ({error.strerror})") from error
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise BadInputError(f"video {path}: can't be written")
    return path


def check_offscreen() -> None:
    """Make sure that frames can be rendered without a display.

    Raises:
        SportSuiteError: If EGL is missing; the text names the system package.
    """
    for library, package in (("libEGL.so.1", "libegl1"), ("libGL.so.1", "libgl1")):
        try:
            ctypes.CDLL(library)
        except OSError as error:
            raise SportSuiteError(
                f"{library} is missing, which renders without a display: install {package} (on Debian and Ubuntu "
                f"'apt-get install {package} libgl1-mesa-dri'), or use --viz viser"
            ) from error


def record(
    env: Any,
    policy: Policy,
    path: str | Path,
    seconds: float,
    on_step: Callable[[Any], None] = lambda step: None,
) -> int:
    """Play a policy and film the first world.

    Args:
        env: The environment, not wrapped, built with :func:`sportsuite.envs.offscreen.add_offscreen_viewer`.
        policy: The policy.
        path: Target, ending in ``.mp4``.
        seconds: Length of the video [s].
        on_step: Called with what ``env.step`` returned, after every step.

    Returns:
        The number of frames.

    Raises:
        BadInputError: If the path is wrong.
        SportSuiteError: If the environment has no viewer to film with.
    """
    viewer = env.sim.visualizers[0] if env.sim.visualizers else None
    if viewer is None or not hasattr(viewer, "render_rgb_array"):
        raise SportSuiteError("the environment was built without an off-screen viewer")
    width, height = viewer.cfg.window_width, viewer.cfg.window_height
    camera = FollowCamera(math.radians(_vertical_fov(viewer)), width / height, env.step_dt)
    obs, _ = env.reset()
    with VideoWriter(path, 1.0 / env.step_dt, width, height) as video:
        for _ in range(max(1, round(seconds / env.step_dt))):
            eye, target = camera.look(subjects_of(env))
            viewer.set_camera_view(tuple(eye), tuple(target))
            video.write(viewer.render_rgb_array())
            step = env.step(policy(obs))
            obs, done = step[0], step[2] | step[3]
            policy.reset(done)
            if done[0]:
                camera.reset()
            on_step(step)
    return video.frames


def _vertical_fov(viewer: Any) -> float:
    """Vertical opening angle of a viewer's camera [deg]; Newton's default where it can't be told."""
    return float(getattr(getattr(getattr(viewer, "_viewer", None), "camera", None), "fov", 45.0))
