"""A mesh stands on points that are spread over its sole."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from sportsuite.physics.mujoco_cpu import plane_mesh

SIDES = 12
LENGTH, WIDTH, DEPTH = 0.15, 0.05, 0.001


def _sole(turn: float = 0.0) -> mujoco.MjModel:
    """A shoe-like prism with a finely outlined sole, its sole a millimetre in the plane."""
    corners = []
    for height in (0.0, 0.06):
        for i in range(SIDES):
            angle = 2 * math.pi * (i + 0.3) / SIDES
            corners.append((LENGTH * math.cos(angle), WIDTH * math.sin(angle), height))
    vertices = " ".join(f"{value:.6f}" for corner in corners for value in corner)
    quaternion = f"{math.cos(turn / 2)} 0 0 {math.sin(turn / 2)}"
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="shoe" vertex="{vertices}"/></asset><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0.2 0.1 {-DEPTH}" quat="{quaternion}"><freejoint/><geom type="mesh" mesh="shoe"/></body></worldbody>
        </mujoco>"""
    )


def _contacts(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    contact = data.contact
    return contact.pos.copy(), contact.dist.copy(), contact.frame[:, :3].copy()


def _area(points: np.ndarray) -> float:
    """Area of the triangle of three contact points."""
    (ax, ay), (bx, by), (cx, cy) = points[:3, :2]
    return abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_flat_sole_stands_on_a_wide_triangle(turn: float) -> None:
    model = _sole(turn)
    with plane_mesh.installed():
        points, depths, normals = _contacts(model)
    assert len(points) == 3
    np.testing.assert_allclose(depths, -DEPTH, atol=1e-6)
    np.testing.assert_allclose(normals, [[0.0, 0.0, 1.0]] * 3, atol=1e-12)
    np.testing.assert_allclose(points[:, 2], -DEPTH / 2, atol=1e-6)
    # Of all triangles in an ellipse the largest has 3 sqrt(3) / 4 of the half axes' product.
    assert _area(points) > 0.5 * (3 * math.sqrt(3) / 4 * LENGTH * WIDTH)
    # The points are vertices of the sole.
    back = points[:, :2] - (0.2, 0.1)
    c, s = math.cos(-turn), math.sin(-turn)
    along, across = c * back[:, 0] - s * back[:, 1], s * back[:, 0] + c * back[:, 1]
    np.testing.assert_allclose((along / LENGTH) ** 2 + (across / WIDTH) ** 2, 1.0, atol=1e-4)


def test_the_former_function_is_back_afterwards() -> None:
    model = _sole()
    before = _contacts(model)
    with plane_mesh.installed(), plane_mesh.installed():
        inside = _contacts(model)
    after = _contacts(model)
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.array_equal(before[0], inside[0])


def test_a_mesh_above_the_plane_has_no_contact() -> None:
    model = _sole()
    model.body_pos[1, 2] = 0.01
    model.qpos0[2] = 0.01
    with plane_mesh.installed():
        assert len(_contacts(model)[0]) == 0
