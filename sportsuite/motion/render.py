"""Pictures of clips without a display: stick figures drawn with Matplotlib, as a video or as a sheet of frames."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.body_points import body_points, trajectory_positions
from sportsuite.motion.clip import Clip
from sportsuite.motion.foot_contacts import both_soles, sole_trajectory
from sportsuite.motion.mujoco_model import humanoid_model, model_scale, qpos_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = (640, 480)
_DPI = 100
_COLOURS = {"left": "#c62f2f", "right": "#2f5fc6"}
_REACH = 1.1
"""Half the width of what is seen [m] (ours: a character with stretched arms)."""


def render_clip(clip: Clip, path: str | Path, fps: float | None = None, columns: int = 6) -> None:
    """Draw a clip: left limbs red, right limbs blue, soles as outlines, the ball as a dot.

    Args:
        clip: The clip.
        path: Target. ``.mp4`` makes a video, ``.png`` a sheet of evenly spaced frames. It appears when complete.
        fps: Frames per second of the video; up to 30 of the clip's own by default.
        columns: Frames per row of a sheet of three rows.

    Raises:
        BadInputError: If the path has another ending or its folder doesn't exist.
    """
    path = Path(path)
    if path.suffix not in (".mp4", ".png"):
        raise BadInputError(f"picture of a clip {path.name!r}: expected a name that ends in .mp4 or .png")
    if not path.parent.is_dir():
        raise BadInputError(f"picture of a clip {str(path)!r}: there is no folder {str(path.parent)!r}")
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        if path.suffix == ".png":
            _sheet(_Drawing(clip), temporary, columns)
        else:
            _video(_Drawing(clip), temporary, fps or min(clip.fps, 30.0))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


class _Drawing:
    """Lines of every frame of a clip."""

    def __init__(self, clip: Clip):
        self.clip = clip
        model, qpos = humanoid_model(clip.character), qpos_of(clip)
        scale = model_scale(clip.character)
        places: list[tuple[str, Any]] = [(body, (0.0, 0.0, 0.0)) for body in spec.BODY_NAMES]
        places.append(("head", (0.0, 0.0, 0.25 * scale)))
        self.joints = trajectory_positions(model, qpos, body_points(places))
        self.soles = sole_trajectory(trajectory_positions(model, qpos, both_soles(clip.character)))

    def draw(self, axes: Any, frame: int) -> None:
        """Draw a frame into 3D axes, seen from the front left of the first frame's heading."""
        axes.clear()
        centre = self.joints[frame, 0]
        self._draw_ground(axes, centre)
        for index, parent in enumerate((*spec.PARENTS, spec.BODY_NAMES.index("head"))):
            if parent >= 0:
                name = spec.BODY_NAMES[index] if index < spec.NUM_BODIES else "head"
                colour = _COLOURS.get(name.split("_")[0], "#333333")
                axes.plot(*self.joints[frame, (parent, index)].T, color=colour, linewidth=3)
        for foot, colour in zip(self.soles[frame], (_COLOURS["right"], _COLOURS["left"]), strict=True):
            axes.plot(*np.concatenate((foot, foot[:1])).T, color=colour, linewidth=1.5)
        if self.clip.ball is not None:
            axes.plot(*self.clip.ball.position[frame, :, None], "o", color="#e08020", markersize=10)
        limits = [(value - _REACH, value + _REACH) for value in centre]
        limits[2] = (min(0.0, centre[2] - _REACH), max(1.8, centre[2] + _REACH))
        axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2])
        axes.set_title(f"{self.clip.name}  {frame / self.clip.fps:.2f} s")
        axes.set_box_aspect([high - low for low, high in limits], zoom=1.6)
        axes.set_axis_off()
        axes.view_init(elev=8.0, azim=-60.0)

    @staticmethod
    def _draw_ground(axes: Any, centre: np.ndarray) -> None:
        """Lines every half metre that stand still in the world."""
        for axis in range(2):
            first = np.ceil((centre[axis] - _REACH) / 0.5) * 0.5
            for place in np.arange(first, centre[axis] + _REACH, 0.5):
                ends = np.array([[place, centre[1 - axis] - _REACH], [place, centre[1 - axis] + _REACH]])
                one, two = (ends if axis == 0 else ends[:, ::-1]).T
                axes.plot(one, two, [0.0, 0.0], color="#bbbbbb", linewidth=0.7)


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def _sheet(drawing: _Drawing, path: Path, columns: int) -> None:
    rows = 3
    figure = _figure(220 * columns, 260 * rows)
    frames = np.linspace(0, drawing.clip.num_frames - 1, rows * columns).round().astype(int)
    for place, frame in enumerate(frames):
        axes = figure.add_subplot(rows, columns, place + 1, projection="3d")
        drawing.draw(axes, int(frame))
        axes.set_title(f"{frame / drawing.clip.fps:.2f} s", fontsize=8)
    figure.subplots_adjust(0, 0, 1, 0.96, 0, 0.05)
    figure.savefig(path, format="png")


def _video(drawing: _Drawing, path: Path, fps: float) -> None:
    import imageio_ffmpeg

    figure = _figure(*_SIZE)
    axes = figure.add_axes((0.0, 0.0, 1.0, 0.95), projection="3d")
    pipe = imageio_ffmpeg.write_frames(str(path), _SIZE, fps=fps, quality=7, ffmpeg_log_level="error")  # type: ignore[arg-type]
    pipe.send(None)
    try:
        for moment in np.arange(0.0, drawing.clip.duration + 0.5 / fps, 1.0 / fps):
            frame = min(round(moment * drawing.clip.fps), drawing.clip.num_frames - 1)
            drawing.draw(axes, frame)
            figure.canvas.draw()
            pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]
            pipe.send(np.ascontiguousarray(pixels))
    finally:
        pipe.close()
