"""Lets the ovphysx backend run on a machine without a GPU."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_ALLOCATORS = ("clone", "empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like")
_MARK = "_sportsuite_unpinned"


def allow_ovphysx_without_cuda() -> bool:
    """Make warp's allocators ignore ``pinned=True`` where there is no CUDA.

    ``isaaclab_ov`` asks for page-locked memory unconditionally. Such memory only speeds up copies to a GPU; without
    CUDA warp refuses to allocate it. Call this before the scene is built; calling it again does nothing. It affects the
    whole process, and does nothing where CUDA is available.

    Returns:
        Whether the allocators ignore ``pinned`` now.
    """
    import warp

    if warp.is_cuda_available():
        return False
    for name in _ALLOCATORS:
        allocate = getattr(warp, name)
        if not hasattr(allocate, _MARK):
            setattr(warp, name, _without_pinning(allocate))
    return True


def _without_pinning(allocate: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(allocate)
    def unpinned(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("pinned", None)
        return allocate(*args, **kwargs)

    setattr(unpinned, _MARK, True)
    return unpinned
