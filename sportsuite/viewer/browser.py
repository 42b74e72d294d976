"""The viewer in the browser (viser), reachable from this machine only."""

from __future__ import annotations

import socket
from typing import Any

from sportsuite.errors import BadInputError, SportSuiteError

__all__ = ["ADDRESS", "DEFAULT_PORT", "check_port", "repair_planes", "show_in_browser"]

ADDRESS = "127.0.0.1"
"""Where the viewer listens. It takes commands without a password, so it isn't offered to the network."""

DEFAULT_PORT = 8080

_TRIED_PORTS = 20
"""How many ports after one that is in use are tried to name a free one (ours)."""


def check_port(port: int) -> int:
    """Make sure that a port can be listened on.

    Returns:
        The port.

    Raises:
        BadInputError: If it is no port or in use; the next free one is named.
    """
    if not 1024 <= port <= 65535:
        raise BadInputError(f"--port {port}: expected 1024 to 65535")
    if _is_free(port):
        return port
    free = next((near for near in range(port + 1, min(port + _TRIED_PORTS, 65536)) if _is_free(near)), None)
    raise BadInputError(f"--port {port} is in use" + (f"; nearest free one: {free}" if free else ""))


def show_in_browser(env_cfg: Any, port: int = DEFAULT_PORT, worlds: int | None = None) -> None:
    """Give an env cfg the browser viewer; it must be built with it.

    Args:
        env_cfg: The env cfg, changed in place.
        port: Port on :data:`ADDRESS`.
        worlds: How many worlds are shown, from the first on; None for all.

    Raises:
        SportSuiteError: If viser isn't installed.
    """
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise SportSuiteError("the browser viewer needs viser: pip install 'sportsuite[viser]'") from error
    from isaaclab_visualizers.viser import ViserVisualizerCfg

    repair_planes()
    view = ViserVisualizerCfg(
        port=port, bind_address=ADDRESS, display_address=ADDRESS, open_browser=False, verbose=False
    )
    if env_cfg.sim.default_visualizer_cfg is not None:
        view.eye, view.lookat = env_cfg.sim.default_visualizer_cfg.eye, env_cfg.sim.default_visualizer_cfg.lookat
    view.visible_env_indices = None if worlds is None else list(range(worlds))
    env_cfg.sim.visualizer_cfgs = [view]


def repair_planes() -> None:
    """Give Isaac Lab's viser viewer the method it calls for planes but doesn't have.

    ``NewtonViewerViser._log_plane_instances`` of isaaclab 3.0.0 calls ``self._to_numpy``, which newton 1.6 turned into
    a function: the first plane ends the viewer's updates without a word. A version with the method is left alone.
    """
    from isaaclab_visualizers.viser.viser_visualizer import NewtonViewerViser

    if not hasattr(NewtonViewerViser, "_to_numpy"):
        NewtonViewerViser._to_numpy = staticmethod(_to_numpy)  # type: ignore[attr-defined]


def _to_numpy(array: Any) -> Any:
    """Copy a warp or torch array to numpy; None and numpy arrays pass."""
    return array.numpy() if hasattr(array, "numpy") else array


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True
