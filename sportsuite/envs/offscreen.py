"""A viewer without a window, for frames and videos on machines without a display."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sportsuite.envs.sport_env_cfg import SportEnvCfg

WIDTH, HEIGHT = 960, 540
"""Default size of a frame [pixels] (ours: about 0.1 s per frame with Mesa on two cores)."""


def add_offscreen_viewer(cfg: SportEnvCfg, width: int = WIDTH, height: int = HEIGHT, worlds: int = 1) -> None:
    """Give an environment config a window-less OpenGL viewer; the environment must be built with it.

    Args:
        cfg: The config, changed in place.
        width: Width of the frames [pixels].
        height: Height of the frames [pixels].
        worlds: How many worlds are drawn, from the first on.
    """
    from isaaclab_visualizers.newton import NewtonGLVisualizerCfg

    place = cfg.sim.default_visualizer_cfg
    view = NewtonGLVisualizerCfg(headless=True, window_width=width, window_height=height)
    if place is not None:
        view.eye, view.lookat = place.eye, place.lookat
    view.visible_env_indices = list(range(worlds))
    view.streaming_view = False
    cfg.sim.visualizer_cfgs = [view]
    if hasattr(cfg.sim.physics, "load_visual_shapes"):
        # what only a viewer draws (grass, kit) is otherwise left out where Isaac Lab knows of no viewer yet
        cfg.sim.physics.load_visual_shapes = True
