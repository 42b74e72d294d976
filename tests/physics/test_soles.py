"""Boots get boxes to stand on; boxes touch what is fixed, meshes the rest."""

from __future__ import annotations

import newton
import numpy as np
import pytest
from newton.solvers import SolverMuJoCo

from sportsuite.characters.humanoid28_shapes import boot_mesh
from sportsuite.characters.spec import SOLE_DROP
from sportsuite.physics.soles import sole_box, soles_hook

CUBE = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (-0.06, 0.02)], np.float32)
CUBE_FACES = np.array(
    [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3],
    np.int32,
)


def test_a_box_shaped_mesh_gets_its_own_lower_half():
    box = sole_box(CUBE)
    assert box is not None
    assert box.centre == pytest.approx((0.0, 0.0, -0.04)) and box.half == pytest.approx((0.1, 0.05, 0.02))


def test_the_boots_box_is_as_deep_and_long_as_the_boot_and_has_its_sole_s_area():
    box = sole_box(np.array(boot_mesh().points))
    assert box is not None
    assert box.centre[2] - box.half[2] == pytest.approx(-SOLE_DROP["boot"])
    assert (box.centre[0] - box.half[0], box.centre[0] + box.half[0]) == pytest.approx((-0.06, 0.16))
    # Mean of the outline's half widths over its length: 18, 30, 44, 20 and 8 mm at 0, 12, 68, 90 and 100 %.
    assert box.half[1] == pytest.approx(0.12 * 0.024 + 0.56 * 0.037 + 0.22 * 0.032 + 0.10 * 0.014)
    assert box.centre[1] == pytest.approx(0.0)


def test_a_mesh_that_stands_on_a_point_or_an_edge_gets_no_box():
    tip = np.array([(0.0, 0.0, -0.1), (0.1, 0.0, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0)])
    edge = np.array([(0.1, 0.0, -0.1), (-0.1, 0.0, -0.1), (0.0, 0.0, -0.1), (0.0, 0.1, 0.0), (0.0, -0.1, 0.0)])
    assert sole_box(tip) is None and sole_box(edge) is None


@pytest.fixture
def builder() -> newton.ModelBuilder:
    """Two worlds on one ground, each with a wall and a body that wears a mesh or not."""
    builder = newton.ModelBuilder()
    SolverMuJoCo.register_custom_attributes(builder)
    builder.add_ground_plane(label="/World/ground")
    for world in range(2):
        builder.begin_world()
        for name in ("left_foot", "right_foot", "shin"):
            body = builder.add_body(label=f"/World/env_{world}/{name}")
            mesh = newton.Mesh(CUBE, CUBE_FACES)
            builder.add_shape_convex_hull(body, mesh=mesh, label=f"/World/env_{world}/{name}/collider_0")
        builder.add_shape_box(-1, label=f"/World/env_{world}/wall")
        masses = list(builder.body_mass)
        soles_hook()(builder, world, None, None)
        assert builder.body_mass == masses
        builder.end_world()
    return builder


def test_feet_with_meshes_get_soles_and_nothing_else_does(builder: newton.ModelBuilder) -> None:
    soles = [label for label in builder.shape_label if label.endswith("/sole")]
    assert soles == [f"/World/env_{world}/{side}_foot/sole" for world in range(2) for side in ("left", "right")]


def test_soles_touch_fixed_things_and_meshes_moving_ones(builder: newton.ModelBuilder) -> None:
    model = SolverMuJoCo(builder.finalize(device="cpu"), njmax=100, nconmax=100).mj_model
    names = [model.geom(index).name for index in range(model.ngeom)]
    pairs = {
        frozenset((_short(names[i]), _short(names[j])))
        for i in range(model.ngeom)
        for j in range(i)
        if model.geom_bodyid[i] != model.geom_bodyid[j]
        and (model.geom_contype[i] & model.geom_conaffinity[j] or model.geom_contype[j] & model.geom_conaffinity[i])
    }
    fixed = ("ground", "wall")
    expected = {frozenset((f"{side}_foot/sole", thing)) for side in ("left", "right") for thing in fixed}
    meshes = ("left_foot/mesh", "right_foot/mesh", "shin/mesh")
    expected |= {frozenset((a, b)) for a in meshes for b in meshes if a != b}
    expected |= {frozenset(("shin/mesh", thing)) for thing in fixed}
    assert pairs == expected


def _short(name: str) -> str:
    """``.../env_0/left_foot/collider_0_7`` becomes ``left_foot/mesh``."""
    for thing in ("ground", "wall"):
        if thing in name:
            return thing
    body, shape = name.split("/")[-2:]
    return f"{body}/{'sole' if shape.startswith('sole') else 'mesh'}"
