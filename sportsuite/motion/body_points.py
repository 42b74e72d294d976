"""Points fixed to the humanoid's bodies: where they are and how they move with its coordinates.

The Jacobians are assembled from MuJoCo's joint anchors and axes for all points at once, which takes a third of the time
of one ``mj_jac`` call per point.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sportsuite.characters import spec
from sportsuite.motion.mujoco_model import NUM_DOFS, ROOT_DOFS


@dataclass(frozen=True)
class BodyPoints:
    """P points fixed to bodies.

    Attributes:
        bodies: Index of each point's body in :data:`~sportsuite.characters.spec.BODY_NAMES`, shape (P,).
        offsets: Place in the frame of its body, shape (P, 3) [m].
        moved_by: Whether each hinge moves each point, shape (P, 28), bool.
    """

    bodies: np.ndarray
    offsets: np.ndarray
    moved_by: np.ndarray

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.bodies)


def body_points(places: list[tuple[str, tuple[float, float, float] | np.ndarray]]) -> BodyPoints:
    """Make points from pairs of a body name and a place in its frame [m]."""
    bodies = np.array([spec.BODY_NAMES.index(body) for body, _ in places])
    offsets = np.array([offset for _, offset in places], dtype=np.float64)
    moved_by = np.array([_hinges_above(body) for body, _ in places])
    return BodyPoints(bodies, offsets, moved_by)


def _hinges_above(body: str) -> np.ndarray:
    """Which hinges lie between the pelvis and a body, shape (28,)."""
    moving = np.zeros(spec.NUM_JOINTS, dtype=bool)
    index = spec.BODY_NAMES.index(body)
    while index >= 0:
        joint = spec.BODIES[index].joint
        if joint is not None:
            for axis in spec.JOINTS[joint].axes:
                moving[spec.JOINT_NAMES.index(spec.hinge_name(joint, axis))] = True
        index = spec.PARENTS[index]
    return moving


def update(model: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray) -> None:
    """Set the coordinates (35,) and compute body poses, joint anchors and axes."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)


def positions(data: mujoco.MjData, points: BodyPoints) -> np.ndarray:
    """World positions after :func:`update`, shape (P, 3) [m]."""
    bodies = points.bodies + 1  # body 0 is MuJoCo's world
    rotated = np.matmul(data.xmat[bodies].reshape(-1, 3, 3), points.offsets[:, :, None])[..., 0]
    return data.xpos[bodies] + rotated


def jacobian(data: mujoco.MjData, points: BodyPoints, position: np.ndarray) -> np.ndarray:
    """Derivative of the world positions by MuJoCo's velocity coordinates, after :func:`update`.

    Args:
        data: MuJoCo data.
        points: The points.
        position: Their positions, from :func:`positions`.

    Returns:
        Shape (P, 3, 34): three root translations (world), three root rotations (pelvis frame), 28 hinges.
    """
    result = np.zeros((points.count, 3, NUM_DOFS))
    result[:, (0, 1, 2), (0, 1, 2)] = 1.0
    axes = np.concatenate((data.xmat[1].reshape(3, 3).T, data.xaxis[1:]))
    anchors = np.concatenate((np.broadcast_to(data.xpos[1], (3, 3)), data.xanchor[1:]))
    arms = position[:, None] - anchors
    ax, ay, az = axes.T
    rx, ry, rz = arms[..., 0], arms[..., 1], arms[..., 2]
    result[:, 0, 3:] = ay * rz - az * ry
    result[:, 1, 3:] = az * rx - ax * rz
    result[:, 2, 3:] = ax * ry - ay * rx
    result[:, :, ROOT_DOFS:] *= points.moved_by[:, None]
    return result


def trajectory_positions(model: mujoco.MjModel, qpos: np.ndarray, points: BodyPoints) -> np.ndarray:
    """World positions over time, shape (T, P, 3) [m], for coordinates of shape (T, 35)."""
    data = mujoco.MjData(model)
    result = np.empty((len(qpos), points.count, 3))
    for frame, coordinates in enumerate(qpos):
        update(model, data, coordinates)
        result[frame] = positions(data, points)
    return result


def trajectory_jacobians(
    model: mujoco.MjModel, qpos: np.ndarray, points: BodyPoints
) -> tuple[np.ndarray, np.ndarray]:
    """World positions (T, P, 3) and Jacobians (T, P, 3, 34) over time, for coordinates of shape (T, 35)."""
    data = mujoco.MjData(model)
    where = np.empty((len(qpos), points.count, 3))
    slope = np.empty((len(qpos), points.count, 3, NUM_DOFS))
    for frame, coordinates in enumerate(qpos):
        update(model, data, coordinates)
        where[frame] = positions(data, points)
        slope[frame] = jacobian(data, points, where[frame])
    return where, slope
