"""The heading frame: world axes turned by the root's yaw only, origin under the root.

Every observation that ends in ``_h`` uses it. Quaternions are xyzw. The functions are pure tensor arithmetic; they cost
a few kernels, because on a CPU the number of kernels, not their size, sets the price of an observation.
"""

from __future__ import annotations

import torch


def heading_from_quat(quat_w: torch.Tensor) -> torch.Tensor:
    """Unit vector of the heading in the ground plane, i.e. the horizontal direction of the body's x axis.

    Args:
        quat_w: Orientation, xyzw. Shape is (..., 4).

    Returns:
        (cos yaw, sin yaw). Shape is (..., 2). A body whose x axis is vertical gets (1, 0).
    """
    x, y, z, w = quat_w.unbind(-1)
    forward = torch.stack((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)), dim=-1)
    norm = forward.norm(dim=-1, keepdim=True)
    fallback = torch.tensor([1.0, 0.0], dtype=quat_w.dtype, device=quat_w.device)
    return torch.where(norm > 1e-6, forward / norm.clamp_min(1e-6), fallback)


def rotate_to_heading(vector_w: torch.Tensor, heading: torch.Tensor) -> torch.Tensor:
    """Express world-frame vectors in the heading frame.

    Args:
        vector_w: Vectors in the world frame. Shape is (N, ..., 3).
        heading: (cos yaw, sin yaw) per world. Shape is (N, 2).

    Returns:
        The vectors in the heading frame. Shape is (N, ..., 3).
    """
    shape = (heading.shape[0],) + (1,) * (vector_w.dim() - 2)
    cos, sin = heading[:, 0].view(shape), heading[:, 1].view(shape)
    x, y, z = vector_w.unbind(-1)
    return torch.stack((cos * x + sin * y, cos * y - sin * x, z), dim=-1)


def rotate_from_heading(vector_h: torch.Tensor, heading: torch.Tensor) -> torch.Tensor:
    """Express heading-frame vectors in the world frame; the inverse of :func:`rotate_to_heading`."""
    return rotate_to_heading(vector_h, heading * heading.new_tensor([1.0, -1.0]))


def turn(vector: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """Turn vectors about the vertical.

    Args:
        vector: Shape is (N, 2), horizontal, or (N, 3).
        angle: Counter-clockwise seen from above [rad]. Shape is (N,).
    """
    cos, sin = angle.cos(), angle.sin()
    x, y, *rest = vector.unbind(dim=1)
    return torch.stack((cos * x - sin * y, sin * x + cos * y, *rest), dim=1)


def angle_between(start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """Angle from one horizontal vector to another, counter-clockwise, -pi to pi [rad].

    Args:
        start: Shape is (N, 2).
        end: Shape is (N, 2).
    """
    cos = (start * end).sum(dim=1)
    return torch.atan2(start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0], cos)


def quat_in_heading(quat_w: torch.Tensor, heading: torch.Tensor) -> torch.Tensor:
    """Turn orientations by minus the yaw: ``q_h = q_yaw^-1 * q_w``.

    Args:
        quat_w: Orientation, xyzw. Shape is (N, 4).
        heading: (cos yaw, sin yaw). Shape is (N, 2).

    Returns:
        Orientation in the heading frame, xyzw with w >= 0, so that one orientation has one description. Shape is (N,
        4).
    """
    half_cos = ((1.0 + heading[:, 0]) * 0.5).clamp_min(0.0).sqrt()
    half_sin = ((1.0 - heading[:, 0]) * 0.5).clamp_min(0.0).sqrt() * torch.where(heading[:, 1] >= 0.0, 1.0, -1.0)
    x, y, z, w = quat_w.unbind(-1)
    quat_h = torch.stack(
        (
            half_cos * x + half_sin * y,
            half_cos * y - half_sin * x,
            half_cos * z - half_sin * w,
            half_cos * w + half_sin * z,
        ),
        dim=-1,
    )
    return torch.where(quat_h[:, 3:] < 0.0, -quat_h, quat_h)


def tangent_normal(quat_w: torch.Tensor) -> torch.Tensor:
    """Rotated x axis (tangent) and z axis (normal): a rotation as six numbers without jumps.

    Args:
        quat_w: Orientation, xyzw. Shape is (..., 4).

    Returns:
        Tangent and normal. Shape is (..., 2, 3).
    """
    x, y, z, w = quat_w.unbind(-1)
    tangent = torch.stack((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)), dim=-1)
    normal = torch.stack((2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)), dim=-1)
    return torch.stack((tangent, normal), dim=-2)
