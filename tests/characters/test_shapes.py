"""Mass properties of shapes, by hand and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sportsuite.characters.humanoid28_shapes import boot_mesh
from sportsuite.characters.shapes import Box, Capsule, Mesh, Sphere, combined, principal_axes, scale_shape, unit_density

CUBE_CORNERS = tuple((float(x), float(y), float(z)) for x in (0, 2) for y in (0, 1) for z in (0, 1))
CUBE_TRIANGLES = (
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
)  # fmt: skip


def test_sphere():
    part = unit_density(Sphere((1.0, 2.0, 3.0), 0.5))
    assert part.mass == pytest.approx(4 / 3 * math.pi * 0.125)
    assert part.com.tolist() == [1.0, 2.0, 3.0]
    assert np.allclose(part.inertia, 0.4 * part.mass * 0.25 * np.eye(3))


def test_mesh_of_a_box_equals_the_box():
    mesh, box = unit_density(Mesh(CUBE_CORNERS, CUBE_TRIANGLES)), unit_density(Box((1.0, 0.5, 0.5), (1.0, 0.5, 0.5)))
    assert mesh.mass == pytest.approx(box.mass) == pytest.approx(2.0)
    assert np.allclose(mesh.com, box.com)
    assert np.allclose(mesh.inertia, box.inertia)
    # m (b^2 + c^2) / 12 about x and m (a^2 + c^2) / 12 about y.
    assert np.allclose(np.diag(box.inertia), [2 * 2 / 12, 2 * 5 / 12, 2 * 5 / 12])


def test_capsule_of_no_length_is_nearly_a_sphere():
    capsule, sphere = unit_density(Capsule((0, 0, -1e-6), (0, 0, 1e-6), 0.3)), unit_density(Sphere((0, 0, 0), 0.3))
    assert capsule.mass == pytest.approx(sphere.mass, rel=1e-4)
    assert np.allclose(capsule.inertia, sphere.inertia, rtol=1e-4)


def test_capsule_inertia_by_sampling():
    shape = Capsule((0.0, 0.0, -0.2), (0.3, 0.0, 0.2), 0.1)
    points = np.random.default_rng(0).uniform((-0.2, -0.2, -0.4), (0.5, 0.2, 0.4), (400_000, 3))
    start, axis = np.array(shape.start), np.array(shape.end) - np.array(shape.start)
    along = np.clip((points - start) @ axis / (axis @ axis), 0.0, 1.0)
    inside = points[np.linalg.norm(points - start - along[:, None] * axis, axis=1) < shape.radius]
    part = unit_density(shape)
    assert part.mass == pytest.approx(len(inside) / len(points) * 0.7 * 0.4 * 0.8, rel=0.02)
    centred = inside - part.com
    second = centred.T @ centred / len(inside) * part.mass
    assert np.allclose(part.inertia, np.trace(second) * np.eye(3) - second, rtol=0.03, atol=2e-6)


def test_two_spheres_combine_by_the_parallel_axis_theorem():
    part = combined([Sphere((0.0, 0.0, 1.0), 0.1), Sphere((0.0, 0.0, -1.0), 0.1)], 2.0)
    assert np.allclose(part.com, 0.0)
    assert np.diag(part.inertia) == pytest.approx([2.0 + 2 * 0.004, 2.0 + 2 * 0.004, 2 * 0.004])


def test_principal_axes_rebuild_the_tensor_and_are_right_handed():
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    inertia = rotation @ np.diag([1.0, 2.0, 3.0]) @ rotation.T
    moments, axes = principal_axes(inertia)
    assert np.allclose(axes @ np.diag(moments) @ axes.T, inertia)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_scaling_multiplies_lengths():
    capsule = scale_shape(Capsule((0, 0, 1), (0, 1, 1), 0.5), 2.0)
    assert capsule == Capsule((0, 0, 2), (0, 2, 2), 1.0)
    assert unit_density(scale_shape(boot_mesh(), 2.0)).mass == pytest.approx(8 * unit_density(boot_mesh()).mass)


def test_boot_is_closed_outward_flat_soled_and_within_the_hull_limit():
    boot = boot_mesh()
    edges = [edge for a, b, c in boot.triangles for edge in ((a, b), (b, c), (c, a))]
    assert len(edges) == len(set(edges))
    assert all((b, a) in set(edges) for a, b in edges)
    assert unit_density(boot).mass > 0.0
    assert len(boot.points) <= 64
    points = np.array(boot.points)
    sole = points[points[:, 2] == points[:, 2].min()]
    assert len(sole) == 12 and sole[:, 2].max() == -0.055
    assert np.allclose(points[:, 1].max(), -points[:, 1].min())
    assert 0.22 < np.ptp(points[:, 0]) < 0.25
