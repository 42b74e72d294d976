"""Replays Newton's conversion kernels without Python's launch overhead.

Around every native step Newton launches half a dozen small kernels. With few worlds, launching costs more than the
physics. Warp can record a sequence of launches on the CPU as a graph and replay it in one call; the graph is valid as
long as the same arrays take part.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import warp as wp

logger = logging.getLogger(__name__)


class Replay:
    """One function made of kernel launches only, recorded once per set of arrays.

    Args:
        name: What the function does, for the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._arrays: tuple[object, ...] = ()
        self._graph: Any = None
        self._fresh = True
        self._usable = True

    def invalidate(self) -> None:
        """Forget the recording: something other than the arrays' contents changed."""
        self._arrays, self._graph, self._fresh = (), None, True

    def run(self, arrays: Sequence[object], function: Callable[[], None]) -> None:
        """Do what ``function`` does, from the recording if there is one for these arrays.

        Args:
            arrays: Every array (or None) that the caller may exchange between calls; they are kept alive.
            function: Launches kernels and does nothing else.
        """
        if not self._usable:
            function()
            return
        same = len(arrays) == len(self._arrays) and all(a is b for a, b in zip(arrays, self._arrays, strict=True))
        if not same or self._fresh:
            # The first call loads the kernels' modules, which a recording must not.
            self._arrays, self._graph, self._fresh = tuple(arrays), None, False
            function()
            return
        if self._graph is None and not self._record(function):
            return
        graph: Any = self._graph
        wp.capture_launch(graph)

    def _record(self, function: Callable[[], None]) -> bool:
        try:
            with wp.ScopedCapture(device="cpu") as capture:
                function()
        except Exception as error:  # noqa: BLE001 - whatever the reason, the plain call always works
            logger.info("kernel launches of %s cannot be recorded (%s); launching them one by one", self._name, error)
            self._usable = False
            function()
            return False
        self._graph = capture.graph
        return True
