"""Forward kinematics and velocities of the 28-joint humanoid, from the numbers in :mod:`sportsuite.characters.spec`."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sportsuite.characters import spec
from sportsuite.motion.clip import Clip

_AXES = {"x": 0, "y": 1, "z": 2}


def quat_multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Hamilton product of quaternions, xyzw. Shapes broadcast to (..., 4)."""
    ax, ay, az, aw = a.unbind(-1)
    bx, by, bz, bw = b.unbind(-1)
    return torch.stack(
        (
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ),
        dim=-1,
    )


def quat_conjugate(quat: torch.Tensor) -> torch.Tensor:
    """Inverse of unit quaternions, xyzw. Shape is (..., 4)."""
    return quat * quat.new_tensor([-1.0, -1.0, -1.0, 1.0])


def quat_rotate(quat: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """Rotate vectors (..., 3) by unit quaternions (..., 4), xyzw."""
    axis = quat[..., :3]
    twice = 2.0 * torch.linalg.cross(axis, vector)
    return vector + quat[..., 3:] * twice + torch.linalg.cross(axis, twice)


def rotation_vector(quat: torch.Tensor) -> torch.Tensor:
    """Axis times angle of unit quaternions, the short way round. Shape is (..., 3) [rad]."""
    quat = torch.where(quat[..., 3:] < 0.0, -quat, quat)
    sine = quat[..., :3].norm(dim=-1, keepdim=True)
    angle = 2.0 * torch.atan2(sine, quat[..., 3:])
    return quat[..., :3] * torch.where(sine > 1e-9, angle / sine.clamp_min(1e-9), 2.0)


def hinge_quats(joint_pos: torch.Tensor) -> torch.Tensor:
    """Rotation of each hinge about its axis, xyzw. ``joint_pos`` is (..., 28) [rad], the result (..., 28, 4)."""
    half = 0.5 * joint_pos
    quat = joint_pos.new_zeros(*joint_pos.shape, 4)
    columns = torch.arange(spec.NUM_JOINTS)
    quat[..., columns, torch.tensor([_AXES[axis] for axis in spec.JOINT_AXES])] = half.sin()
    quat[..., 3] = half.cos()
    return quat


def forward_kinematics(
    root_pos: torch.Tensor, root_quat: torch.Tensor, joint_pos: torch.Tensor, scale: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """World poses of the 15 bodies.

    Args:
        root_pos: Pelvis origin, shape (..., 3) [m].
        root_quat: Pelvis orientation, xyzw, shape (..., 4).
        joint_pos: Hinge angles in the order of :data:`~sportsuite.characters.spec.JOINT_NAMES`, shape (..., 28) [rad].
        scale: Factor on every length, see :func:`sportsuite.characters.spec.body_scale`.

    Returns:
        Body origins (..., 15, 3) [m] and orientations, xyzw (..., 15, 4).
    """
    hinges = hinge_quats(joint_pos)
    positions, quats = [root_pos], [root_quat]
    for index, body in enumerate(spec.BODIES[1:], start=1):
        parent = spec.PARENTS[index]
        offset = scale * root_pos.new_tensor(body.offset)
        positions.append(positions[parent] + quat_rotate(quats[parent], offset.expand_as(root_pos)))
        quat = quats[parent]
        if body.joint is not None:
            for axis in spec.JOINTS[body.joint].axes:
                quat = quat_multiply(quat, hinges[..., spec.JOINT_NAMES.index(spec.hinge_name(body.joint, axis)), :])
        quats.append(quat)
    return torch.stack(positions, dim=-2), torch.stack(quats, dim=-2)


def time_derivative(value: torch.Tensor, fps: float) -> torch.Tensor:
    """Central differences along the first axis, one-sided at the ends. Shape (T, ...), T at least 2."""
    return torch.gradient(value, spacing=1.0 / fps, dim=0)[0]


def angular_velocity(quat: torch.Tensor, fps: float) -> torch.Tensor:
    """World-frame angular velocity of orientations over time, by central differences.

    Args:
        quat: Orientations, xyzw, shape (T, ..., 4), T at least 2.
        fps: Frames per second [Hz].

    Returns:
        Shape (T, ..., 3) [rad/s].
    """
    before = torch.cat((quat[:1], quat[:-1]))
    after = torch.cat((quat[1:], quat[-1:]))
    steps = quat.new_full((len(quat),), 2.0)
    steps[0] = steps[-1] = 1.0
    turn = rotation_vector(quat_multiply(after, quat_conjugate(before)))
    return turn * (fps / steps).view(-1, *[1] * (quat.dim() - 1))


@dataclass(frozen=True)
class ClipStates:
    """Full kinematic state of every frame of a clip, float32. All in the world frame, ground at z = 0.

    Attributes:
        root_pos: (T, 3) [m].
        root_quat: xyzw, (T, 4).
        root_lin_vel: Velocity of the pelvis origin, (T, 3) [m/s].
        root_ang_vel: (T, 3) [rad/s].
        joint_pos: (T, 28) [rad].
        joint_vel: (T, 28) [rad/s].
        body_pos: Origins of the 15 bodies, (T, 15, 3) [m].
        body_quat: xyzw, (T, 15, 4).
    """

    root_pos: torch.Tensor
    root_quat: torch.Tensor
    root_lin_vel: torch.Tensor
    root_ang_vel: torch.Tensor
    joint_pos: torch.Tensor
    joint_vel: torch.Tensor
    body_pos: torch.Tensor
    body_quat: torch.Tensor


def clip_scale(clip: Clip, foot: str = "boot") -> float:
    """Factor on every length of the character the clip was made for."""
    return spec.body_scale(spec.VARIANTS[clip.character].height, foot)


def clip_states(clip: Clip) -> ClipStates:
    """Compute velocities and body poses of a clip by central differences and forward kinematics.

    The clip's joints must be those of the humanoid, in order, which loading a clip makes sure of.
    """
    root_pos = torch.as_tensor(clip.root_pos, dtype=torch.float64)
    root_quat = torch.as_tensor(clip.root_quat, dtype=torch.float64)
    joint_pos = torch.as_tensor(clip.joint_pos, dtype=torch.float64)
    body_pos, body_quat = forward_kinematics(root_pos, root_quat, joint_pos, clip_scale(clip))
    states = (
        root_pos,
        root_quat,
        time_derivative(root_pos, clip.fps),
        angular_velocity(root_quat, clip.fps),
        joint_pos,
        time_derivative(joint_pos, clip.fps),
        body_pos,
        body_quat,
    )
    return ClipStates(*(state.float() for state in states))
