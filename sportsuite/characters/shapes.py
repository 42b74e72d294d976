"""Primitive shapes of a body and the mass properties that follow from them, at uniform density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Vec3 = tuple[float, float, float]


@dataclass(frozen=True)
class Sphere:
    """Ball of a radius about a centre in the body frame [m]."""

    centre: Vec3
    radius: float


@dataclass(frozen=True)
class Capsule:
    """Segment between two points in the body frame, thickened by a radius [m]."""

    start: Vec3
    end: Vec3
    radius: float


@dataclass(frozen=True)
class Box:
    """Axis-aligned box given by its centre and half sizes in the body frame [m]."""

    centre: Vec3
    half: Vec3


@dataclass(frozen=True)
class Mesh:
    """Closed triangle mesh with outward normals; vertices in the body frame [m]."""

    points: tuple[Vec3, ...]
    triangles: tuple[tuple[int, int, int], ...]


Shape = Sphere | Capsule | Box | Mesh


@dataclass(frozen=True)
class MassProperties:
    """Mass, centre of mass and inertia about it.

    Attributes:
        mass: Mass [kg], or volume [m^3] for unit density.
        com: Centre of mass in the body frame, (3,) [m].
        inertia: Inertia tensor about the centre of mass, along the body axes, (3, 3) [kg m^2].
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def scale_shape(shape: Shape, factor: float) -> Shape:
    """The same shape with every length multiplied by ``factor``, about the body origin."""

    def scaled(point: Vec3) -> Vec3:
        return (factor * point[0], factor * point[1], factor * point[2])

    if isinstance(shape, Sphere):
        return Sphere(scaled(shape.centre), factor * shape.radius)
    if isinstance(shape, Capsule):
        return Capsule(scaled(shape.start), scaled(shape.end), factor * shape.radius)
    if isinstance(shape, Box):
        return Box(scaled(shape.centre), scaled(shape.half))
    return Mesh(tuple(scaled(point) for point in shape.points), shape.triangles)


def unit_density(shape: Shape) -> MassProperties:
    """Mass properties of one shape at 1 kg/m^3."""
    if isinstance(shape, Sphere):
        volume = 4.0 / 3.0 * math.pi * shape.radius**3
        return MassProperties(volume, np.array(shape.centre), 0.4 * volume * shape.radius**2 * np.eye(3))
    if isinstance(shape, Capsule):
        return _capsule(shape)
    if isinstance(shape, Box):
        volume = 8.0 * shape.half[0] * shape.half[1] * shape.half[2]
        squares = np.square(shape.half)
        return MassProperties(volume, np.array(shape.centre), np.diag(volume / 3.0 * (squares.sum() - squares)))
    return _mesh(shape)


def combined(shapes: Sequence[Shape], mass: float) -> MassProperties:
    """Mass properties of several shapes of one density that weigh ``mass`` together; overlaps count twice."""
    parts = [unit_density(shape) for shape in shapes]
    density = mass / sum(part.mass for part in parts)
    com = sum(density * part.mass / mass * part.com for part in parts)
    inertia = sum(density * (part.inertia + part.mass * _point_inertia(part.com - com)) for part in parts)
    return MassProperties(mass, np.asarray(com), np.asarray(inertia))


def principal_axes(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) and a right-handed rotation (3, 3) whose columns are the axes.

    The signs are fixed, and a tensor that is diagonal to within rounding keeps the body axes, so the result does not
    depend on the linear algebra library.
    """
    off_diagonal = inertia - np.diag(np.diag(inertia))
    if np.abs(off_diagonal).max() <= 1e-9 * np.abs(inertia).max():
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, np.arange(3)])
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return moments, axes


def _point_inertia(offset: np.ndarray) -> np.ndarray:
    """Inertia of a unit point mass at ``offset`` (parallel axis theorem)."""
    return float(offset @ offset) * np.eye(3) - np.outer(offset, offset)


def _capsule(shape: Capsule) -> MassProperties:
    """Cylinder plus two half balls whose centres of mass lie 3/8 r beyond its ends."""
    start, end, radius = np.array(shape.start), np.array(shape.end), shape.radius
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length
    cylinder = math.pi * radius**2 * length
    caps = 4.0 / 3.0 * math.pi * radius**3
    axial = 0.5 * cylinder * radius**2 + 0.4 * caps * radius**2
    across = cylinder * (radius**2 / 4.0 + length**2 / 12.0)
    across += caps * (0.4 * radius**2 + length**2 / 4.0 + 3.0 / 8.0 * length * radius)
    inertia = across * np.eye(3) + (axial - across) * np.outer(axis, axis)
    return MassProperties(cylinder + caps, 0.5 * (start + end), inertia)


def _mesh(shape: Mesh) -> MassProperties:
    """Sum over the tetrahedra between the origin and each triangle (divergence theorem)."""
    corners = np.array(shape.points)[np.array(shape.triangles)]
    volumes = np.einsum("ti,ti->t", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    volume = float(volumes.sum())
    sums = corners.sum(axis=1)
    com = np.einsum("t,ti->i", volumes, sums) / (4.0 * volume)
    second = np.einsum("t,tci,tcj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    second = second / 20.0
    inertia = np.trace(second) * np.eye(3) - second
    return MassProperties(volume, com, inertia - volume * _point_inertia(com))
