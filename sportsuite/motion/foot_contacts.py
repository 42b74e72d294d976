"""Where the feet of a clip stand: the floor under a recording, contact of each point of the sole, stances.

Recordings drift: in the walk clip of the isaaclab wheel the feet rise by 6 cm over 2.5 s. The floor is therefore a
curve over time, and contact is judged against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.linalg import solveh_banded

from sportsuite.characters import spec
from sportsuite.motion.body_points import BodyPoints, body_points, trajectory_positions
from sportsuite.motion.mujoco_model import body_spheres, sole_points
from sportsuite.motion.trajectory_solver import difference_band


@dataclass(frozen=True)
class ContactCfg:
    """When a point of the sole counts as standing. All numbers are ours, set on walks and runs at 30 to 120 fps.

    Attributes:
        enter_height: Contact begins below this height above the floor [m].
        leave_height: Contact ends above it [m].
        enter_speed: Contact begins below this speed [m/s].
        leave_speed: Contact ends above it [m/s].
        edge_tilt: A foot that tilts more stands on its lowest edge only [rad].
        edge_height: Points this little above the lowest one belong to that edge [m].
        shortest: Shorter contacts are dropped [s].
        gap: Shorter interruptions are filled [s].
        flat_tilt: A foot that tilts less shows where the floor is, if it is slow [rad].
        floor_time: The floor may bend over times longer than this [s].
        floor_above: A slow flat foot this far above the floor is held in the air [m].
        floor_gap: Further than this from any slow flat foot, other parts of the body show the floor [s].
        lying_share: Weight of those against a foot's.
    """

    enter_height: float = 0.025
    leave_height: float = 0.03
    enter_speed: float = 0.6
    leave_speed: float = 1.0
    edge_tilt: float = 0.12
    edge_height: float = 0.005
    shortest: float = 0.06
    gap: float = 0.07
    flat_tilt: float = 0.25
    floor_time: float = 1.5
    floor_above: float = 0.03
    floor_gap: float = 0.5
    lying_share: float = 0.3


@dataclass(frozen=True)
class Stance:
    """One foot on one spot.

    Attributes:
        foot: Index in :data:`~sportsuite.characters.spec.FEET`.
        start: First frame.
        stop: One past the last frame.
        touching: Which points of the sole touch, shape (stop - start, P), bool.
        target: Where the P points of the sole rest, shape (P, 2) [m].
        pivot: Index of the one point that rests while the foot turns about it; None where the whole sole rests.
    """

    foot: int
    start: int
    stop: int
    touching: np.ndarray
    target: np.ndarray
    pivot: int | None


def both_soles(character: str, foot: str = "boot") -> BodyPoints:
    """Outline of both soles as body points: first the P points of the right foot, then those of the left."""
    return body_points([(body, place) for body in spec.FEET for place in sole_points(character, foot)])


def body_heights(model: mujoco.MjModel, qpos: np.ndarray, character: str, arms: bool = True) -> np.ndarray:
    """Height of the lowest collider other than the feet, shape (T,) [m]; ``arms=False`` leaves out arms and hands."""
    spheres = [sphere for sphere in body_spheres(character) if arms or sphere[0] not in spec.ARMS]
    points = body_points([(body, centre) for body, centre, _ in spheres])
    radii = np.array([radius for _, _, radius in spheres])
    return (trajectory_positions(model, qpos, points)[..., 2] - radii).min(-1)


def sole_trajectory(position: np.ndarray) -> np.ndarray:
    """Reshape positions of :func:`both_soles` from (T, 2 P, 3) to (T, 2, P, 3)."""
    return position.reshape(len(position), len(spec.FEET), -1, 3)


def point_speeds(soles: np.ndarray, fps: float) -> np.ndarray:
    """Speed of points over time by central differences: positions (T, ..., 3) to (T, ...) [m/s]."""
    return np.linalg.norm(np.gradient(soles, 1.0 / fps, axis=0), axis=-1)


def floor_under(
    soles: np.ndarray, fps: float, cfg: ContactCfg | None = None, body: np.ndarray | None = None
) -> np.ndarray:
    """Height of the floor over time, from slow and flat feet.

    A Whittaker smoother (Eilers 2003, doi:10.1021/ac034173t) through the mean heights of slow flat soles, reweighted
    so that feet held in the air or standing on something hardly count. Far from such frames, as while crawling, the
    lowest point of soles and body counts instead.

    Args:
        soles: Points of the soles, shape (T, 2, P, 3) [m].
        fps: Frames per second [Hz].
        cfg: Thresholds.
        body: Lowest height of the rest of the body, shape (T,) [m]; only the soles count without it.

    Returns:
        Shape (T,) [m].
    """
    cfg = cfg or ContactCfg()
    standing = (_tilt(soles) < cfg.flat_tilt) & (point_speeds(soles, fps).max(-1) < cfg.enter_speed)
    lowest = soles[..., 2].min((-2, -1))
    lowest = lowest if body is None else np.minimum(lowest, body)
    lying = ~_near(standing.any(-1), round(cfg.floor_gap * fps))
    height = np.concatenate((soles[..., 2].mean(-1), lowest[:, None]), axis=1)
    share = np.concatenate((standing, cfg.lying_share * lying[:, None]), axis=1)
    floor = np.full(len(soles), np.percentile(height[share > 0.0], 5.0))
    # from a wide band to a narrow one: a drifting floor is followed, rungs and steps are left out
    for above in np.linspace(3.0, 1.0, 12) * cfg.floor_above:
        weight = np.where(height - floor[:, None] > above, 1e-4, 1.0) * share
        aim = (weight * height).sum(1) / np.maximum(weight.sum(1), 1e-9)
        floor = whittaker(aim, weight.sum(1), (0.1 * fps) ** 2, (cfg.floor_time * fps) ** 4)
    return floor


def _near(active: np.ndarray, reach: int) -> np.ndarray:
    """Frames at most ``reach`` frames from an active one, shape (T,)."""
    return np.convolve(active, np.ones(2 * reach + 1))[reach : reach + len(active)] > 0.5


def whittaker(value: np.ndarray, weight: np.ndarray, slope_cost: float, bend_cost: float) -> np.ndarray:
    """Smooth a weighted series (T,): costs on squared first and second differences, in frames."""
    count = len(value)
    if count < 3:
        return np.full(count, np.average(value, weights=weight + 1e-12))
    band = np.zeros((3, count))
    band[2] = weight
    for order, cost in ((1, slope_cost), (2, bend_cost)):
        band += cost * difference_band(count, order)
    return solveh_banded(band, weight * value)


def touching_points(soles: np.ndarray, fps: float, cfg: ContactCfg | None = None) -> np.ndarray:
    """Which points of the soles stand on the ground z = 0, with hysteresis in height and speed.

    Args:
        soles: Points of the soles above the floor, shape (T, 2, P, 3) [m].
        fps: Frames per second [Hz].
        cfg: Thresholds.

    Returns:
        Shape (T, 2, P), bool.
    """
    cfg = cfg or ContactCfg()
    # a foot that tips over sinks on one side before it is corrected: the other side is that much higher than it looks
    height = soles[..., 2] - np.minimum(soles[..., 2].min(-1, keepdims=True), 0.0)
    speed = point_speeds(soles, fps)
    begins = (height < cfg.enter_height) & (speed < cfg.enter_speed)
    lasts = (height < cfg.leave_height) & (speed < cfg.leave_speed)
    edge = soles[..., 2] - soles[..., 2].min(-1, keepdims=True) < cfg.edge_height
    reachable = edge | (_tilt(soles) < cfg.edge_tilt)[..., None]
    begins, lasts = begins & reachable, lasts & reachable
    touching = _reached(begins, lasts) | _reached(begins[::-1], lasts[::-1])[::-1]
    touching = ~_drop_short(~touching, round(cfg.gap * fps), inner_only=True)
    return _drop_short(touching, round(cfg.shortest * fps), inner_only=False)


def _tilt(soles: np.ndarray) -> np.ndarray:
    """Angle of the soles against the ground, (T, 2, P, 3) to (T, 2) [rad]."""
    extent = np.linalg.norm(np.ptp(soles[..., :2], axis=-2), axis=-1)
    return np.arctan2(np.ptp(soles[..., 2], axis=-1), extent)


def _reached(begins: np.ndarray, lasts: np.ndarray) -> np.ndarray:
    """Frames that follow a ``begins`` frame without leaving ``lasts``, along the first axis."""
    state = np.zeros_like(begins)
    state[0] = begins[0]
    for frame in range(1, len(begins)):
        state[frame] = begins[frame] | (state[frame - 1] & lasts[frame])
    return state


def runs(active: np.ndarray) -> list[tuple[int, int]]:
    """Start and stop (exclusive) of the true stretches of a series (T,)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(np.int8)))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _drop_short(active: np.ndarray, least: int, inner_only: bool) -> np.ndarray:
    """Clear true stretches shorter than ``least`` frames along the first axis; those at the ends stay on demand."""
    flat = active.reshape(len(active), -1).copy()
    for column in range(flat.shape[1]):
        for start, stop in runs(flat[:, column]):
            at_end = start == 0 or stop == len(flat)
            if stop - start < least and not (inner_only and at_end):
                flat[start:stop, column] = False
    return flat.reshape(active.shape)


def find_stances(
    soles: np.ndarray, touching: np.ndarray, outline: np.ndarray, fps: float, tolerance: float = 0.05
) -> list[Stance]:
    """Divide the contacts of each foot into stances, each with one resting place of the sole.

    A foot whose sole moves by more than ``tolerance`` turns about one of its points; one that has no such point has
    stepped or slid, and is divided where it is fastest.

    Args:
        soles: Points of the soles, shape (T, 2, P, 3) [m].
        touching: Contact of each point, shape (T, 2, P).
        outline: The sole laid flat, shape (P, 2) [m].
        fps: Frames per second [Hz].
        tolerance: Largest movement of a resting point [m] (ours).
    """
    stances = []
    for foot in range(soles.shape[1]):
        pending = runs(touching[:, foot].any(-1))[::-1]
        while pending:
            start, stop = pending.pop()
            piece, touch = soles[start:stop, foot], touching[start:stop, foot]
            if stop - start <= 2:
                stances.append(Stance(foot, start, stop, touch, resting_place(piece, touch, outline, fps), None))
                continue
            target, kept = _settled(piece, touch, outline, fps, tolerance)
            place = (target, None) if kept.sum() > 0.7 * touch.sum() else _pivot_place(piece, touch, target, tolerance)
            if place is not None:
                stances.append(Stance(foot, start, stop, kept if place[1] is None else touch, *place))
            else:
                cut = start + _fastest(piece, touch, fps)
                pending += [(cut, stop), (start, cut)]
    return stances


def _settled(
    sole: np.ndarray, touch: np.ndarray, outline: np.ndarray, fps: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Resting place (P, 2) of a stance and the contacts (T, P) within ``tolerance`` of it: not those still moving."""
    target = resting_place(sole, touch, outline, fps)
    miss = np.where(touch, np.linalg.norm(sole[..., :2] - target, axis=-1), 0.0).max(-1)
    return target, touch & (miss < tolerance)[:, None]


def _pivot_place(
    sole: np.ndarray, touch: np.ndarray, target: np.ndarray, tolerance: float
) -> tuple[np.ndarray, int] | None:
    """The resting place moved to the point about which the foot turns; None if no point stays within ``tolerance``."""
    pivot, centre, reach = _pivot(sole[..., :2], touch)
    return (target + (centre - target[pivot]), pivot) if reach < tolerance else None


def _fastest(sole: np.ndarray, touch: np.ndarray, fps: float) -> int:
    """Inner frame in which the touching points move fastest on average."""
    speed = np.where(touch, point_speeds(sole, fps), 0.0).sum(-1) / np.maximum(touch.sum(-1), 1)
    return 1 + int(np.argmax(speed[1:-1]))


def _pivot(place: np.ndarray, touch: np.ndarray) -> tuple[int, np.ndarray, float]:
    """Point that touches longest with least movement: its index, its mean place (2,) and its reach about it [m]."""
    best = (0, place[0, 0], np.inf)
    enough = touch.sum(0) >= 0.8 * touch.sum(0).max()
    for point in np.flatnonzero(enough):
        where = place[touch[:, point], point]
        reach = np.linalg.norm(where - where.mean(0), axis=-1).max()
        if reach < best[2]:
            best = (int(point), where.mean(0), float(reach))
    return best


def resting_place(sole: np.ndarray, touching: np.ndarray, outline: np.ndarray, fps: float) -> np.ndarray:
    """Flat place of the rigid sole that fits its touching points best, shape (P, 2) [m].

    Rotation about the vertical and translation by least squares (Kabsch's method in the plane); slow points count more.

    Args:
        sole: Points of one sole, shape (T, P, 3) [m].
        touching: Which of them count, shape (T, P).
        outline: The sole laid flat, shape (P, 2) [m].
        fps: Frames per second [Hz].
    """
    speed = point_speeds(sole, fps) if len(sole) > 1 else np.zeros(touching.shape)
    weight = touching / (0.1 + speed) ** 2  # 0.1 m/s is the noise of standing feet
    total = weight.sum()
    own = (weight[..., None] * outline).sum((0, 1)) / total
    seen = (weight[..., None] * sole[..., :2]).sum((0, 1)) / total
    one, two = outline - own, sole[..., :2] - seen
    cosine = (weight * (one * two).sum(-1)).sum()
    sine = (weight * (one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0])).sum()
    angle = np.arctan2(sine, cosine)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (outline - own) @ turn.T + seen
