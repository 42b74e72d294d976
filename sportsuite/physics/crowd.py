"""Contacts of many characters in one world.

Newton turns its collision groups and filters into MuJoCo's 32-bit masks. Beyond 256 colliders per world it colours the
graph of colliders instead, and colliders beyond the 32nd colour touch everything. Twenty-two characters have about 440
colliders that may all meet. What they need is simple, though, and takes two bits: what moves touches what moves, what
stands on the ground touches the ground. Pairs of neighbouring bodies stay excluded by body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sportsuite.physics.colliders import world_colliders

__all__ = ["crowd_hook", "crowd_masks"]

_MOVING, _GROUND = 1, 2
_DOMAIN = 0
"""Newton takes masks as given only where all colliders say that theirs were made together."""


def crowd_masks(fixed: bool, sole: bool, shod: bool, ball: bool) -> tuple[int, int]:
    """Say what a collider touches.

    Two colliders touch if the type of one shares a bit with the affinity of the other.

    Args:
        fixed: It doesn't move.
        sole: It is a boot's sole, which touches nothing but the ground.
        shod: It is the boot that the sole belongs to, which touches all but the ground.
        ball: It is a ball, whose contacts are explicit pairs.

    Returns:
        MuJoCo's ``contype`` and ``conaffinity``.
    """
    if ball:
        return 0, 0
    if fixed:
        return _GROUND, 0
    if sole:
        return 0, _GROUND
    return _MOVING, _MOVING if shod else _MOVING | _GROUND


def crowd_hook(ball_name: str | None = "Ball") -> Callable[..., None]:
    """Make a world hook that gives every collider its masks. It has to come after all colliders were added.

    Newton also excludes every pair of bodies of which one has no collider, and looks through all bodies for each: an
    hour for twenty-two characters with their virtual links. Those exclusions change nothing; from the hook's first call
    on this process leaves them out.

    Args:
        ball_name: Name of the ball's prim; None if there is none.

    Returns:
        A hook ``(builder, world, position, quaternion) -> None``.
    """

    def hook(builder: Any, world: int, position: object, quaternion: object) -> None:
        _exclude_colliding_bodies_only()
        colliders = world_colliders(builder)
        soles = [index for index in colliders if builder.shape_label[index].endswith("/sole")]
        shod = {builder.shape_body[index] for index in soles}
        for index in colliders:
            body = builder.shape_body[index]
            masks = crowd_masks(
                fixed=body < 0,
                sole=index in soles,
                shod=body in shod,
                ball=ball_name is not None and ball_name in builder.shape_label[index].split("/"),
            )
            for name, value in zip(("contype", "conaffinity"), masks, strict=True):
                _set(builder, name, index, value)
            _set(builder, "collision_mask_domain", index, _DOMAIN)

    return hook


def _exclude_colliding_bodies_only() -> None:
    from newton.solvers import SolverMuJoCo

    original = SolverMuJoCo._find_body_collision_filter_pairs
    if getattr(original, "for_crowds", False):
        return

    def find(model: Any, selected_bodies: Iterable[int], colliding_shapes: Any) -> list[Any]:
        owners = set(model.shape_body.numpy()[np.asarray(list(colliding_shapes), dtype=np.int64)].tolist())
        bodies = np.array([body for body in selected_bodies if int(body) in owners], dtype=np.int64)
        return original(model, bodies, colliding_shapes)

    find.for_crowds = True  # type: ignore[attr-defined]
    SolverMuJoCo._find_body_collision_filter_pairs = staticmethod(find)  # type: ignore[method-assign]


def _set(builder: Any, name: str, shape: int, value: int) -> None:
    attribute = builder.custom_attributes[f"mujoco:{name}"]
    if attribute.values is None:
        attribute.values = {}
    attribute.values[shape] = value
