"""What a discriminator sees of one frame: the same numbers, by the same code, for clips and for simulation.

Everything is in the heading frame of the root, so a motion looks the same wherever and in whichever direction it
happens. The layout is that of ASE and CALM (calm/env/tasks/humanoid_amp.py): root height 1, root rotation 6, root
linear velocity 3, root angular velocity 3, joint rotations 6 each, joint velocities 28, key body positions 3 each.
"""

from __future__ import annotations

from functools import cache

import torch

from sportsuite.characters import spec
from sportsuite.errors import unknown_name
from sportsuite.mdp import frames

_NUM_ROTATIONS = len(spec.JOINTS)

_SIZES = {
    "root_height": 1,
    "root_rotation": 6,
    "root_lin_vel": 3,
    "root_ang_vel": 3,
    "joint_rotation": 6 * _NUM_ROTATIONS,
    "joint_vel": spec.NUM_JOINTS,
    "key_bodies": 3 * len(spec.KEY_BODIES),
}
NUM_FEATURES: int = sum(_SIZES.values())
"""Number of features of one frame: 125."""

BODY_GROUPS: dict[str, tuple[str, ...]] = {
    "upper": ("abdomen", "neck", "right_shoulder", "right_elbow", "left_shoulder", "left_elbow"),
    "lower": ("right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle"),
    "arms": ("right_shoulder", "right_elbow", "left_shoulder", "left_elbow"),
    "legs": ("right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle"),
}
"""Anatomical joints of each group of bodies that may have a discriminator of its own."""


@cache
def layout() -> dict[str, slice]:
    """Columns of each part of the features."""
    parts, start = {}, 0
    for name, size in _SIZES.items():
        parts[name] = slice(start, start + size)
        start += size
    return parts


def joint_rotations(joint_pos: torch.Tensor) -> torch.Tensor:
    """Tangent and normal (x and z axis) of each anatomical joint's rotation in its parent's frame.

    Args:
        joint_pos: Hinge angles, shape (N, 28) [rad].

    Returns:
        Shape (N, 12, 2, 3). For intrinsic x, y, z hinges the axes are the first and third column of Rx Ry Rz.
    """
    triples, hinges, three, one = _joint_columns()
    sine, cosine = joint_pos.sin(), joint_pos.cos()
    sx, sy, sz = sine[:, triples].unbind(-1)
    cx, cy, cz = cosine[:, triples].unbind(-1)
    tangent = torch.stack((cy * cz, cx * sz + sx * sy * cz, sx * sz - cx * sy * cz), dim=-1)
    normal = torch.stack((sy, -sx * cy, cx * cy), dim=-1)
    out = joint_pos.new_zeros(len(joint_pos), _NUM_ROTATIONS, 2, 3)
    out[:, three] = torch.stack((tangent, normal), dim=-2)
    s, c, zero = sine[:, hinges], cosine[:, hinges], torch.zeros_like(sine[:, hinges])
    out[:, one] = torch.stack((torch.stack((c, zero, -s), dim=-1), torch.stack((s, zero, c), dim=-1)), dim=-2)
    return out


@cache
def _joint_columns() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Hinge columns of three-axis joints (8, 3) and of hinges (4,), and their places among the 12 joints."""
    columns = {
        name: [spec.JOINT_NAMES.index(spec.hinge_name(name, axis)) for axis in joint.axes]
        for name, joint in spec.JOINTS.items()
    }
    names = list(spec.JOINTS)
    three = [name for name in names if len(columns[name]) == 3]
    one = [name for name in names if len(columns[name]) == 1]
    return (
        torch.tensor([columns[name] for name in three]),
        torch.tensor([columns[name][0] for name in one]),
        torch.tensor([names.index(name) for name in three]),
        torch.tensor([names.index(name) for name in one]),
    )


def frame_features(
    root_pos: torch.Tensor,
    root_quat: torch.Tensor,
    root_lin_vel: torch.Tensor,
    root_ang_vel: torch.Tensor,
    joint_pos: torch.Tensor,
    joint_vel: torch.Tensor,
    key_body_pos: torch.Tensor,
) -> torch.Tensor:
    """Features of N frames.

    Args:
        root_pos: Pelvis origin, z above the ground, shape (N, 3) [m].
        root_quat: Pelvis orientation, xyzw, shape (N, 4).
        root_lin_vel: World-frame velocity of the pelvis origin, shape (N, 3) [m/s].
        root_ang_vel: World-frame angular velocity, shape (N, 3) [rad/s].
        joint_pos: Hinge angles, shape (N, 28) [rad].
        joint_vel: Shape (N, 28) [rad/s].
        key_body_pos: World positions of :data:`~sportsuite.characters.spec.KEY_BODIES`, shape (N, 4, 3) [m].

    Returns:
        Shape (N, 125), see the module's text for the layout.
    """
    heading = frames.heading_from_quat(root_quat)
    vectors = torch.cat(
        (
            frames.tangent_normal(root_quat),
            root_lin_vel.unsqueeze(1),
            root_ang_vel.unsqueeze(1),
            key_body_pos - root_pos.unsqueeze(1),
        ),
        dim=1,
    )
    turned = frames.rotate_to_heading(vectors, heading)
    return torch.cat(
        (
            root_pos[:, 2:3],
            turned[:, :4].flatten(1),
            joint_rotations(joint_pos).flatten(1),
            joint_vel,
            turned[:, 4:].flatten(1),
        ),
        dim=1,
    )


def group_columns(group: str) -> list[int]:
    """Columns of the features that tell about one group of bodies, for a discriminator of its own.

    The root's height, rotation and velocity are in every group: without them a group has no idea of where it moves.

    Raises:
        BadInputError: If the group is unknown.
    """
    if group not in BODY_GROUPS:
        raise unknown_name("body group", group, BODY_GROUPS)
    parts, names = layout(), list(spec.JOINTS)
    chosen = list(range(parts["joint_rotation"].start))
    for joint in BODY_GROUPS[group]:
        start = parts["joint_rotation"].start + 6 * names.index(joint)
        chosen += range(start, start + 6)
    hinges = {spec.hinge_name(joint, axis) for joint in BODY_GROUPS[group] for axis in spec.JOINTS[joint].axes}
    chosen += [parts["joint_vel"].start + i for i, name in enumerate(spec.JOINT_NAMES) if name in hinges]
    ends = ("hand",) if group in ("upper", "arms") else ("foot",)
    for index, body in enumerate(spec.KEY_BODIES):
        if body.endswith(ends):
            start = parts["key_bodies"].start + 3 * index
            chosen += range(start, start + 3)
    return chosen


@cache
def mirror_map() -> tuple[torch.Tensor, torch.Tensor]:
    """Features of the mirrored motion: ``mirrored = features[:, index] * sign``.

    Returns:
        Index and sign, each of shape (125,).
    """
    parts, index = layout(), torch.arange(NUM_FEATURES)
    sign = torch.ones(NUM_FEATURES)
    polar, axial = torch.tensor([1.0, -1.0, 1.0]), torch.tensor([-1.0, 1.0, -1.0])
    sign[parts["root_rotation"]] = polar.repeat(2)
    sign[parts["root_lin_vel"]], sign[parts["root_ang_vel"]] = polar, axial
    names = list(spec.JOINTS)
    joints = torch.tensor([names.index(spec.mirror_name(name)) for name in names])
    index[parts["joint_rotation"]] = (parts["joint_rotation"].start + 6 * joints[:, None] + torch.arange(6)).flatten()
    sign[parts["joint_rotation"]] = polar.repeat(2 * _NUM_ROTATIONS)
    index[parts["joint_vel"]] = parts["joint_vel"].start + torch.tensor(spec.MIRROR_JOINTS)
    sign[parts["joint_vel"]] = torch.tensor(spec.MIRROR_SIGNS)
    keys = torch.tensor([spec.KEY_BODIES.index(spec.mirror_name(name)) for name in spec.KEY_BODIES])
    index[parts["key_bodies"]] = (parts["key_bodies"].start + 3 * keys[:, None] + torch.arange(3)).flatten()
    sign[parts["key_bodies"]] = polar.repeat(len(spec.KEY_BODIES))
    return index, sign
