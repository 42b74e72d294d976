"""Compiled part of the loop that deals with contacts: touch impulses, staging, and MJWarp's contact arrays."""

from __future__ import annotations

import numba
import numpy as np
from numba import carray

from sportsuite.physics.mujoco_cpu.context import STAGE_FLOATS, STAGE_INTS, LoopContext
from sportsuite.physics.mujoco_cpu.pointers import address_at, compiled, int_at, pointer, put_int


@compiled
def row_count(dim: int, pyramidal: bool) -> int:
    """Rows one contact has in the constraint list."""
    if dim == 1:
        return 1
    return 2 * (dim - 1) if pyramidal else dim


@compiled
def _normal_force(force: np.ndarray, first: int, dim: int, pyramidal: bool) -> float:
    """Normal force [N] of a contact: the first row of an elliptic cone, the sum of a pyramid's edges."""
    if not pyramidal:
        return force[first]
    total = 0.0
    for r in range(row_count(dim, True)):
        total += force[first + r]
    return total


@compiled
def track(ctx: LoopContext, thread: int, world: int) -> None:
    """Add this substep's normal impulses of tracked geoms to the trackers' arrays."""
    data = ctx.datas[thread]
    ncon = int_at(data + ctx.data_at.ncon)
    if ncon == 0:
        return
    nefc = int_at(data + ctx.data_at.nefc)
    force = carray(pointer(address_at(data + ctx.data_at.efc_force)), nefc, np.float64)
    contact = address_at(data + ctx.data_at.contact)
    size, pyramidal, dt = ctx.contact_at.size, ctx.sizes.pyramidal, ctx.time_step
    for c in range(ncon):
        at = contact + size * c
        first = int_at(at + ctx.contact_at.efc_address)
        geom = carray(pointer(at + ctx.contact_at.geom), 2, np.int32)
        if first < 0 or geom[0] < 0 or geom[1] < 0:
            continue
        impulse = dt * _normal_force(force, first, int_at(at + ctx.contact_at.dim), pyramidal)
        for k in range(ctx.trackers.shape[0]):
            _add_impulse(ctx, k, world, geom[0], geom[1], impulse)


@compiled
def _add_impulse(ctx: LoopContext, k: int, world: int, geom0: int, geom1: int, impulse: float) -> None:
    """Book an impulse for the partner of a tracked geom; two tracked geoms that touch are booked for the second."""
    ngeom = max(geom0, geom1) + 1
    tracked = carray(pointer(ctx.trackers[k, 0]), ngeom, np.uint8)
    if tracked[geom1]:
        other = geom0
    elif tracked[geom0]:
        other = geom1
    else:
        return
    columns = ctx.trackers[k, 3]
    slot = carray(pointer(ctx.trackers[k, 1]), ngeom, np.int32)[other]
    if slot < 0 or slot >= columns - 1:
        slot = columns - 1
    row = carray(pointer(ctx.trackers[k, 2] + 4 * columns * world), columns, np.float32)
    row[slot] += impulse


@compiled
def stage_contacts(ctx: LoopContext, thread: int, world: int, start: int) -> int:
    """Keep one world's contacts in the thread's buffer; returns where the next world's go."""
    data, at = ctx.datas[thread], ctx.contact_at
    ncon = int_at(data + ctx.data_at.ncon)
    kept = min(ncon, ctx.sizes.contacts - start)
    contact = address_at(data + ctx.data_at.contact)
    floats = carray(pointer(ctx.stage_float[thread] + 4 * STAGE_FLOATS * start), (kept, STAGE_FLOATS), np.float32)
    ints = carray(pointer(ctx.stage_int[thread] + 4 * STAGE_INTS * start), (kept, STAGE_INTS), np.int32)
    for c in range(kept):
        base = contact + at.size * c
        for f in range(ctx.contact_floats.shape[0]):
            offset, column, count = ctx.contact_floats[f, 0], ctx.contact_floats[f, 1], ctx.contact_floats[f, 2]
            values = carray(pointer(base + offset), count, np.float64)
            for i in range(count):
                floats[c, column + i] = values[i]
        dim = int_at(base + at.dim)
        ints[c, 0] = dim
        ints[c, 1] = int_at(base + at.geom)
        ints[c, 2] = int_at(base + at.geom + 4)
        ints[c, 3] = int_at(base + at.efc_address)
        ints[c, 4] = row_count(dim, ctx.sizes.pyramidal)
    stage_entry(ctx, world, thread, start, kept, ncon)
    return start + kept


@compiled
def stage_entry(ctx: LoopContext, world: int, thread: int, start: int, kept: int, found: int) -> None:
    """Note where a world's contacts are staged."""
    ctx.staged[world, 0] = thread
    ctx.staged[world, 1] = start
    ctx.staged[world, 2] = kept
    ctx.staged[world, 3] = found


@compiled
def _write_contact(ctx: LoopContext, index: int, world: int, floats: np.ndarray, ints: np.ndarray) -> None:
    """Write one staged contact to MJWarp's arrays."""
    to = ctx.contacts
    for f in range(ctx.contact_floats.shape[0]):
        column, count, array = ctx.contact_floats[f, 1], ctx.contact_floats[f, 2], ctx.contact_floats[f, 3]
        values = carray(pointer(array + 4 * count * index), count, np.float32)
        for i in range(count):
            values[i] = floats[column + i]
    put_int(to.dim + 4 * index, ints[0])
    put_int(to.geom + 4 * (2 * index), ints[1])
    put_int(to.geom + 4 * (2 * index + 1), ints[2])
    put_int(to.worldid + 4 * index, world)
    put_int(to.type + 4 * index, 1)  # mujoco_warp.ContactType.CONSTRAINT
    put_int(to.geomcollisionid + 4 * index, 0)
    width, limit = ctx.sizes.pyramid, ctx.sizes.rows
    for r in range(width):
        row = ints[3] + r if ints[3] >= 0 and r < ints[4] else -1
        put_int(to.efc_address + 4 * (width * index + r), row if row < limit else -1)


@numba.njit(nogil=True)
def write_contacts(ctx: LoopContext) -> int:
    """Write the staged contacts to MJWarp's arrays in world order, whatever thread found them.

    Args:
        ctx: The context that :func:`step_worlds` has just worked on.

    Returns:
        Contacts found that the arrays had no room for.
    """
    index, found, capacity = np.int64(0), 0, ctx.sizes.contacts
    for world in range(ctx.sizes.worlds):
        thread, start = ctx.staged[world, 0], ctx.staged[world, 1]
        kept = min(ctx.staged[world, 2], capacity - index)
        found += ctx.staged[world, 3]
        floats = carray(pointer(ctx.stage_float[thread] + 4 * STAGE_FLOATS * start), (kept, STAGE_FLOATS), np.float32)
        ints = carray(pointer(ctx.stage_int[thread] + 4 * STAGE_INTS * start), (kept, STAGE_INTS), np.int32)
        for c in range(kept):
            _write_contact(ctx, index, world, floats[c], ints[c])
            index += 1
    put_int(ctx.contacts.nacon, index)
    put_int(ctx.contacts.ncollision, found)
    return int(found - index)
