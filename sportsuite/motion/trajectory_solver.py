"""One Gauss-Newton step for a whole trajectory at once.

Frames are only coupled by the second difference over time, so the system is banded and its cost grows with the number
of frames, not with its cube.
"""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.linalg import solveh_banded

from sportsuite.motion.mujoco_model import ROOT_DOFS


def difference_band(count: int, order: int) -> np.ndarray:
    """Upper band form (3, T) of the matrix ``D'D`` with D the first or second difference of a series of length T."""
    kernel = np.array([-1.0, 1.0]) if order == 1 else np.array([1.0, -2.0, 1.0])
    band = np.zeros((3, count))
    rows = count - order
    for one in range(order + 1):
        for two in range(one, order + 1):
            band[2 - (two - one), two : two + rows] += kernel[one] * kernel[two]
    return band


def apply_band(band: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Product of a symmetric matrix in upper band form (3, T) and values (T, N)."""
    result = band[2][:, None] * value
    for ahead in (1, 2):
        result[:-ahead] += band[2 - ahead][ahead:, None] * value[ahead:]
        result[ahead:] += band[2 - ahead][ahead:, None] * value[:-ahead]
    return result


def banded_step(matrix: np.ndarray, right: np.ndarray, bends: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Solve ``(matrix + cost * bends) step = right``.

    Args:
        matrix: Symmetric positive definite block of each frame, shape (T, N, N).
        right: Right-hand side, shape (T, N).
        bends: Coupling over time in upper band form (3, T), see :func:`difference_band`.
        cost: Factor on it for each coordinate, shape (N,).

    Returns:
        Shape (T, N).
    """
    count, block = right.shape
    width = 2 * block
    band = np.zeros((width + 1, count, block))
    for column in range(block):
        band[width - column : width + 1, :, column] = matrix[:, : column + 1, column].T
    for ahead in range(3):
        band[width - ahead * block] += bends[2 - ahead][:, None] * cost
    step = solveh_banded(band.reshape(width + 1, -1), right.ravel(), overwrite_ab=True, check_finite=False)
    return step.reshape(count, block)


def push_back(
    matrix: np.ndarray, right: np.ndarray, hinges: np.ndarray, low: np.ndarray, high: np.ndarray, wall: float
) -> None:
    """Add a one-sided cost for hinges beyond their limits to a system whose last coordinates they are, in place.

    Args:
        matrix: Blocks (T, N, N).
        right: Right-hand side (T, N).
        hinges: Angles (T, H) of the last H coordinates [rad].
        low: Lower limits (H,) [rad].
        high: Upper limits (H,) [rad].
        wall: Weight per squared radian.
    """
    back = np.clip(hinges, low, high) - hinges
    columns = np.arange(matrix.shape[-1] - hinges.shape[1], matrix.shape[-1])
    matrix[:, columns, columns] += wall * (back != 0.0)
    right[:, columns] += wall * back


def advance(qpos: np.ndarray, step: np.ndarray, hinges: np.ndarray) -> None:
    """Apply a step to MuJoCo coordinates in place.

    Args:
        qpos: Coordinates, shape (T, 35).
        step: Root translation (world) and rotation (pelvis frame), then the hinges, shape (T, 6 + H).
        hinges: Which of the 28 hinges those are, shape (H,).
    """
    qpos[:, :3] += step[:, :3]
    for quat, turn in zip(qpos[:, 3:7], np.ascontiguousarray(step[:, 3:6]), strict=True):
        mujoco.mju_quatIntegrate(quat, turn, 1.0)
    qpos[:, 7 + hinges] += step[:, ROOT_DOFS:]


def deviation(qpos: np.ndarray, start: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """Step that leads from ``start`` to ``qpos``, both (T, 35): shape (T, 6 + H), see :func:`advance`."""
    result = np.empty((len(qpos), ROOT_DOFS + len(hinges)))
    result[:, :3] = qpos[:, :3] - start[:, :3]
    turn, inverse, relative = np.zeros(3), np.zeros(4), np.zeros(4)
    for frame in range(len(qpos)):
        mujoco.mju_negQuat(inverse, start[frame, 3:7])
        mujoco.mju_mulQuat(relative, inverse, qpos[frame, 3:7])
        mujoco.mju_quat2Vel(turn, relative, 1.0)
        result[frame, 3:6] = turn
    result[:, ROOT_DOFS:] = qpos[:, 7 + hinges] - start[:, 7 + hinges]
    return result
