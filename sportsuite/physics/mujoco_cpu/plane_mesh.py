"""Contacts of a convex mesh with a plane, chosen as MuJoCo Warp chooses them.

Native MuJoCo reports a mesh's deepest vertex and those of that vertex's neighbours that are far enough away. A flat sole
with a fine outline then rests on two points, a line, where MuJoCo Warp spreads four over the sole (its
``plane_convex``, Apache 2.0, whose rule this follows): the deepest vertex a, the one farthest from a, the one farthest
off the line through both, and the one farthest off the other two sides, among those within a millimetre of the deepest.
A character stands better on that, and stands alike on both backends.

MuJoCo's table of collision functions is meant to be changed by its users; ours is in it only while worlds are stepped.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numba
import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from sportsuite.physics.mujoco_cpu import compile_cache, layout

logger = logging.getLogger(__name__)

_FAR = 1.0e6
_DEPTH_RANGE = 1.0e-3  # [m] how much shallower than the deepest vertex a contact may be
_FEW = 10  # meshes of fewer vertices are searched whole, as are those without a graph
_NUM_GEOM_TYPES = int(mujoco.mjtGeom.mjNGEOMTYPES)


@intrinsic
def _pointer(typingctx, address):  # noqa: ANN001, ANN202
    """Turn an integer address into a pointer that carray takes."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), codegen


@numba.njit
def _dot(u, v):  # noqa: ANN001, ANN202
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@numba.njit
def _cross(u, v):  # noqa: ANN001, ANN202
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


@numba.njit
def _sub(u, v):  # noqa: ANN001, ANN202
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


@numba.njit
def _into_frame(matrix, v):  # noqa: ANN001, ANN202
    """Rotate a world vector into the frame whose rotation matrix (row-major, 9 values) is given."""
    return (
        matrix[0] * v[0] + matrix[3] * v[1] + matrix[6] * v[2],
        matrix[1] * v[0] + matrix[4] * v[1] + matrix[7] * v[2],
        matrix[2] * v[0] + matrix[5] * v[1] + matrix[8] * v[2],
    )


@numba.njit
def _out_of_frame(matrix, v):  # noqa: ANN001, ANN202
    return (_dot(matrix[0:3], v), _dot(matrix[3:6], v), _dot(matrix[6:9], v))


@numba.njit
def _vertex(vertices, index):  # noqa: ANN001, ANN202
    return (float(vertices[3 * index]), float(vertices[3 * index + 1]), float(vertices[3 * index + 2]))


@numba.njit
def _score(kind, v, plane, limit, a, side1, side2, b):  # noqa: ANN001, ANN202
    """How good a vertex is as the next point: 0 depth, 1 depth in range, 2 from a, 3 off side 1, 4 off sides 1 and 2."""
    depth = _dot(_sub(plane[0], v), plane[1])
    if kind == 0:
        return depth
    masked = 0.0 if depth > limit else -_FAR
    if kind == 1:
        return depth if depth > limit else -_FAR
    to_a = _sub(a, v)
    if kind == 2:
        return _dot(to_a, to_a) + masked
    if kind == 3:
        return abs(_dot(to_a, side1)) + masked
    return abs(_dot(to_a, side1)) + abs(_dot(_sub(b, v), side2)) + 2.0 * masked


@numba.njit
def _search(kind, start, vertices, count, graph, plane, limit, a, side1, side2, b):  # noqa: ANN001, ANN202
    """Find the best vertex: by climbing the hull's graph from ``start``, or among all if there is no graph.

    Returns:
        Number of the vertex in the graph, number in the mesh, and its score.
    """
    best = -_FAR
    if graph.size == 0:
        at = 0
        for i in range(count):
            value = _score(kind, _vertex(vertices, i), plane, limit, a, side1, side2, b)
            if value > best:
                best, at = value, i
        return at, at, best
    hull = graph[0]
    edge_of, mesh_id, edges = 2, 2 + hull, 2 + 2 * hull
    at = start
    while True:
        before = at
        i = edges + graph[edge_of + at]
        while graph[i] >= 0:
            value = _score(kind, _vertex(vertices, graph[mesh_id + graph[i]]), plane, limit, a, side1, side2, b)
            if value > best:
                best, at = value, graph[i]
            i += 1
        if at == before:
            return at, graph[mesh_id + at], best


@numba.njit
def _choose(vertices, count, graph, plane):  # noqa: ANN001, ANN202
    """Choose up to four vertices; returns their numbers, -1 four times if none is below the plane and none need be."""
    zero = (0.0, 0.0, 0.0)
    start, first, depth = _search(0, 0, vertices, count, graph, plane, 0.0, zero, zero, zero, zero)
    if graph.size == 0:
        if depth < 0.0:
            return (-1, -1, -1, -1)
        limit = depth - _DEPTH_RANGE
    else:
        limit = max(0.0, depth - _DEPTH_RANGE)
        start, first, _ = _search(1, start, vertices, count, graph, plane, limit, zero, zero, zero, zero)
    a = _vertex(vertices, first)
    start, second, _ = _search(2, start, vertices, count, graph, plane, limit, a, zero, zero, zero)
    b = _vertex(vertices, second)
    ab = _cross(plane[1], _sub(a, b))
    start, third, _ = _search(3, start, vertices, count, graph, plane, limit, a, ab, zero, zero)
    c = _vertex(vertices, third)
    ac, bc = _cross(plane[1], _sub(a, c)), _cross(plane[1], _sub(b, c))
    _, fourth, _ = _search(4, start, vertices, count, graph, plane, limit, a, ac, bc, b)
    return (first, second, third, fourth)


@numba.njit
def _collide(contacts, margin, plane_pos, plane_mat, mesh_pos, mesh_mat, vertices, count, graph):  # noqa: ANN001, ANN202
    """Fill ``contacts`` (rows of mjPreContact) and return how many there are."""
    normal = (plane_mat[2], plane_mat[5], plane_mat[8])
    plane = (_into_frame(mesh_mat, _sub(plane_pos, mesh_pos)), _into_frame(mesh_mat, normal))
    chosen = _choose(vertices, count, graph, plane)
    found = 0
    for i in range(2, -1, -1):
        repeated = False
        for j in range(i):
            repeated = repeated or chosen[j] == chosen[i]
        if repeated or chosen[i] < 0:
            continue
        vertex = _vertex(vertices, chosen[i])
        distance = -_dot(_sub(plane[0], vertex), plane[1])
        if distance > margin:
            continue
        point, row = _out_of_frame(mesh_mat, vertex), contacts[found]
        row[0] = distance
        for k in range(3):
            row[1 + k] = mesh_pos[k] + point[k] - 0.5 * distance * normal[k]
            row[4 + k] = normal[k]
            row[7 + k] = 0.0
        found += 1
    return found


def _offsets() -> tuple[int, ...]:
    """Byte offsets of what the collision function reads, in ``mjModel`` and ``mjData``."""
    model, data = layout.struct_type("mjModel"), layout.struct_type("mjData")
    in_model = ("geom_dataid", "mesh_vertadr", "mesh_vertnum", "mesh_vert", "mesh_graphadr", "mesh_graph", "nmeshgraph")
    found = [layout.offset(model, name) for name in in_model]
    return (*found, layout.offset(data, "geom_xpos"), layout.offset(data, "geom_xmat"))


def _make(offsets: tuple[int, ...]) -> Any:
    """Make the collision function for one layout; the offsets are constants of the compiled code and of its cache."""
    at_data_id, at_vert_adr, at_vert_num, at_vert, at_graph_adr, at_graph, at_graph_size, at_xpos, at_xmat = offsets

    def plane_mesh(m, d, contacts, g1, g2, margin):  # noqa: ANN001, ANN202
        def ints(address, index):  # noqa: ANN001, ANN202
            return carray(_pointer(carray(_pointer(address), 1, np.int64)[0] + 4 * index), 1, np.int32)[0]

        def floats(address, index, count):  # noqa: ANN001, ANN202
            return carray(_pointer(carray(_pointer(address), 1, np.int64)[0] + 8 * index), count, np.float64)

        mesh = ints(m + at_data_id, g2)
        count = ints(m + at_vert_num, mesh)
        first = 12 * ints(m + at_vert_adr, mesh)
        vertices = carray(_pointer(carray(_pointer(m + at_vert), 1, np.int64)[0] + first), 3 * count, np.float32)
        start = ints(m + at_graph_adr, mesh)
        size = 0
        if start >= 0 and count >= _FEW:
            size = carray(_pointer(m + at_graph_size), 1, np.int64)[0] - start
        base = carray(_pointer(m + at_graph), 1, np.int64)[0] + 4 * max(start, 0)
        return _collide(
            carray(_pointer(contacts), (4, 10), np.float64),
            margin,
            floats(d + at_xpos, 3 * g1, 3),
            floats(d + at_xmat, 9 * g1, 9),
            floats(d + at_xpos, 3 * g2, 3),
            floats(d + at_xmat, 9 * g2, 9),
            vertices,
            count,
            carray(_pointer(base), size, np.int32),
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
