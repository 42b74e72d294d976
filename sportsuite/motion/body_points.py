"""Points fixed to the humanoid's bodies: where they are and how they move with its coordinates.

The Jacobians are assembled from MuJoCo's joint anchors and axes for all points, and all frames where wanted, at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from sportsuite.characters import spec


@dataclass(frozen=True)
class BodyPoints:
    """P points fixed to bodies.

    Attributes:
        bodies: Index of each point's body in :data:`~sportsuite.characters.spec.BODY_NAMES`, shape (P,).
        offsets: Place in the frame of its body, shape (P, 3) [m].
        moved_by: Whether each rotation moves each point, shape (P, 31), 0 or 1: three of the root, then the hinges.
    """

    bodies: np.ndarray
    offsets: np.ndarray
    moved_by: np.ndarray

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.bodies)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The attributes in order."""
        return self.bodies, self.offsets, self.moved_by


def body_points(places: list[tuple[str, tuple[float, float, float] | np.ndarray]]) -> BodyPoints:
    """Make points from pairs of a body name and a place in its frame [m]."""
    bodies = np.array([spec.BODY_NAMES.index(body) for body, _ in places])
    offsets = np.array([offset for _, offset in places], dtype=np.float64)
    moved_by = np.array([_hinges_above(body) for body, _ in places])
    return BodyPoints(bodies, offsets, moved_by)


def _hinges_above(body: str) -> np.ndarray:
    """Root rotations, and hinges between the pelvis and a body, as ones, shape (31,)."""
    moving = np.zeros(3 + spec.NUM_JOINTS)
    moving[:3] = 1.0
    index = spec.BODY_NAMES.index(body)
    while index >= 0:
        joint = spec.BODIES[index].joint
        if joint is not None:
            for axis in spec.JOINTS[joint].axes:
                moving[3 + spec.JOINT_NAMES.index(spec.hinge_name(joint, axis))] = 1.0
        index = spec.PARENTS[index]
    return moving


class Poses(NamedTuple):
    """What MuJoCo's kinematics gives, for one frame or for many along leading dimensions.

    Attributes:
        body_pos: Body origins, (..., 15, 3) [m].
        body_mat: Body orientations, (..., 15, 3, 3).
        anchor: Points on the hinges' axes, (..., 28, 3) [m].
        axis: Directions of the hinges' axes, (..., 28, 3).
    """

    body_pos: np.ndarray
    body_mat: np.ndarray
    anchor: np.ndarray
    axis: np.ndarray


def frame_poses(model: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray) -> Poses:
    """Poses for the coordinates ``qpos`` (35,); views of ``data``, valid until it changes."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    # body 0 is MuJoCo's world, joint 0 the floating root
    return Poses(data.xpos[1:], data.xmat[1:].reshape(-1, 3, 3), data.xanchor[1:], data.xaxis[1:])


def trajectory_poses(model: mujoco.MjModel, qpos: np.ndarray) -> Poses:
    """Poses of T frames for coordinates of shape (T, 35)."""
    data = mujoco.MjData(model)
    count = len(qpos)
    stored = Poses(
        np.empty((count, spec.NUM_BODIES, 3)),
        np.empty((count, spec.NUM_BODIES, 3, 3)),
        np.empty((count, spec.NUM_JOINTS, 3)),
        np.empty((count, spec.NUM_JOINTS, 3)),
    )
    for frame, coordinates in enumerate(qpos):
        for target, value in zip(stored, frame_poses(model, data, coordinates), strict=True):
            target[frame] = value
    return stored


def positions(poses: Poses, points: BodyPoints) -> np.ndarray:
    """World positions of the points, shape (..., P, 3) [m]."""
    rotated = np.matmul(poses.body_mat[..., points.bodies, :, :], points.offsets[:, :, None])[..., 0]
    return poses.body_pos[..., points.bodies, :] + rotated


def jacobian(poses: Poses, points: BodyPoints, position: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
    """Derivative of the points' world positions by MuJoCo's velocity coordinates.

    Args:
        poses: Poses.
        points: The points.
        position: Their positions, from :func:`positions`.
        columns: Which of the 34 coordinates; all by default.

    Returns:
        Shape (..., P, 3, 34) or fewer columns: three root translations (world), three root rotations (pelvis frame),
        28 hinges.
    """
    origin = np.broadcast_to(poses.body_pos[..., :1, :], (*poses.body_pos.shape[:-2], 3, 3))
    axes = np.concatenate((poses.body_mat[..., 0, :, :].swapaxes(-1, -2), poses.axis), axis=-2)
    anchors = np.concatenate((origin, poses.anchor), axis=-2)
    moved_by, moves = points.moved_by, slice(3)
    if columns is not None:
        turning, moves = columns[columns >= 3] - 3, columns[columns < 3]
        axes, anchors, moved_by = axes[..., turning, :], anchors[..., turning, :], moved_by[:, turning]
    # axis x (point - anchor), the product with the point as one matrix product for all points
    crossed = np.matmul(_CROSS, axes.swapaxes(-1, -2))
    shape = axes.shape[:-2]
    turned = np.matmul(position, crossed.reshape(*shape, 3, -1)).reshape(*position.shape, -1)
    turned -= _cross(axes, anchors).swapaxes(-1, -2)[..., None, :, :]
    turned *= moved_by[:, None]
    shifted = np.broadcast_to(np.eye(3)[:, moves], (*position.shape, len(np.arange(3)[moves])))
    return np.concatenate((shifted, turned), axis=-1)


_CROSS = np.zeros((9, 3))
"""``(a x p)_i = sum_j p_j (_CROSS a)_(3 j + i)``."""
for _i, _m, _j, _sign in (
    (0, 1, 2, 1.0),
    (1, 2, 0, 1.0),
    (2, 0, 1, 1.0),
    (0, 2, 1, -1.0),
    (1, 0, 2, -1.0),
    (2, 1, 0, -1.0),
):
    _CROSS[3 * _j + _i, _m] = _sign


def _cross(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    ax, ay, az = one[..., 0], one[..., 1], one[..., 2]
    bx, by, bz = two[..., 0], two[..., 1], two[..., 2]
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


def trajectory_positions(model: mujoco.MjModel, qpos: np.ndarray, points: BodyPoints) -> np.ndarray:
    """World positions over time, shape (T, P, 3) [m], for coordinates of shape (T, 35)."""
    return positions(trajectory_poses(model, qpos), points)
