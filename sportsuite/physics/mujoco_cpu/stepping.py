"""The compiled loop: steps every world with libmujoco, outside the interpreter lock.

A thread owns one ``mjModel`` and one ``mjData``; what persists per world stays in Newton's float32 arrays (world-major)
and is copied in and out around each world's substeps.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import carray

from sportsuite.physics.mujoco_cpu.contact_arrays import stage_contacts, stage_entry, track
from sportsuite.physics.mujoco_cpu.context import MAX_ISLANDS, MAX_VALUE, W_BADQACC, W_BADQPOS, W_BADQVEL, LoopContext
from sportsuite.physics.mujoco_cpu.pointers import address_at, call, compiled, int_at, pointer, put_int, take


@compiled
def _is_bad(values: np.ndarray) -> bool:
    """True if a coordinate is NaN, infinite or beyond what MuJoCo accepts."""
    bad = False
    for value in values:
        bad = bad or not abs(value) <= MAX_VALUE
    return bad


@compiled
def _copy_in(ctx: LoopContext, thread: int, world: int) -> None:
    """Bring one world's model values and state into the thread's model and data."""
    for k in range(ctx.rows.shape[0]):
        size = ctx.rows[k, 1]
        row = carray(pointer(ctx.rows[k, 0] + size * world), size, np.uint8)
        place = carray(pointer(ctx.row_at[thread, k]), size, np.uint8)
        for i in range(size):
            place[i] = row[i]
    for k in range(ctx.inputs.shape[0]):
        n = ctx.inputs[k, 1]
        source = carray(pointer(ctx.inputs[k, 0] + 4 * n * world), n, np.float32)
        target = carray(pointer(ctx.input_at[thread, k]), n, np.float64)
        for i in range(n):
            target[i] = source[i]


@compiled
def _copy_out(ctx: LoopContext, thread: int, world: int) -> None:
    """Write what a step leaves behind into the world's arrays."""
    for k in range(ctx.outputs.shape[0]):
        n = ctx.outputs[k, 1]
        source = carray(pointer(ctx.output_at[thread, k]), n, np.float64)
        target = carray(pointer(ctx.outputs[k, 0] + 4 * n * world), n, np.float32)
        for i in range(n):
            target[i] = source[i]


@compiled
def _mark_lost(ctx: LoopContext, world: int) -> None:
    """Make a lost world plain to see (all coordinates NaN) and free of what would poison it after a reset."""
    for k in range(3):
        n = ctx.inputs[k, 1]
        values = carray(pointer(ctx.inputs[k, 0] + 4 * n * world), n, np.float32)
        values[:] = np.float32(0.0) if k == 2 else np.float32(np.nan)
    rows = ctx.sizes.rows
    carray(pointer(ctx.report.force + 4 * rows * world), rows, np.float32)[:] = np.float32(0.0)
    for address in (ctx.report.nefc, ctx.report.ne, ctx.report.nf, ctx.report.nl, ctx.report.niter):
        put_int(address + 4 * world, 0)


@compiled
def _new_warnings(ctx: LoopContext, thread: int) -> int:
    """Bits of the warnings this thread's mjData raised since the last look."""
    bits = 0
    base = ctx.datas[thread] + ctx.data_at.warning + ctx.data_at.warning_number
    for k in range(ctx.seen.shape[1]):
        number = int_at(base + ctx.data_at.warning_size * k)
        if number != ctx.seen[thread, k]:
            ctx.seen[thread, k] = number
            bits |= 1 << k
    return bits


@compiled
def _substep(ctx: LoopContext, model: int, data: int, with_rne: bool) -> None:
    """One step of MuJoCo."""
    if not with_rne:
        call(ctx.functions.step, model, data)
        return
    # mj_step's own order, with the body forces computed before the integrator moves the velocities they belong to.
    call(ctx.functions.forward, model, data)
    call(ctx.functions.check_acc, model, data)
    call(ctx.functions.rne_post, model, data)
    call(ctx.functions.integrate, model, data)


@compiled
def _run_substeps(ctx: LoopContext, thread: int, world: int) -> bool:
    """Run one world's substeps; False if its state was lost on the way."""
    model, data = ctx.models[thread], ctx.datas[thread]
    fatal = (1 << W_BADQPOS) | (1 << W_BADQVEL) | (1 << W_BADQACC)
    count = ctx.substeps
    tracking = ctx.trackers.shape[0] > 0
    for s in range(count):
        _substep(ctx, model, data, ctx.with_rne and s == count - 1)
        bits = _new_warnings(ctx, thread)
        if bits:
            ctx.warned[world] |= bits
            if bits & fatal:
                return False
        if tracking:
            track(ctx, thread, world)
    return True


@compiled
def _report_rows(ctx: LoopContext, thread: int, world: int) -> None:
    """Write the constraint forces and counts of the last substep."""
    data, limit = ctx.datas[thread], ctx.sizes.rows
    nefc = int_at(data + ctx.data_at.nefc)
    target = carray(pointer(ctx.report.force + 4 * limit * world), limit, np.float32)
    kept = min(nefc, limit)
    if kept:
        source = carray(pointer(address_at(data + ctx.data_at.efc_force)), kept, np.float64)
        for i in range(kept):
            target[i] = source[i]
    target[kept:] = np.float32(0.0)
    put_int(ctx.report.nefc + 4 * world, nefc)
    put_int(ctx.report.ne + 4 * world, int_at(data + ctx.data_at.ne))
    put_int(ctx.report.nf + 4 * world, int_at(data + ctx.data_at.nf))
    put_int(ctx.report.nl + 4 * world, int_at(data + ctx.data_at.nl))
    islands = max(1, min(MAX_ISLANDS, int_at(data + ctx.data_at.nisland)))
    most = 0
    for k in range(islands):
        most = max(most, int_at(data + ctx.data_at.solver_niter + 4 * k))
    put_int(ctx.report.niter + 4 * world, most)


@compiled
def _step_world(ctx: LoopContext, thread: int, world: int, start: int) -> int:
    """Step one world; returns where the next staged contact goes."""
    ctx.current[thread] = world
    _copy_in(ctx, thread, world)
    bits = 0
    for k in range(2):
        if _is_bad(carray(pointer(ctx.input_at[thread, k]), ctx.inputs[k, 1], np.float64)):
            bits |= 1 << (W_BADQPOS + k)
    warmstart = carray(pointer(ctx.input_at[thread, 2]), ctx.inputs[2, 1], np.float64)
    if _is_bad(warmstart):
        warmstart[:] = 0.0
    ctx.warned[world] |= bits
    if bits or not _run_substeps(ctx, thread, world):
        # MuJoCo's own answer, stepping on or jumping to the default pose, would hide the loss.
        _mark_lost(ctx, world)
        stage_entry(ctx, world, thread, start, 0, 0)
        return start
    _copy_out(ctx, thread, world)
    _report_rows(ctx, thread, world)
    return stage_contacts(ctx, thread, world, start)


@numba.njit(nogil=True)
def step_worlds(ctx: LoopContext, thread: int) -> None:
    """Step worlds until none is left; every thread runs this on the same context.

    Args:
        ctx: What to work on (:class:`LoopContext`).
        thread: Which model, data and buffers are this thread's.
    """
    worlds, chunk, start = ctx.sizes.worlds, ctx.sizes.chunk, np.int64(0)
    while True:
        first = take(np.int64(ctx.counter.ctypes.data), chunk)
        if first >= worlds:
            break
        for world in range(first, min(first + chunk, worlds)):
            start = _step_world(ctx, thread, world, start)
