"""What the humanoid is made of: colliders, visible shapes and colours of each body, at scale 1.

The colliders follow the AMP humanoid's primitives, except the football boot, which is our own mesh of about 24 cm; its
convex hull collides. A body without visible shapes shows its colliders.
"""

from __future__ import annotations

import math

from sportsuite.characters.shapes import Box, Capsule, Mesh, Shape, Sphere

Colour = tuple[float, float, float]

# Linear colours: viewers brighten them on their way to the screen.
SKIN: Colour = (0.50, 0.25, 0.15)
HAIR: Colour = (0.05, 0.025, 0.015)
SHIRT: Colour = (0.50, 0.015, 0.03)
SHORTS: Colour = (0.75, 0.75, 0.75)
SOCKS: Colour = (0.50, 0.015, 0.03)
BOOT: Colour = (0.02, 0.02, 0.025)

COLLIDERS: dict[str, tuple[Shape, ...]] = {
    "pelvis": (Sphere((0.0, 0.0, 0.07), 0.09), Sphere((0.0, 0.0, 0.205), 0.07)),
    "torso": (
        Sphere((0.0, 0.0, 0.12), 0.11),
        Capsule((-0.006, -0.0458, 0.2288), (-0.0168, -0.1282, 0.2376), 0.045),
        Capsule((-0.006, 0.0458, 0.2288), (-0.0168, 0.1282, 0.2376), 0.045),
    ),
    "head": (Sphere((0.0, 0.0, 0.175), 0.095),),
    "upper_arm": (Capsule((0.0, 0.0, -0.05), (0.0, 0.0, -0.23), 0.045),),
    "lower_arm": (Capsule((0.0, 0.0, -0.0525), (0.0, 0.0, -0.1875), 0.04),),
    "hand": (Sphere((0.0, 0.0, 0.0), 0.04),),
    "thigh": (Capsule((0.0, 0.0, -0.06), (0.0, 0.0, -0.36), 0.055),),
    "shin": (Capsule((0.0, 0.0, -0.045), (0.0, 0.0, -0.355), 0.05),),
}
"""Colliding shapes by body name without its side; feet are in :func:`foot_colliders`."""

VISUALS: dict[str, tuple[tuple[Shape, Colour], ...]] = {
    "pelvis": (
        (Capsule((0.0, -0.06, 0.03), (0.0, -0.045, 0.13), 0.084), SHORTS),
        (Capsule((0.0, 0.06, 0.03), (0.0, 0.045, 0.13), 0.084), SHORTS),
        (Capsule((0.0, -0.035, 0.19), (0.0, 0.035, 0.19), 0.082), SHIRT),
    ),
    "torso": (
        (Capsule((0.0, -0.035, -0.02), (0.0, -0.055, 0.17), 0.086), SHIRT),
        (Capsule((0.0, 0.035, -0.02), (0.0, 0.055, 0.17), 0.086), SHIRT),
        (Capsule((0.012, -0.05, 0.15), (0.012, 0.05, 0.15), 0.088), SHIRT),
        (Capsule((-0.008, -0.14, 0.232), (-0.008, 0.14, 0.232), 0.052), SHIRT),
        (Capsule((0.0, 0.0, 0.24), (0.0, 0.0, 0.33), 0.045), SKIN),
    ),
    "head": (
        (Sphere((0.0, 0.0, 0.175), 0.095), SKIN),
        (Sphere((-0.012, 0.0, 0.187), 0.094), HAIR),
        (Sphere((0.094, 0.0, 0.17), 0.014), SKIN),
    ),
    "upper_arm": (
        (Capsule((0.0, 0.0, -0.02), (0.0, 0.0, -0.15), 0.053), SHIRT),
        (Capsule((0.0, 0.0, -0.05), (0.0, 0.0, -0.25), 0.043), SKIN),
    ),
    "lower_arm": ((Capsule((0.0, 0.0, -0.01), (0.0, 0.0, -0.22), 0.038), SKIN),),
    "thigh": (
        (Capsule((0.0, 0.0, -0.03), (0.0, 0.0, -0.21), 0.076), SHORTS),
        (Capsule((0.0, 0.0, -0.06), (0.0, 0.0, -0.40), 0.058), SKIN),
    ),
    "shin": (
        (Capsule((0.0, 0.0, -0.01), (0.0, 0.0, -0.06), 0.051), SKIN),
        (Capsule((0.0, 0.0, -0.09), (0.0, 0.0, -0.37), 0.051), SOCKS),
    ),
}
"""Visible shapes and colours where they differ from the colliders, by body name without its side."""

COLLIDER_COLOURS: dict[str, Colour] = {
    "pelvis": SHORTS,
    "torso": SHIRT,
    "head": SKIN,
    "upper_arm": SHIRT,
    "lower_arm": SKIN,
    "hand": SKIN,
    "thigh": SHORTS,
    "shin": SOCKS,
    "foot": BOOT,
}
"""Colours of the colliders by body name without its side, for bodies and viewers without visible shapes."""

BOX_FOOT = Box((0.045, 0.0, -0.0225), (0.0885, 0.045, 0.0275))
"""The AMP humanoid's foot."""

_BOOT_RINGS: tuple[tuple[float, float, float, float, float, float], ...] = (
    # height, heel x, toe x, half width at the heel, at the ball of the foot, at the toe
    (-0.055, -0.060, 0.160, 0.030, 0.044, 0.020),
    (-0.040, -0.064, 0.165, 0.033, 0.047, 0.024),
    (-0.018, -0.063, 0.150, 0.033, 0.042, 0.022),
    (0.010, -0.058, 0.070, 0.032, 0.034, 0.024),
    (0.035, -0.052, 0.050, 0.034, 0.036, 0.030),
)
_HALF_RING = 6
"""Points per side of a ring: 5 rings of 12 points stay below PhysX's 64 hull vertices."""


def side_free(body: str) -> str:
    """Body name without its side: ``right_thigh`` becomes ``thigh``."""
    return body.removeprefix("right_").removeprefix("left_")


def foot_colliders(foot: str) -> tuple[Shape, ...]:
    """Colliding shapes of a foot of kind ``boot`` or ``box``."""
    return (boot_mesh(),) if foot == "boot" else (BOX_FOOT,)


def boot_mesh() -> Mesh:
    """Football boot as a loft over five horizontal outlines, flat sole down; ankle at the origin, toes along +x [m]."""
    rings = [_boot_ring(*ring) for ring in _BOOT_RINGS]
    count = len(rings[0])
    points = [point for ring in rings for point in ring]
    triangles: list[tuple[int, int, int]] = []
    for level in range(len(rings) - 1):
        for index in range(count):
            low, low_next = level * count + index, level * count + (index + 1) % count
            high, high_next = low + count, low_next + count
            triangles += [(low, low_next, high_next), (low, high_next, high)]
    top = (len(rings) - 1) * count
    for index in range(1, count - 1):
        triangles += [(0, index + 1, index), (top, top + index, top + index + 1)]
    return Mesh(tuple(points), tuple(triangles))


def _boot_ring(
    height: float, heel: float, toe: float, heel_width: float, ball_width: float, toe_width: float
) -> list[tuple[float, float, float]]:
    """One outline, counter-clockwise seen from above, starting behind the heel on the right."""
    stations = (0.0, 0.12, 0.42, 0.68, 0.90, 1.0)
    widths = (0.6 * heel_width, heel_width, 0.5 * (heel_width + ball_width), ball_width, toe_width, 0.4 * toe_width)
    half = [(heel + (toe - heel) * station, width) for station, width in zip(stations, widths, strict=True)]
    right = [(x, -width, height) for x, width in half]
    left = [(x, width, height) for x, width in reversed(half)]
    assert len(half) == _HALF_RING and math.isclose(left[0][0], toe)
    return right + left
