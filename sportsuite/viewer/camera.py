"""A camera that keeps the character and the ball in view."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["FollowCamera", "aim", "in_view", "subjects_of"]

Vector = np.ndarray

MARGIN = 1.0
"""Space kept around every subject [m]: half a character and a bit (ours)."""

ELEVATION = math.radians(12.0)
"""How high above the character the camera stands, as an angle [rad] (ours: feet and ground stay visible)."""

SIDE_ANGLE = math.radians(35.0)
"""Angle between the line from the ball to the character and the view [rad]. Ours: from straight behind, the body hides
the touch; from the side, a lob from 40 m away would make the character a dot."""

NEAREST, FARTHEST = 4.0, 60.0
"""Distances of the camera from the character [m] (ours)."""

_NEAR_BALL = 1.5
"""Within this distance [m] the direction to the ball jumps around, and the camera keeps its own (ours)."""

_SMOOTHING_S = 0.5
"""Time constant of the camera's motion [s] (ours)."""

_STEP_BACK = 1.1
"""Factor by which distances are tried (ours)."""


@dataclass
class FollowCamera:
    """Follows a world's first character smoothly and turns so that all subjects are in view; after a reset it jumps.

    Args:
        vertical_fov: Vertical opening angle [rad].
        aspect: Width of the picture over its height.
        dt: Time between two pictures [s].
    """

    vertical_fov: float
    aspect: float
    dt: float
    _azimuth: float | None = field(default=None, init=False)
    _anchor: Vector = field(default_factory=lambda: np.zeros(3), init=False)
    _distance: float = field(default=0.0, init=False)

    def reset(self) -> None:
        """Forget where the camera was, so that it cuts to the new episode."""
        self._azimuth = None

    def look(self, subjects: Vector) -> tuple[Vector, Vector]:
        """Move on by one picture.

        Args:
            subjects: Positions in world coordinates [m], the character to follow first, shape (n, 3).

        Returns:
            Eye and target in world coordinates [m], each of shape (3,).
        """
        share = 1.0 if self._azimuth is None else 1.0 - math.exp(-self.dt / _SMOOTHING_S)
        wanted = self._wanted_azimuth(subjects)
        before = wanted if self._azimuth is None else self._azimuth
        self._azimuth = before + share * math.remainder(wanted - before, math.tau)
        self._anchor = self._anchor + share * (subjects[0] - self._anchor)
        needed = self._needed_distance(subjects)
        # it moves away at once, so that nothing leaves the picture, and comes closer slowly
        self._distance = max(needed, self._distance + share * (needed - self._distance))
        eye = self._eye(self._distance)
        return eye, eye + aim(eye, subjects)

    def _wanted_azimuth(self, subjects: Vector) -> float:
        if len(subjects) > 1:
            to_ball = subjects[-1, :2] - subjects[0, :2]
            if np.linalg.norm(to_ball) > _NEAR_BALL:
                return math.atan2(to_ball[1], to_ball[0]) + math.pi + SIDE_ANGLE
        return math.radians(-60.0) if self._azimuth is None else self._azimuth

    def _needed_distance(self, subjects: Vector) -> float:
        distance = NEAREST
        while distance < FARTHEST:
            eye = self._eye(distance)
            if in_view(eye, aim(eye, subjects), subjects, self.vertical_fov, self.aspect):
                return distance
            distance *= _STEP_BACK
        return FARTHEST

    def _eye(self, distance: float) -> Vector:
        azimuth, flat = self._azimuth or 0.0, math.cos(ELEVATION)
        away = np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(ELEVATION)])
        return self._anchor + distance * away


def aim(eye: Vector, subjects: Vector) -> Vector:
    """Return the direction in the middle of those to the subjects.

    Args:
        eye: The camera [m], shape (3,).
        subjects: Points [m], shape (n, 3).

    Returns:
        Unit vector, shape (3,).
    """
    rays = subjects - eye
    flat = np.linalg.norm(rays[:, :2], axis=1)
    yaw = np.arctan2(rays[:, 1], rays[:, 0])
    # relative to the first ray, so that the seam at half a turn doesn't matter
    turned = np.remainder(yaw - yaw[0] + math.pi, math.tau) - math.pi
    pitch = np.arctan2(rays[:, 2], flat)
    middle_yaw = yaw[0] + (turned.min() + turned.max()) / 2
    middle_pitch = (pitch.min() + pitch.max()) / 2
    return np.array(
        [
            math.cos(middle_pitch) * math.cos(middle_yaw),
            math.cos(middle_pitch) * math.sin(middle_yaw),
            math.sin(middle_pitch),
        ]
    )


def in_view(eye: Vector, forward: Vector, subjects: Vector, vertical_fov: float, aspect: float) -> bool:
    """Tell whether points are in a camera's picture, with :data:`MARGIN` around each.

    Args:
        eye: The camera [m], shape (3,).
        forward: Unit vector, shape (3,), not vertical.
        subjects: Points [m], shape (n, 3).
        vertical_fov: Vertical opening angle [rad].
        aspect: Width of the picture over its height.
    """
    right = np.cross(forward, np.array([0.0, 0.0, 1.0]))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    rays = subjects - eye
    half_height = rays @ forward * math.tan(vertical_fov / 2)
    wide = np.abs(rays @ right) + MARGIN <= half_height * aspect
    return bool((wide & (np.abs(rays @ up) + MARGIN <= half_height)).all())


def subjects_of(env: Any, world: int = 0) -> Vector:
    """Return the positions of a world's characters and ball.

    Args:
        env: The environment, not wrapped.
        world: Index of the world.

    Returns:
        World coordinates [m], shape (n, 3): the roots of the articulations, then the ball if the task has one.
    """
    assets = list(env.scene.articulations.values())
    ball = getattr(env.cfg, "ball_name", None)
    if ball is not None:
        assets.append(env.scene[ball])
    return np.stack([asset.data.root_link_pose_w.torch[world, :3].cpu().numpy() for asset in assets]).astype(float)
