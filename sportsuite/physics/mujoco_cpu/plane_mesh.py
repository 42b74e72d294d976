"""Contacts of a convex mesh with a plane, chosen as MuJoCo Warp chooses them.

Native MuJoCo 3.12 reports a mesh's deepest vertex and those of that vertex's neighbours that are not too close to it. A
flat sole with a fine outline then rests on vertices of one side, as on an edge. MuJoCo Warp spreads its points over the
sole (``plane_convex``, Apache 2.0, whose rule this follows): the deepest vertex a, the vertex farthest from a and the
vertex farthest off the line through both, among those within a millimetre of the deepest. Its fourth point is left out:
MuJoCo 3.12 ends a step in which a plane and a mesh have more than three contacts. A character stands better on the
three, and hardly otherwise than on MuJoCo Warp's four.

MuJoCo's table of collision functions is meant to be changed by its users; ours is in it only while worlds are stepped.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numba import carray, types

from sportsuite.physics.mujoco_cpu import compile_cache, layout
from sportsuite.physics.mujoco_cpu.pointers import address_at, compiled, int_at, pointer

Vector = tuple[float, float, float]

_FAR = 1.0e6
_DEPTH_RANGE = 1.0e-3  # [m] how much shallower than the deepest vertex a contact may be
_FEW = 10  # meshes of fewer vertices are searched whole, as are those without a graph
_NUM_GEOM_TYPES = int(mujoco.mjtGeom.mjNGEOMTYPES)
# What a search looks for: the deepest vertex, the deepest within range, the farthest from a, the farthest off the side.
_DEPTH, _DEPTH_IN_RANGE, _DISTANCE, _OFFSET = range(4)


class _Mesh(NamedTuple):
    """Vertices (3 values each), how many there are, and the hull's graph in MuJoCo's format (empty: none)."""

    vertices: Any
    count: int
    graph: Any


class _Aim(NamedTuple):
    """What vertices are judged by, in the mesh's frame: plane, least depth, point a and the side's normal."""

    point: Vector
    normal: Vector
    limit: float
    a: Vector
    side: Vector


@compiled
def _dot(u: Vector, v: Vector) -> float:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@compiled
def _cross(u: Vector, v: Vector) -> Vector:
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


@compiled
def _sub(u: Vector, v: Vector) -> Vector:
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


@compiled
def _into_frame(m: np.ndarray, v: Vector) -> Vector:
    """Rotate a world vector into the frame whose rotation matrix (row-major, 9 values) is given."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@compiled
def _vertex(mesh: _Mesh, index: int) -> Vector:
    v = mesh.vertices
    return (float(v[3 * index]), float(v[3 * index + 1]), float(v[3 * index + 2]))


@compiled
def _score(kind: int, v: Vector, aim: _Aim) -> float:
    """How well a vertex serves; out of range it is beaten by every vertex in range."""
    depth = _dot(_sub(aim.point, v), aim.normal)
    if kind == _DEPTH:
        return depth
    if kind == _DEPTH_IN_RANGE:
        return depth if depth > aim.limit else -_FAR
    masked = 0.0 if depth > aim.limit else -_FAR
    to_a = _sub(aim.a, v)
    if kind == _DISTANCE:
        return _dot(to_a, to_a) + masked
    return abs(_dot(to_a, aim.side)) + masked


@compiled
def _search(kind: int, start: int, mesh: _Mesh, aim: _Aim) -> tuple[int, int, float]:
    """Find the best vertex: by climbing the hull's graph from ``start``, or among all if there is no graph.

    Returns:
        Number of the vertex in the graph, number in the mesh, and its score.
    """
    best, at = -_FAR, start
    if mesh.graph.size == 0:
        for i in range(mesh.count):
            value = _score(kind, _vertex(mesh, i), aim)
            if value > best:
                best, at = value, i
        return at, at, best
    hull = mesh.graph[0]
    mesh_id, edges = 2 + hull, 2 + 2 * hull
    while True:
        before = at
        i = edges + mesh.graph[2 + at]
        while mesh.graph[i] >= 0:
            value = _score(kind, _vertex(mesh, mesh.graph[mesh_id + mesh.graph[i]]), aim)
            if value > best:
                best, at = value, mesh.graph[i]
            i += 1
        if at == before:
            return at, mesh.graph[mesh_id + at], best


@compiled
def _choose(mesh: _Mesh, point: Vector, normal: Vector) -> tuple[int, int, int]:
    """Choose up to three vertices; their numbers, or -1 three times if a mesh searched whole is above the plane."""
    zero = (0.0, 0.0, 0.0)
    start, first, depth = _search(_DEPTH, 0, mesh, _Aim(point, normal, 0.0, zero, zero))
    limit = depth - _DEPTH_RANGE
    if mesh.graph.size > 0:
        limit = max(0.0, limit)
        start, first, _ = _search(_DEPTH_IN_RANGE, start, mesh, _Aim(point, normal, limit, zero, zero))
    elif depth < 0.0:
        return (-1, -1, -1)
    a = _vertex(mesh, first)
    start, second, _ = _search(_DISTANCE, start, mesh, _Aim(point, normal, limit, a, zero))
    side = _cross(normal, _sub(a, _vertex(mesh, second)))
    _, third, _ = _search(_OFFSET, start, mesh, _Aim(point, normal, limit, a, side))
    return (first, second, third)


@compiled
def _collide(contacts: np.ndarray, margin: float, plane: np.ndarray, pose: np.ndarray, mesh: _Mesh) -> int:
    """Fill ``contacts`` and return how many there are.

    Args:
        contacts: (3, 10) rows of mjPreContact.
        margin: Distance up to which there is a contact [m].
        plane: (12,) position and rotation matrix of the plane.
        pose: (12,) position and rotation matrix of the mesh.
        mesh: The mesh.
    """
    normal = (plane[5], plane[8], plane[11])
    point = _into_frame(pose[3:], _sub((plane[0], plane[1], plane[2]), (pose[0], pose[1], pose[2])))
    inner = _into_frame(pose[3:], normal)
    chosen = _choose(mesh, point, inner)
    found = 0
    for i in range(2, -1, -1):
        repeated = (i > 0 and chosen[i] == chosen[0]) or (i > 1 and chosen[i] == chosen[1])
        v = _vertex(mesh, max(0, chosen[i]))
        distance = -_dot(_sub(point, v), inner)
        if repeated or chosen[i] < 0 or distance > margin:
            continue
        contacts[found, 0] = distance
        for k in range(3):
            world = pose[k] + pose[3 + 3 * k] * v[0] + pose[4 + 3 * k] * v[1] + pose[5 + 3 * k] * v[2]
            contacts[found, 1 + k] = world - 0.5 * distance * normal[k]
            contacts[found, 4 + k] = normal[k]
            contacts[found, 7 + k] = 0.0
        found += 1
    return found


@compiled
def _pose(positions: int, rotations: int, geom: int) -> np.ndarray:
    """(12,) position and rotation matrix of a geom, from the addresses of all geoms' ones."""
    pose = np.empty(12)
    position = carray(pointer(positions + 24 * geom), 3, np.float64)
    rotation = carray(pointer(rotations + 72 * geom), 9, np.float64)
    for i in range(3):
        pose[i] = position[i]
    for i in range(9):
        pose[3 + i] = rotation[i]
    return pose


def _offsets() -> tuple[int, ...]:
    """Byte offsets of what the collision function reads, in ``mjModel`` and ``mjData``."""
    model, data = layout.struct_type("mjModel"), layout.struct_type("mjData")
    in_model = ("geom_dataid", "mesh_vertadr", "mesh_vertnum", "mesh_vert", "mesh_graphadr", "mesh_graph", "nmeshgraph")
    found = [layout.offset(model, name) for name in in_model]
    return (*found, layout.offset(data, "geom_xpos"), layout.offset(data, "geom_xmat"))


def _make(offsets: tuple[int, ...]) -> Any:
    """Make the collision function for one layout; the offsets are constants of the compiled code and of its cache."""
    at_data_id, at_vert_adr, at_vert_num, at_vert, at_graph_adr, at_graph, at_graph_size, at_xpos, at_xmat = offsets

    def plane_mesh(m: int, d: int, contacts: int, g1: int, g2: int, margin: float) -> int:
        mesh = int_at(address_at(m + at_data_id) + 4 * g2)
        count = int_at(address_at(m + at_vert_num) + 4 * mesh)
        vertices = address_at(m + at_vert) + 12 * int_at(address_at(m + at_vert_adr) + 4 * mesh)
        start = int_at(address_at(m + at_graph_adr) + 4 * mesh)
        size = address_at(m + at_graph_size) - start if start >= 0 and count >= _FEW else 0
        graph = address_at(m + at_graph) + 4 * max(start, 0)
        positions, rotations = address_at(d + at_xpos), address_at(d + at_xmat)
        return _collide(
            carray(pointer(contacts), (3, 10), np.float64),
            margin,
            _pose(positions, rotations, g1),
            _pose(positions, rotations, g2),
            _Mesh(carray(pointer(vertices), 3 * count, np.float32), count, carray(pointer(graph), size, np.int32)),
        )

    return plane_mesh


@functools.cache
def _function() -> Any:
    """Compile the collision function (or load it from the cache)."""
    expected = {"dist": 0, "pos": 8, "normal": 32, "tangent": 56}
    record = layout.struct_type("mjPreContact")
    if {name: layout.offset(record, name) for name in expected} != expected or ctypes.sizeof(record) != 80:
        raise RuntimeError(f"MuJoCo {mujoco.__version__} lays out mjPreContact otherwise than release 3.12")
    signature = types.int32(types.int64, types.int64, types.int64, types.int32, types.int32, types.float64)
    return compile_cache.compile_callback(_make(_offsets()), signature)


def _entry() -> ctypes.c_void_p:
    """The place for (plane, mesh) in MuJoCo's table of collision functions."""
    table = ctypes.c_void_p * (_NUM_GEOM_TYPES * _NUM_GEOM_TYPES)
    index = _NUM_GEOM_TYPES * int(mujoco.mjtGeom.mjGEOM_PLANE) + int(mujoco.mjtGeom.mjGEOM_MESH)
    start = ctypes.addressof(table.in_dll(layout.library(), "mjCOLLISIONFUNC"))
    return ctypes.c_void_p.from_address(start + ctypes.sizeof(ctypes.c_void_p) * index)


_lock = threading.Lock()
_users = 0
_original: int | None = None


@contextmanager
def installed() -> Iterator[None]:
    """Have MuJoCo use the contact rule of this module; the former function is back in place afterwards."""
    global _users, _original
    function = _function()
    with _lock:
        _users += 1
        if _users == 1:
            entry = _entry()
            _original, entry.value = entry.value, function.address
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _entry().value = _original
