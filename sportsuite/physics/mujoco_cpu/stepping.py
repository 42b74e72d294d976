"""The compiled loop: steps every world with libmujoco, outside the interpreter lock.

Everything the loop touches is described by addresses, so that one compiled function serves every model and can be
cached on disk. A thread owns one ``mjModel`` and one ``mjData``; what persists per world stays in Newton's float32
arrays (world-major) and is copied in and out around each world's substeps.

All compiled code is in this one file on purpose: the disk cache is keyed by this file's content alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

# Columns of a staged contact: dist, pos, frame, includemargin, friction, solref, solreffriction, solimp.
STAGE_FLOATS = 28
# dim, geom 0, geom 1, first row in efc (-1: none), rows in efc.
STAGE_INTS = 5
# mjMAXVAL: beyond it MuJoCo calls a coordinate bad.
MAX_VALUE = 1.0e10

# Positions in LoopContext.settings.
N_WORLDS, N_SUBSTEPS, CHUNK, WITH_RNE, N_ROWS, STAGE_CAPACITY, N_PYRAMID, PYRAMIDAL = range(8)
# Positions in LoopContext.functions.
STEP, FORWARD, CHECK_ACC, RNE_POST, INTEGRATE = range(5)
# Positions in LoopContext.data_at (layout.DataOffsets) and LoopContext.contact_at (layout.ContactOffsets).
(D_NCON, D_CONTACT, D_NE, D_NF, D_NL, D_NEFC, D_NISLAND, D_FORCE, D_NITER, D_WARNING, D_WARN_NUMBER, D_WARN_SIZE) = range(12)
(C_DIST, C_POS, C_FRAME, C_MARGIN, C_FRICTION, C_SOLREF, C_SOLREF2, C_SOLIMP, C_DIM, C_GEOM, C_EFC, C_SIZE) = range(12)
# Positions in LoopContext.report: per-world results of MJWarp's layout.
R_FORCE, R_NEFC, R_NE, R_NF, R_NL, R_NITER = range(6)
# Positions in LoopContext.contacts: MJWarp's contact arrays.
(K_DIST, K_POS, K_FRAME, K_MARGIN, K_FRICTION, K_SOLREF, K_SOLREF2, K_SOLIMP, K_DIM, K_GEOM, K_EFC, K_WORLD, K_TYPE, K_ID, K_COUNT,
 K_FOUND) = range(16)
# Bits of mjtWarning that mean the state is lost.
W_BADQPOS, W_BADQVEL, W_BADQACC = 3, 4, 5


class LoopContext(NamedTuple):
    """What one call of the loop works on; every entry is a numpy array that the caller keeps alive.

    Attributes:
        functions: (5,) addresses: mj_step, mj_forward, mj_checkAcc, mj_rnePostConstraint, the integrator.
        data_at: Offsets inside mjData, in the order of ``layout.DataOffsets``.
        contact_at: Offsets inside mjContact, in the order of ``layout.ContactOffsets``.
        models: (threads,) mjModel addresses.
        datas: (threads,) mjData addresses.
        inputs: (fields, 2) address of a float32 array and its values per world, copied in before a world's substeps.
            The first two rows are qpos and qvel, the third is qacc_warmstart.
        input_at: (threads, fields) where each thread's mjtNum copy is.
        rows: (fields, 2) address of an array and its bytes per world, copied in verbatim.
        row_at: (threads, fields) where each thread's copy is.
        outputs: (fields, 2) address of a float32 array and its values per world, copied out after the substeps.
        output_at: (threads, fields) where each thread's mjtNum source is.
        report: (6,) addresses of efc.force, nefc, ne, nf, nl and solver_niter.
        contacts: (16,) addresses of MJWarp's contact arrays, nacon and ncollision.
        trackers: (trackers, 4) addresses of tracked flags (uint8 per geom), slots (int32 per geom), the float32 output,
            and its columns.
        settings: (8,) see the ``N_WORLDS`` ... names of this module.
        time_step: (1,) substep [s].
        counter: (1,) next world to be taken by a thread.
        current: (threads,) world a thread is stepping.
        seen: (threads, warnings) warning counts of a thread's mjData that are already attributed.
        warned: (worlds,) bits of mjtWarning raised since they were last read.
        staged: (worlds, 4) thread, first staged contact, staged contacts, contacts found.
        stage_float: (threads,) addresses of the staging buffers, STAGE_FLOATS float32 per contact.
        stage_int: (threads,) addresses of the staging buffers, STAGE_INTS int32 per contact.
    """

    functions: np.ndarray
    data_at: np.ndarray
    contact_at: np.ndarray
    models: np.ndarray
    datas: np.ndarray
    inputs: np.ndarray
    input_at: np.ndarray
    rows: np.ndarray
    row_at: np.ndarray
    outputs: np.ndarray
    output_at: np.ndarray
    report: np.ndarray
    contacts: np.ndarray
    trackers: np.ndarray
    settings: np.ndarray
    time_step: np.ndarray
    counter: np.ndarray
    current: np.ndarray
    seen: np.ndarray
    warned: np.ndarray
    staged: np.ndarray
    stage_float: np.ndarray
    stage_int: np.ndarray


@intrinsic
def _pointer(typingctx, address):  # noqa: ANN001, ANN202
    """Turn an integer address into a pointer that carray takes."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), codegen


@intrinsic
def _call(typingctx, function, model, data):  # noqa: ANN001, ANN202
    """Call ``void f(void*, void*)`` at an address known only at run time (a global pointer would forbid caching)."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        void_p = ir.IntType(8).as_pointer()
        target = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [void_p, void_p]).as_pointer())
        builder.call(target, [builder.inttoptr(args[1], void_p), builder.inttoptr(args[2], void_p)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def _take(typingctx, address, amount):  # noqa: ANN001, ANN202
    """Atomically add to the int64 at an address and return what it held before."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", pointer, args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@numba.njit(nogil=True)
def _int_at(address):  # noqa: ANN001, ANN202
    return carray(_pointer(address), 1, np.int32)[0]


@numba.njit(nogil=True)
def _address_at(address):  # noqa: ANN001, ANN202
    return carray(_pointer(address), 1, np.int64)[0]


@numba.njit(nogil=True)
def _is_bad(values):  # noqa: ANN001, ANN202
    """True if a coordinate is NaN, infinite or beyond what MuJoCo accepts."""
    for value in values:
        if not abs(value) <= MAX_VALUE:
            return True
    return False


@numba.njit(nogil=True)
def _copy_in(ctx, thread, world):  # noqa: ANN001, ANN202
    for k in range(ctx.rows.shape[0]):
        size = ctx.rows[k, 1]
        source = carray(_pointer(ctx.rows[k, 0] + size * world), size, np.uint8)
        carray(_pointer(ctx.row_at[thread, k]), size, np.uint8)[:] = source
    for k in range(ctx.inputs.shape[0]):
        n = ctx.inputs[k, 1]
        source = carray(_pointer(ctx.inputs[k, 0] + 4 * n * world), n, np.float32)
        target = carray(_pointer(ctx.input_at[thread, k]), n, np.float64)
        for i in range(n):
            target[i] = source[i]


@numba.njit(nogil=True)
def _copy_out(ctx, thread, world):  # noqa: ANN001, ANN202
    for k in range(ctx.outputs.shape[0]):
        n = ctx.outputs[k, 1]
        source = carray(_pointer(ctx.output_at[thread, k]), n, np.float64)
        target = carray(_pointer(ctx.outputs[k, 0] + 4 * n * world), n, np.float32)
        for i in range(n):
            target[i] = source[i]


@numba.njit(nogil=True)
def _mark_lost(ctx, world):  # noqa: ANN001, ANN202
    """Make a lost world plain to see (all coordinates NaN) and free of what would poison it after a reset."""
    for k in range(3):
        n = ctx.inputs[k, 1]
        values = carray(_pointer(ctx.inputs[k, 0] + 4 * n * world), n, np.float32)
        values[:] = np.float32(0.0) if k == 2 else np.float32(np.nan)
    rows = ctx.settings[N_ROWS]
    carray(_pointer(ctx.report[R_FORCE] + 4 * rows * world), rows, np.float32)[:] = np.float32(0.0)
    for k in range(R_NEFC, R_NITER + 1):
        carray(_pointer(ctx.report[k] + 4 * world), 1, np.int32)[0] = 0


@numba.njit(nogil=True)
def _row_count(dim, pyramidal):  # noqa: ANN001, ANN202
    """Rows one contact has in the constraint list."""
    if dim == 1:
        return 1
    return 2 * (dim - 1) if pyramidal else dim


@numba.njit(nogil=True)
def _normal_force(force, first, dim, pyramidal):  # noqa: ANN001, ANN202
    """Normal force [N] of a contact: the first row of an elliptic cone, the sum of a pyramid's edges."""
    if not pyramidal:
        return force[first]
    total = 0.0
    for r in range(_row_count(dim, True)):
        total += force[first + r]
    return total


@numba.njit(nogil=True)
def _track(ctx, thread, world):  # noqa: ANN001, ANN202
    """Add this substep's normal impulses of tracked geoms to the trackers' arrays."""
    data = ctx.datas[thread]
    ncon = _int_at(data + ctx.data_at[D_NCON])
    if ncon == 0:
        return
    nefc = _int_at(data + ctx.data_at[D_NEFC])
    force = carray(_pointer(_address_at(data + ctx.data_at[D_FORCE])), nefc, np.float64)
    contact = _address_at(data + ctx.data_at[D_CONTACT])
    size, pyramidal, dt = ctx.contact_at[C_SIZE], ctx.settings[PYRAMIDAL] != 0, ctx.time_step[0]
    for c in range(ncon):
        at = contact + size * c
        first = _int_at(at + ctx.contact_at[C_EFC])
        geom = carray(_pointer(at + ctx.contact_at[C_GEOM]), 2, np.int32)
        if first < 0 or geom[0] < 0 or geom[1] < 0:
            continue
        impulse = dt * _normal_force(force, first, _int_at(at + ctx.contact_at[C_DIM]), pyramidal)
        for k in range(ctx.trackers.shape[0]):
            _add_impulse(ctx, k, world, geom[0], geom[1], impulse)


@numba.njit(nogil=True)
def _add_impulse(ctx, k, world, geom0, geom1, impulse):  # noqa: ANN001, ANN202
    """Book an impulse for the partner of a tracked geom; two tracked geoms that touch are booked for the second."""
    ngeom = max(geom0, geom1) + 1
    tracked = carray(_pointer(ctx.trackers[k, 0]), ngeom, np.uint8)
    if tracked[geom1]:
        other = geom0
    elif tracked[geom0]:
        other = geom1
    else:
        return
    columns = ctx.trackers[k, 3]
    slot = carray(_pointer(ctx.trackers[k, 1]), ngeom, np.int32)[other]
    if slot < 0 or slot >= columns - 1:
        slot = columns - 1
    row = carray(_pointer(ctx.trackers[k, 2] + 4 * columns * world), columns, np.float32)
    row[slot] += impulse


@numba.njit(nogil=True)
def _new_warnings(ctx, thread):  # noqa: ANN001, ANN202
    """Bits of the warnings this thread's mjData raised since the last look."""
    bits = 0
    base = ctx.datas[thread] + ctx.data_at[D_WARNING] + ctx.data_at[D_WARN_NUMBER]
    for k in range(ctx.seen.shape[1]):
        number = _int_at(base + ctx.data_at[D_WARN_SIZE] * k)
        if number != ctx.seen[thread, k]:
            ctx.seen[thread, k] = number
            bits |= 1 << k
    return bits


@numba.njit(nogil=True)
def _substep(ctx, model, data, with_rne):  # noqa: ANN001, ANN202
    if not with_rne:
        _call(ctx.functions[STEP], model, data)
        return
    # mj_step's own order, with the body forces computed before the integrator moves the velocities they belong to.
    _call(ctx.functions[FORWARD], model, data)
    _call(ctx.functions[CHECK_ACC], model, data)
    _call(ctx.functions[RNE_POST], model, data)
    _call(ctx.functions[INTEGRATE], model, data)


@numba.njit(nogil=True)
def _run_substeps(ctx, thread, world):  # noqa: ANN001, ANN202
    """Run one world's substeps; False if its state was lost on the way."""
    model, data = ctx.models[thread], ctx.datas[thread]
    fatal = (1 << W_BADQPOS) | (1 << W_BADQVEL) | (1 << W_BADQACC)
    count = ctx.settings[N_SUBSTEPS]
    tracking = ctx.trackers.shape[0] > 0
    for s in range(count):
        _substep(ctx, model, data, ctx.settings[WITH_RNE] != 0 and s == count - 1)
        bits = _new_warnings(ctx, thread)
        if bits:
            ctx.warned[world] |= bits
            if bits & fatal:
                return False
        if tracking:
            _track(ctx, thread, world)
    return True


@numba.njit(nogil=True)
def _report_rows(ctx, thread, world):  # noqa: ANN001, ANN202
    """Write the constraint forces and counts of the last substep."""
    data, limit = ctx.datas[thread], ctx.settings[N_ROWS]
    nefc = _int_at(data + ctx.data_at[D_NEFC])
    target = carray(_pointer(ctx.report[R_FORCE] + 4 * limit * world), limit, np.float32)
    kept = min(nefc, limit)
    if kept:
        source = carray(_pointer(_address_at(data + ctx.data_at[D_FORCE])), kept, np.float64)
        for i in range(kept):
            target[i] = source[i]
    target[kept:] = np.float32(0.0)
    carray(_pointer(ctx.report[R_NEFC] + 4 * world), 1, np.int32)[0] = nefc
    for k in range(3):
        value = _int_at(data + ctx.data_at[D_NE + k])
        carray(_pointer(ctx.report[R_NE + k] + 4 * world), 1, np.int32)[0] = value
    islands = max(1, min(20, _int_at(data + ctx.data_at[D_NISLAND])))
    most = 0
    for k in range(islands):
        most = max(most, _int_at(data + ctx.data_at[D_NITER] + 4 * k))
    carray(_pointer(ctx.report[R_NITER] + 4 * world), 1, np.int32)[0] = most


@numba.njit(nogil=True)
def _narrow(target, start, address, count):  # noqa: ANN001, ANN202
    source = carray(_pointer(address), count, np.float64)
    for i in range(count):
        target[start + i] = source[i]


@numba.njit(nogil=True)
def _stage_contacts(ctx, thread, world, start):  # noqa: ANN001, ANN202
    """Keep one world's contacts in the thread's buffer; returns where the next world's go."""
    data, at = ctx.datas[thread], ctx.contact_at
    ncon = _int_at(data + ctx.data_at[D_NCON])
    kept = min(ncon, ctx.settings[STAGE_CAPACITY] - start)
    contact = _address_at(data + ctx.data_at[D_CONTACT])
    floats = carray(_pointer(ctx.stage_float[thread] + 4 * STAGE_FLOATS * start), (kept, STAGE_FLOATS), np.float32)
    ints = carray(_pointer(ctx.stage_int[thread] + 4 * STAGE_INTS * start), (kept, STAGE_INTS), np.int32)
    for c in range(kept):
        base, row = contact + at[C_SIZE] * c, floats[c]
        _narrow(row, 0, base + at[C_DIST], 1)
        _narrow(row, 1, base + at[C_POS], 3)
        _narrow(row, 4, base + at[C_FRAME], 9)
        _narrow(row, 13, base + at[C_MARGIN], 1)
        _narrow(row, 14, base + at[C_FRICTION], 5)
        _narrow(row, 19, base + at[C_SOLREF], 2)
        _narrow(row, 21, base + at[C_SOLREF2], 2)
        _narrow(row, 23, base + at[C_SOLIMP], 5)
        dim = _int_at(base + at[C_DIM])
        ints[c, 0] = dim
        ints[c, 1] = _int_at(base + at[C_GEOM])
        ints[c, 2] = _int_at(base + at[C_GEOM] + 4)
        ints[c, 3] = _int_at(base + at[C_EFC])
        ints[c, 4] = _row_count(dim, ctx.settings[PYRAMIDAL] != 0)
    _stage_entry(ctx, world, thread, start, kept, ncon)
    return start + kept


@numba.njit(nogil=True)
def _stage_entry(ctx, world, thread, start, kept, found):  # noqa: ANN001, ANN202
    ctx.staged[world, 0] = thread
    ctx.staged[world, 1] = start
    ctx.staged[world, 2] = kept
    ctx.staged[world, 3] = found


@numba.njit(nogil=True)
def _step_world(ctx, thread, world, start):  # noqa: ANN001, ANN202
    """Step one world; returns where the next staged contact goes."""
    ctx.current[thread] = world
    _copy_in(ctx, thread, world)
    bits = 0
    for k in range(2):
        if _is_bad(carray(_pointer(ctx.input_at[thread, k]), ctx.inputs[k, 1], np.float64)):
            bits |= 1 << (W_BADQPOS + k)
    warmstart = carray(_pointer(ctx.input_at[thread, 2]), ctx.inputs[2, 1], np.float64)
    if _is_bad(warmstart):
        warmstart[:] = 0.0
    ctx.warned[world] |= bits
    if bits or not _run_substeps(ctx, thread, world):
        # MuJoCo's own answer, stepping on or jumping to the default pose, would hide the loss.
        _mark_lost(ctx, world)
        _stage_entry(ctx, world, thread, start, 0, 0)
        return start
    _copy_out(ctx, thread, world)
    _report_rows(ctx, thread, world)
    return _stage_contacts(ctx, thread, world, start)


@numba.njit(nogil=True)
def step_worlds(ctx, thread):  # noqa: ANN001, ANN201
    """Step worlds until none is left; every thread runs this on the same context.

    Args:
        ctx: What to work on (:class:`LoopContext`).
        thread: Which model, data and buffers are this thread's.
    """
    worlds, chunk, start = ctx.settings[N_WORLDS], ctx.settings[CHUNK], 0
    while True:
        first = _take(np.int64(ctx.counter.ctypes.data), chunk)
        if first >= worlds:
            break
        for world in range(first, min(first + chunk, worlds)):
            start = _step_world(ctx, thread, world, start)


@numba.njit(nogil=True)
def _put(array_address, index, count, source, start):  # noqa: ANN001, ANN202
    target = carray(_pointer(array_address + 4 * count * index), count, np.float32)
    for i in range(count):
        target[i] = source[start + i]


@numba.njit(nogil=True)
def _put_int(array_address, index, value):  # noqa: ANN001, ANN202
    carray(_pointer(array_address + 4 * index), 1, np.int32)[0] = value


@numba.njit(nogil=True)
def _write_contact(ctx, index, world, floats, ints):  # noqa: ANN001, ANN202
    to = ctx.contacts
    _put(to[K_DIST], index, 1, floats, 0)
    _put(to[K_POS], index, 3, floats, 1)
    _put(to[K_FRAME], index, 9, floats, 4)
    _put(to[K_MARGIN], index, 1, floats, 13)
    _put(to[K_FRICTION], index, 5, floats, 14)
    _put(to[K_SOLREF], index, 2, floats, 19)
    _put(to[K_SOLREF2], index, 2, floats, 21)
    _put(to[K_SOLIMP], index, 5, floats, 23)
    _put_int(to[K_DIM], index, ints[0])
    _put_int(to[K_GEOM], 2 * index, ints[1])
    _put_int(to[K_GEOM], 2 * index + 1, ints[2])
    _put_int(to[K_WORLD], index, world)
    _put_int(to[K_TYPE], index, 1)  # mujoco_warp.ContactType.CONSTRAINT
    _put_int(to[K_ID], index, 0)
    width, limit = ctx.settings[N_PYRAMID], ctx.settings[N_ROWS]
    for r in range(width):
        row = ints[3] + r if ints[3] >= 0 and r < ints[4] else -1
        _put_int(to[K_EFC], width * index + r, row if row < limit else -1)


@numba.njit(nogil=True)
def write_contacts(ctx):  # noqa: ANN001, ANN201
    """Write the staged contacts to MJWarp's arrays in world order, whatever thread found them.

    Args:
        ctx: The context that :func:`step_worlds` has just worked on.

    Returns:
        Contacts found that the arrays had no room for.
    """
    index, found, capacity = 0, 0, ctx.settings[STAGE_CAPACITY]
    for world in range(ctx.settings[N_WORLDS]):
        thread, start = ctx.staged[world, 0], ctx.staged[world, 1]
        kept = min(ctx.staged[world, 2], capacity - index)
        found += ctx.staged[world, 3]
        floats = carray(
            _pointer(ctx.stage_float[thread] + 4 * STAGE_FLOATS * start), (kept, STAGE_FLOATS), np.float32
        )
        ints = carray(_pointer(ctx.stage_int[thread] + 4 * STAGE_INTS * start), (kept, STAGE_INTS), np.int32)
        for c in range(kept):
            _write_contact(ctx, index, world, floats[c], ints[c])
            index += 1
    _put_int(ctx.contacts[K_COUNT], 0, index)
    _put_int(ctx.contacts[K_FOUND], 0, found)
    return found - index
