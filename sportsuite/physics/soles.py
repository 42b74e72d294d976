"""Feet that stand on boxes: what a football boot touches the ground with on MuJoCo.

A boot is a convex mesh, and meshes meet a plane badly in MuJoCo: native MuJoCo makes at most three contacts, MuJoCo
Warp four, chosen by a search that jumps between vertices. A box has the same four corners in both. So on Newton each
boot gets a box for everything that doesn't move, as deep as its flat sole, and its mesh is left with what moves: the
ball, the other boot, other bodies. PhysX makes good contacts for meshes; there the mesh does both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from sportsuite.characters.shapes import Box
from sportsuite.characters.spec import FEET
from sportsuite.physics.colliders import world_colliders

_FLAT = 1e-3
"""Height above the lowest vertex up to which vertices count as the sole [m] (ours)."""

_MATERIAL = ("margin", "gap", "material_ke", "material_kd", "material_kf", "material_ka", "material_mu")
"""What a box takes over from its mesh: the attributes ``shape_*`` of Newton's builder."""


def sole_box(points: np.ndarray) -> Box | None:
    """Box in place of a mesh that stands on a flat sole: as long, as deep and of the same area.

    The box reaches up to half the mesh's height (ours), so that a foot lying on its side has something to lie on.

    Args:
        points: Vertices in the body's frame, z up. Shape is (num_points, 3) [m].

    Returns:
        The box, or None if the lowest vertices enclose no area.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    outline = points[points[:, 2] < low[2] + _FLAT, :2]
    start, end = outline.min(axis=0), outline.max(axis=0)
    area = _hull_area(outline)
    if not area > 0.0:
        return None
    centre, length = 0.5 * (start + end), end[0] - start[0]
    top = 0.5 * (low[2] + high[2])
    return Box(
        (float(centre[0]), float(centre[1]), float(0.5 * (low[2] + top))),
        (float(0.5 * length), float(0.5 * area / length), float(0.5 * (top - low[2]))),
    )


def soles_hook(feet: Collection[str] = FEET) -> Callable[..., None]:
    """Make a world hook that gives boots their soles, for ``isaaclab_newton.cloner.newton_builder_world_hook``.

    It has to come after hooks that pair colliders, such as :func:`~sportsuite.physics.ball_contact.ball_pairs_hook`: a
    sole touches nothing but fixed things. Feet without a flat-soled mesh stay as they are, and masses too.

    Args:
        feet: Names of the bodies that wear boots.

    Returns:
        A hook ``(builder, world, position, quaternion) -> None``.
    """

    def hook(builder: Any, world: int, position: object, quaternion: object) -> None:
        for mesh in _boots(builder, feet):
            if (box := sole_box(_vertices(builder, mesh))) is not None:
                _add_sole(builder, mesh, box)

    return hook


def _boots(builder: Any, feet: Collection[str]) -> list[int]:
    """Mesh colliders of the feet."""
    from newton import GeoType

    meshes = [i for i in _moving(builder) if builder.shape_type[i] in (GeoType.MESH, GeoType.CONVEX_MESH)]
    return [i for i in meshes if builder.body_label[builder.shape_body[i]].rsplit("/", 1)[-1] in feet]


def _moving(builder: Any) -> list[int]:
    return [index for index in world_colliders(builder) if builder.shape_body[index] >= 0]


def _add_sole(builder: Any, mesh: int, box: Box) -> None:
    """Add a box to a mesh's body and share out what each of them touches."""
    from newton import ModelBuilder

    body, others = builder.shape_body[mesh], world_colliders(builder)
    cfg = ModelBuilder.ShapeConfig(density=0.0, is_visible=False, has_particle_collision=False)
    for name in _MATERIAL:
        setattr(cfg, name.removeprefix("material_"), getattr(builder, f"shape_{name}")[mesh])
    hx, hy, hz = box.half
    place, label = (*box.centre, 0.0, 0.0, 0.0, 1.0), f"{builder.body_label[body]}/sole"
    sole = builder.add_shape_box(body, xform=place, hx=hx, hy=hy, hz=hz, cfg=cfg, label=label)
    for other in others:
        moves = builder.shape_body[other] >= 0
        builder.add_shape_collision_filter_pair(sole if moves else mesh, other)


def _vertices(builder: Any, mesh: int) -> np.ndarray:
    """Vertices of a mesh collider in its body's frame, (num_points, 3) [m]."""
    import warp as wp

    place, scale = builder.shape_transform[mesh], builder.shape_scale[mesh]
    points = np.asarray(builder.shape_source[mesh].vertices) * np.asarray(scale)
    turn = np.array(wp.quat_to_matrix(wp.transform_get_rotation(place))).reshape(3, 3)
    return points @ turn.T + np.array(wp.transform_get_translation(place))


def _hull_area(points: np.ndarray) -> float:
    """Area of the convex hull of points in the plane, (num_points, 2) [m]; zero if they don't span one."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(points).volume)
    except QhullError:
        return 0.0
