"""Warp kernel that books the ball's contact impulses by body."""

# Warp reads the annotations of kernels at run time, so they must be neither postponed nor plain types.
# pyright: reportInvalidTypeForm=false

import warp as wp


@wp.kernel
def add_normal_impulses(
    contact_count: wp.array(dtype=int),
    geoms: wp.array(dtype=wp.vec2i),
    world: wp.array(dtype=int),
    dim: wp.array(dtype=int),
    row: wp.array2d(dtype=int),
    force: wp.array2d(dtype=float),
    slot: wp.array(dtype=int),
    is_ball: wp.array(dtype=int),
    pyramidal: int,
    substep_dt: float,
    total: wp.array2d(dtype=float),
) -> None:
    """Add normal force times substep of each contact of the ball to its world's row.

    Args:
        contact_count: Number of contacts in all worlds. Shape is (1,).
        geoms: The two geoms of each contact. Shape is (contacts,).
        world: World of each contact. Shape is (contacts,).
        dim: Dimensions of each contact: 1 without friction. Shape is (contacts,).
        row: First constraint row of each contact in column 0, -1 if it is inactive; with a pyramidal cone all edges.
            Shape is (contacts, edges).
        force: Constraint forces [N]. Shape is (worlds, rows).
        slot: Column of each geom. Shape is (geoms,).
        is_ball: 1 for the ball's geoms. Shape is (geoms,).
        pyramidal: 1 for a pyramidal friction cone, whose normal force is the sum over its edges.
        substep_dt: Solver substep [s].
        total: Sums to add to [N s]. Shape is (worlds, columns).
    """
    contact = wp.tid()
    if contact >= contact_count[0]:
        return
    first = geoms[contact][0]
    second = geoms[contact][1]
    other = wp.int32(-1)
    if first >= 0 and second >= 0:
        if is_ball[first] == 1:
            other = second
        elif is_ball[second] == 1:
            other = first
    if other < 0 or row[contact, 0] < 0:
        return
    normal = wp.float32(0.0)
    if pyramidal == 1 and dim[contact] > 1:
        for edge in range(2 * (dim[contact] - 1)):
            normal += force[world[contact], row[contact, edge]]
    else:
        normal = force[world[contact], row[contact, 0]]
    if normal > 0.0:
        wp.atomic_add(total, world[contact], slot[other], normal * substep_dt)
