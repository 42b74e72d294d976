"""Colliders of a Newton model that is being built, for world hooks."""

from __future__ import annotations

import itertools
from typing import Any


def world_colliders(builder: Any) -> list[int]:
    """Numbers of the colliders of the world that is being built, and of those that all worlds share.

    Only the two ends of the list are looked at: with thousands of worlds a hook that walks through all shapes would
    take minutes in all.

    Args:
        builder: A ``newton.ModelBuilder`` in which shared shapes were added before any world's, as Isaac Lab does.

    Returns:
        Indices in ascending order.
    """
    from newton import ShapeFlags

    worlds, current = builder.shape_world, builder.current_world
    shared = list(itertools.takewhile(lambda index: worlds[index] == -1, range(len(worlds))))
    own = itertools.takewhile(lambda index: worlds[index] == current, range(len(worlds) - 1, len(shared) - 1, -1))
    shapes = [*shared, *reversed(list(own))]
    return [index for index in shapes if builder.shape_flags[index] & ShapeFlags.COLLIDE_SHAPES]
