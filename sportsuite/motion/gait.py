"""Foot placement and timing of synthetic gaits: where each foot stands, how it rolls and how it swings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sportsuite.characters import spec

_GRAVITY = 9.81
_FROUDE = 0.5
"""Squared speed over gravity and leg length at which walking turns into running (Alexander 1989)."""


@dataclass(frozen=True)
class Gait:
    """A steady gait.

    Attributes:
        speed: Speed of the pelvis [m/s].
        direction: Where it goes against where it faces [rad].
        turn_rate: How fast it turns left [rad/s].
        period: Time of a stride, two steps [s].
        duty: Share of it that a foot stands.
        half_width: Sideways distance of the feet from the middle at scale 1 [m].
        clearance: Largest height of the swinging sole at scale 1 [m].
        strike: Pitch of the sole when it lands, toes down positive [rad].
        lift: Pitch when it leaves the ground [rad].
        behind: How far behind the pelvis' middle of the stance the foot stands, as it rolls forward later [m].
        running: Whether there is a flight phase.
    """

    speed: float
    direction: float
    turn_rate: float
    period: float
    duty: float
    half_width: float
    clearance: float
    strike: float
    lift: float
    behind: float = 0.0
    running: bool = False


def gait_for(speed: float, direction: float, turn_rate: float, size: float, fps: float) -> Gait:
    """Choose timing and foot placement for a speed; the stride lasts a whole number of frames.

    Stride frequency is Grieve & Gear's 64.8 v^0.57 per minute for v in statures per second, not below 0.6 Hz, and
    higher sideways; runs follow 1.3 Hz + 0.08 v (ours, within published ranges). Duty factors fall from 0.7 (slow
    walk) to 0.6 (walk) and 0.32 (run) (ours).
    """
    stature = size * (spec.HEAD_TOP + spec.ANKLE_DROP + spec.SOLE_DROP["boot"])
    running = speed**2 > _FROUDE * _GRAVITY * size * spec.ANKLE_DROP
    forward, sideways = math.cos(direction), abs(math.sin(direction))
    frequency = max(0.75, 64.8 / 60.0 * (speed / stature) ** 0.57) * (1.0 + 0.6 * sideways * min(1.0, speed))
    if forward < -0.5:
        frequency *= 1.15
    frequency = 1.3 + 0.08 * speed if running else frequency
    period = round(fps / frequency) / fps
    duty = max(0.3, 0.5 - 0.05 * speed) if running else max(0.6, 0.68 - 0.05 * speed)
    side_reach = 0.5 * speed * sideways * duty * period / size
    pace = forward * min(1.0, speed / 1.3)
    return Gait(
        speed,
        direction,
        turn_rate,
        period,
        duty,
        # feet must not meet when they swing past each other sideways or turn
        half_width=max(0.05 if running else 0.075, side_reach + 0.06, 0.09 if abs(turn_rate) > 1e-3 else 0.0),
        clearance=0.12 if running else 0.05,
        strike=(-0.15 if running else -0.3) * pace if pace > 0 else -0.25 * pace,
        lift=0.85 * pace if pace > 0 else 0.15 * pace,
        behind=(0.10 if running else 0.08) * size * max(pace, 0.0),
        running=running,
    )


def body_path(gait: Gait, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the middle of the body is, (T, 2) [m], and where it faces, (T,) [rad]: a line or an arc from the origin."""
    yaw = gait.turn_rate * times
    if abs(gait.turn_rate) < 1e-9:
        ways = gait.speed * times[:, None] * np.array([math.cos(gait.direction), math.sin(gait.direction)])
        return ways, yaw
    radius = gait.speed / gait.turn_rate
    heading = gait.direction + yaw
    x = radius * (np.sin(heading) - math.sin(gait.direction))
    y = radius * (math.cos(gait.direction) - np.cos(heading))
    return np.stack((x, y), axis=1), yaw


def foot_motion(gait: Gait, times: np.ndarray, side: float, outline: np.ndarray) -> np.ndarray:
    """Where the points of a sole are over time.

    Args:
        gait: The gait.
        times: Moments (T,) [s]; the right foot lands at time 0.
        side: -1 for the right foot, 1 for the left, which lands half a stride later.
        outline: Sole in the foot's frame, shape (P, 3) [m].

    Returns:
        Shape (T, P, 3) [m]. While the foot stands, the edge on which it stands doesn't move.
    """
    stride = times / gait.period - (0.0 if side < 0 else 0.5)
    number = np.floor(stride)
    share = stride - number
    result = np.empty((len(times), len(outline), 3))
    for frame in range(len(times)):
        if share[frame] <= gait.duty:
            result[frame] = _standing(gait, number[frame], side, share[frame] / gait.duty, outline)
        else:
            moment = (share[frame] - gait.duty) / (1.0 - gait.duty)
            result[frame] = _swinging(gait, number[frame], side, moment, outline)
    return result


def _foothold(gait: Gait, number: float, side: float) -> tuple[np.ndarray, float]:
    """Place (2,) and heading of a stance: beside the body half way through it."""
    middle = (number + 0.5 * gait.duty + (0.0 if side < 0 else 0.5)) * gait.period
    place, yaw = body_path(gait, np.array([middle]))
    left = np.array([-math.sin(yaw[0]), math.cos(yaw[0])])
    back = gait.behind * np.array([left[1], -left[0]])
    return place[0] + side * gait.half_width * left - back, float(yaw[0])


def _standing(gait: Gait, number: float, side: float, moment: float, outline: np.ndarray) -> np.ndarray:
    """Sole at a moment (0 to 1) of a stance: it tips about its hind or front edge."""
    place, yaw = _foothold(gait, number, side)
    return _tipped(outline, _roll(gait, moment), place, yaw)


def _roll(gait: Gait, moment: float) -> float:
    """Pitch of a standing sole: falls flat in the first 15 %, rises in the last 40 %."""
    if moment < 0.15:
        return gait.strike * (1.0 - moment / 0.15) ** 2
    return gait.lift * max(0.0, (moment - 0.6) / 0.4) ** 2


def _tipped(outline: np.ndarray, pitch: float, place: np.ndarray, yaw: float) -> np.ndarray:
    """Sole of a given pitch whose lower edge lies where it lies when the sole is flat at a place."""
    edge = outline[outline[:, 0].argmax() if pitch > 0.0 else outline[:, 0].argmin()]
    cosine, sine = math.cos(pitch), math.sin(pitch)
    along, up = outline[:, 0] - edge[0], outline[:, 2] - edge[2]
    x = edge[0] + cosine * along + sine * up
    z = -sine * along + cosine * up
    turned = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]) @ np.stack((x, outline[:, 1]))
    return np.concatenate((turned.T + place, z[:, None]), axis=1)


def _swinging(gait: Gait, number: float, side: float, moment: float, outline: np.ndarray) -> np.ndarray:
    """Sole at a moment (0 to 1) of a swing: off the ground at once, then quickly over it."""
    (before, yaw_before), (after, yaw_after) = (_foothold(gait, number + step, side) for step in (0.0, 1.0))
    # a runner's foot comes to rest late, under the body that follows fast; a walker's by minimum jerk
    runner = moment**3 * (4.0 - 3.0 * moment)
    way = runner if gait.running else moment**3 * (10.0 - 15.0 * moment + 6.0 * moment**2)
    fold = (1.0 if gait.running else 0.35) * math.cos(gait.direction) * min(1.0, gait.speed / 1.3)
    pitch = gait.lift + way * (gait.strike - gait.lift) + fold * math.sin(math.pi * moment) ** 2 * (1.0 - moment)
    start = _tipped(outline, gait.lift, before, yaw_before)
    end = _tipped(outline, gait.strike, after, yaw_after)
    sole = _tipped(outline, pitch, np.zeros(2), yaw_before + way * (yaw_after - yaw_before))
    middle = start.mean(0) + way * (end.mean(0) - start.mean(0))
    sole[:, :2] += middle[:2] - sole[:, :2].mean(0)
    height = gait.clearance * math.sin(math.pi * moment) * (1.0 + (1.0 - moment) * (1.0 if gait.running else 0.0))
    sole[:, 2] += height - sole[:, 2].min()
    return sole


def pelvis_heights(
    gait: Gait,
    times: np.ndarray,
    place: np.ndarray,
    yaw: np.ndarray,
    feet: np.ndarray,
    outline: np.ndarray,
    size: float,
) -> np.ndarray:
    """Height of the pelvis over time (T,) [m]: one wave per step, as high as the standing legs reach.

    Walks are highest over the standing leg, runs lowest; the wave is 4 cm and 6 cm high at most.

    Args:
        gait: The gait.
        times: Moments (T,) [s].
        place: Pelvis over the ground, (T, 2) [m].
        yaw: Its heading (T,) [rad].
        feet: Soles of right and left foot, (T, 2, P, 3) [m].
        outline: Sole in the foot's frame, (P, 3) [m].
        size: Scale of the character.
    """
    leg = 0.99 * size * spec.ANKLE_DROP
    most = np.full(len(times), np.inf)
    for index, side in enumerate((-1.0, 1.0)):
        hip = place + side * size * 0.084887 * np.stack((-np.sin(yaw), np.cos(yaw)), axis=1)
        ankle = ankles(feet[:, index], outline)
        far = np.linalg.norm(ankle[:, :2] - hip, axis=1)
        reach = ankle[:, 2] + np.sqrt(np.maximum(leg**2 - far**2, 0.0))
        stride = times / gait.period - (0.0 if side < 0 else 0.5)
        stands = stride - np.floor(stride) <= gait.duty
        most = np.where(stands, np.minimum(most, reach), most)
    height = size * ((0.06 if gait.running else 0.04) * min(1.0, gait.speed / 1.3))
    # mid-stance of the right leg is at half its duty, and there are two steps per stride
    wave = np.cos(4.0 * math.pi * (times / gait.period - 0.5 * gait.duty)) * (-0.5 if gait.running else 0.5) * height
    return wave + (most - wave)[np.isfinite(most)].min()


def ankles(sole: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Ankle (origin of the foot's frame) that belongs to the points of a sole: (T, P, 3) to (T, 3) [m]."""
    # heel to toe and right to left span the sole; the ankle lies off it along their normal
    heel, toe = outline[:, 0].argmin(), outline[:, 0].argmax()
    right, left = outline[:, 1].argmin(), outline[:, 1].argmax()
    forward = sole[:, toe] - sole[:, heel]
    across = sole[:, left] - sole[:, right]
    own = np.stack((outline[toe] - outline[heel], outline[left] - outline[right]))
    up = np.cross(forward, across)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    shares = np.linalg.lstsq(own[:, :2].T, -outline[heel, :2], rcond=None)[0]
    return sole[:, heel] + shares[0] * forward + shares[1] * across - outline[heel, 2] * up
