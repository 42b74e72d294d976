"""How Warp compiles the kernels around the physics, which decides how long the very first start takes."""

from __future__ import annotations


def forward_kernels_only() -> None:
    """Let Warp compile kernels without their adjoints, which nothing here uses: they are most of the compile time."""
    import warp as wp

    wp.config.enable_backward = False
