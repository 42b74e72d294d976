"""The track: a red ground and one lane per world, along x from the start line at x = 0 to the finish line.

The lines can be seen, not touched. Positions are in the frame of the world's origin.
"""

from __future__ import annotations

import isaaclab.sim as sim_utils
from isaaclab.assets import AssetBaseCfg

from sportsuite.physics.ground import PlaneCfg, ground_cfg

LANE_WIDTH = 1.22
"""Width of a lane [m], as in athletics."""

LINE_WIDTH = 0.05
"""Width of the white lines [m], as in athletics."""

_LINE_HEIGHT = 0.004  # thick enough to be drawn above the ground without flicker (ours)
_RED = ((0.52, 0.17, 0.12), (0.56, 0.20, 0.14))
_WHITE = (0.95, 0.95, 0.95)


def track_ground_cfg() -> AssetBaseCfg:
    """Ground shared by all worlds, in the colour of a track."""
    return ground_cfg(spawn=PlaneCfg(colours=_RED))


def cross_line_cfg(name: str, x: float) -> AssetBaseCfg:
    """A line across the lane at ``x`` [m]; for the start and the finish."""
    return _line(name, (x, 0.0), (LINE_WIDTH, LANE_WIDTH))


def side_line_cfg(name: str, side: float, length: float) -> AssetBaseCfg:
    """A line along the lane, ``length`` [m] long; ``side`` is 1 for the left one and -1 for the right one."""
    return _line(name, (0.5 * length, side * 0.5 * LANE_WIDTH), (length, LINE_WIDTH))


def _line(name: str, centre: tuple[float, float], size: tuple[float, float]) -> AssetBaseCfg:
    return AssetBaseCfg(
        prim_path=f"{{ENV_REGEX_NS}}/{name}",
        spawn=sim_utils.CuboidCfg(
            size=(*size, _LINE_HEIGHT), visual_material=sim_utils.PreviewSurfaceCfg(diffuse_color=_WHITE)
        ),
        init_state=AssetBaseCfg.InitialStateCfg(pos=(*centre, 0.5 * _LINE_HEIGHT)),
    )
