import math

import numpy as np
import pytest

from sportsuite.viewer.camera import FARTHEST, MARGIN, NEAREST, FollowCamera, aim, in_view

FOV, ASPECT = math.radians(45.0), 16 / 9


def in_picture(eye, target, point):
    """Position of a point in the picture, -1 to 1 each way, by plain projection."""
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    ray = point - eye
    depth = ray @ forward
    assert depth > 0
    half = depth * math.tan(FOV / 2)
    return ray @ right / (half * ASPECT), ray @ np.cross(right, forward) / half


def test_in_view_by_hand():
    # 10 m away the picture is 2 * 10 * tan(22.5 deg) = 8.28 m high: 4.14 m up is its edge
    eye, forward = np.zeros(3), np.array([1.0, 0.0, 0.0])
    edge = 10 * math.tan(FOV / 2)
    for height, seen in ((edge - MARGIN - 0.01, True), (edge - MARGIN + 0.01, False)):
        assert in_view(eye, forward, np.array([[10.0, 0.0, height]]), FOV, ASPECT) is seen
        assert in_view(eye, forward, np.array([[10.0, 0.0, -height]]), FOV, ASPECT) is seen
    assert not in_view(eye, forward, np.array([[-10.0, 0.0, 0.0]]), FOV, ASPECT)


def test_aim_is_in_the_middle_also_across_half_a_turn():
    eye = np.zeros(3)
    middle = aim(eye, np.array([[-1.0, 0.1, 0.0], [-1.0, -0.1, 0.0]]))
    assert middle == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("speed", [10.0, 20.0, 30.0])
def test_character_and_ball_are_in_view_for_a_whole_lob(speed):
    angle, gravity, dt = math.radians(45.0), 9.81, 1 / 30
    reach, flight = speed**2 / gravity, 2 * speed * math.sin(angle) / gravity
    camera = FollowCamera(FOV, ASPECT, dt)
    distances = []
    for step in range(int(flight / dt)):
        t = step * dt
        ball = [reach - speed * math.cos(angle) * t, 0.5, speed * math.sin(angle) * t - gravity * t * t / 2 + 0.1]
        eye, target = camera.look(np.array([[0.0, 0.0, 0.9], ball]))
        for subject in ((0.0, 0.0, 0.0), (0.0, 0.0, 1.8), tuple(ball)):
            x, y = in_picture(eye, target, np.array(subject))
            assert abs(x) <= 1.0 and abs(y) <= 1.0, f"{subject} after {t:.2f} s"
        distances.append(np.linalg.norm(eye - [0.0, 0.0, 0.9]))
    assert max(distances) < FARTHEST
    # the character stays large enough to be seen: at least a tenth of the picture at the start
    assert distances[0] < 1.8 / (0.1 * 2 * math.tan(FOV / 2))


def test_a_lone_character_is_seen_from_near():
    camera = FollowCamera(FOV, ASPECT, 1 / 30)
    eye, target = camera.look(np.array([[5.0, -3.0, 0.9]]))
    assert np.linalg.norm(eye - [5.0, -3.0, 0.9]) == pytest.approx(NEAREST)
    assert in_picture(eye, target, np.array([5.0, -3.0, 0.9])) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_it_moves_smoothly_but_cuts_after_a_reset():
    camera = FollowCamera(FOV, ASPECT, 1 / 30)
    first, _ = camera.look(np.array([[0.0, 0.0, 0.9], [4.0, 0.0, 0.1]]))
    second, _ = camera.look(np.array([[0.0, 0.0, 0.9], [0.0, 4.0, 0.1]]))
    assert np.linalg.norm(second - first) < 1.0  # the ball jumped by a quarter turn
    camera.reset()
    third, _ = camera.look(np.array([[0.0, 0.0, 0.9], [0.0, 4.0, 0.1]]))
    assert np.linalg.norm(third - first) > 3.0
