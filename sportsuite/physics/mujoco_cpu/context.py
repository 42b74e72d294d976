"""What the compiled loop works on, described by addresses so that one compiled function serves every model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sportsuite.physics.mujoco_cpu.layout import ContactOffsets, DataOffsets, StepFunctions

# Values of a contact that are floats in MJWarp's arrays, and how many each has.
CONTACT_FLOATS = {
    "dist": 1,
    "pos": 3,
    "frame": 9,
    "includemargin": 1,
    "friction": 5,
    "solref": 2,
    "solreffriction": 2,
    "solimp": 5,
}
STAGE_FLOATS = 28
# dim, geom 0, geom 1, first row in efc (-1: none), rows in efc.
STAGE_INTS = 5
# mjMAXVAL: beyond it MuJoCo calls a coordinate bad.
MAX_VALUE = 1.0e10
# mjNISLAND: entries of mjData.solver_niter.
MAX_ISLANDS = 20
# Bits of mjtWarning that mean the state is lost.
W_BADQPOS, W_BADQVEL, W_BADQACC = 3, 4, 5


class Sizes(NamedTuple):
    """Numbers that don't change while a solver lives.

    Attributes:
        worlds: Number of worlds.
        chunk: Worlds that a thread takes at a time.
        rows: Constraint rows per world that can be reported (njmax).
        contacts: Contacts that all worlds together can report (naconmax).
        pyramid: Most constraint rows of one contact in MJWarp's layout.
        pyramidal: Whether the friction cone is a pyramid.
    """

    worlds: int
    chunk: int
    rows: int
    contacts: int
    pyramid: int
    pyramidal: bool


class RowArrays(NamedTuple):
    """Addresses of MJWarp's results per world."""

    force: int
    nefc: int
    ne: int
    nf: int
    nl: int
    niter: int


class ContactArrays(NamedTuple):
    """Addresses of MJWarp's integer contact arrays, and of the numbers of contacts written and found."""

    dim: int
    geom: int
    efc_address: int
    worldid: int
    type: int
    geomcollisionid: int
    nacon: int
    ncollision: int


class LoopContext(NamedTuple):
    """What one call of the loop works on. The caller keeps alive whatever the addresses point to.

    Attributes:
        functions: Addresses of libmujoco's functions.
        data_at: Offsets inside mjData.
        contact_at: Offsets inside mjContact.
        sizes: Numbers that don't change while a solver lives.
        report: Where results per world go.
        contacts: Where contacts' integers go.
        substeps: Substeps of this call.
        with_rne: Compute body accelerations and reaction forces in the last substep.
        time_step: Substep [s].
        models: (threads,) mjModel addresses.
        datas: (threads,) mjData addresses.
        inputs: (fields, 2) address of a float32 array and its values per world, copied in before a world's substeps.
            The first two rows are qpos and qvel, the third is qacc_warmstart.
        input_at: (threads, fields) where each thread's mjtNum copy is.
        rows: (fields, 2) address of an array and its bytes per world, copied in verbatim.
        row_at: (threads, fields) where each thread's copy is.
        outputs: (fields, 2) address of a float32 array and its values per world, copied out after the substeps.
        output_at: (threads, fields) where each thread's mjtNum source is.
        trackers: (trackers, 4) addresses of tracked flags (uint8 per geom), slots (int32 per geom) and the float32
            output, and the columns of the output.
        contact_floats: (values, 4) offset in mjContact, column among the staged floats, count, and address of MJWarp's
            array, of each of ``CONTACT_FLOATS``.
        counter: (1,) next world to be taken by a thread.
        current: (threads,) world a thread is stepping.
        seen: (threads, warnings) warning counts of a thread's mjData that are already attributed.
        warned: (worlds,) bits of mjtWarning raised since they were last read.
        staged: (worlds, 4) thread, first staged contact, staged contacts, contacts found.
        stage_float: (threads,) addresses of the staging buffers, STAGE_FLOATS float32 per contact.
        stage_int: (threads,) addresses of the staging buffers, STAGE_INTS int32 per contact.
    """

    functions: StepFunctions
    data_at: DataOffsets
    contact_at: ContactOffsets
    sizes: Sizes
    report: RowArrays
    contacts: ContactArrays
    substeps: int
    with_rne: bool
    time_step: float
    models: np.ndarray
    datas: np.ndarray
    inputs: np.ndarray
    input_at: np.ndarray
    rows: np.ndarray
    row_at: np.ndarray
    outputs: np.ndarray
    output_at: np.ndarray
    trackers: np.ndarray
    contact_floats: np.ndarray
    counter: np.ndarray
    current: np.ndarray
    seen: np.ndarray
    warned: np.ndarray
    staged: np.ndarray
    stage_float: np.ndarray
    stage_int: np.ndarray
