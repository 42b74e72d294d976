"""Synthetic clips go as fast and where they should, on feet that don't slide."""

import math

import numpy as np
import pytest

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip_io import check_clip
from sportsuite.motion.gait import ankles
from sportsuite.motion.kinematics import clip_states
from sportsuite.motion.mujoco_model import sole_points
from sportsuite.motion.report import clip_report
from sportsuite.motion.synth import LICENCE, SOURCE, hang_pose, reach_pose, stand, turn_in_place, walk_cycle


def check_feet(clip):
    report = clip_report(clip)
    assert report.slide_mean < 0.03
    assert report.penetration < 0.005
    assert report.beyond_limit < 1e-5
    assert report.joint_speed_max < 20.0
    assert report.body_penetration == 0.0


@pytest.mark.parametrize(
    ("speed", "direction"),
    [(0.4, 0.0), (1.2, 0.0), (1.8, 0.0), (3.0, 0.0), (0.8, math.pi), (0.6, math.pi / 2), (1.0, -math.pi / 4)],
)
def test_walks_have_the_asked_velocity(speed, direction):
    clip = walk_cycle(speed, direction, seconds=2.0)
    velocity = (clip.root_pos[-1, :2] - clip.root_pos[0, :2]) / clip.duration
    np.testing.assert_allclose(velocity, [speed * math.cos(direction), speed * math.sin(direction)], atol=2e-3)
    check_feet(clip)
    check_clip(clip)
    assert (clip.source, clip.licence, clip.loop) == (SOURCE, LICENCE, True)


def test_the_end_of_a_loop_is_its_start():
    clip = walk_cycle(1.2, seconds=1.0)
    assert np.degrees(np.abs(clip.joint_pos[-1] - clip.joint_pos[0])).max() < 0.5
    assert abs(clip.root_pos[-1, 2] - clip.root_pos[0, 2]) < 1e-3


def test_left_and_right_are_half_a_stride_apart():
    clip = walk_cycle(1.0, seconds=1.0, fps=60.0)
    count = clip.num_frames - 1
    if count % 2 == 0:
        right = clip.joint_pos[:count, spec.JOINT_NAMES.index("right_knee")]
        left = clip.joint_pos[:count, spec.JOINT_NAMES.index("left_knee")]
        np.testing.assert_allclose(np.roll(right, count // 2), left, atol=0.05)


def test_fast_is_a_run_with_both_feet_in_the_air():
    walk, run = walk_cycle(1.5, seconds=1.0), walk_cycle(3.0, seconds=1.0)
    assert ("walk" in walk.labels, "run" in run.labels) == (True, True)
    assert clip_report(walk).contact == 1.0
    assert clip_report(run).contact < 0.9


def test_turning_turns_by_the_asked_angle():
    clip = turn_in_place(1.0, seconds=2.0)
    heading = 2.0 * np.arctan2(clip.root_quat[:, 2], clip.root_quat[:, 3])
    turned = np.unwrap(heading)[-1] - heading[0]
    assert turned == pytest.approx(1.0 * clip.duration, abs=0.01)
    assert np.abs(clip.root_pos[:, :2]).max() < 0.05
    check_feet(clip)


def test_an_arc_keeps_its_radius():
    clip = walk_cycle(1.0, turn_rate=0.5, seconds=3.0)
    distance = np.linalg.norm(clip.root_pos[:, :2] - [0.0, 2.0], axis=1)
    np.testing.assert_allclose(distance, 2.0, atol=0.03)
    check_feet(clip)


def test_standing_stands():
    clip = stand(1.0)
    assert walk_cycle(0.0, seconds=1.0).name == "stand"
    assert clip_report(clip).joint_speed_max < 0.2
    check_feet(clip)


@pytest.mark.parametrize("character", ["climbing", "football"])
def test_hands_and_feet_stay_on_the_wall(character):
    clip = hang_pose(character=character, seconds=0.5)
    body = clip_states(clip).body_pos.numpy()
    hands = body[:, [spec.BODY_NAMES.index(name) for name in spec.HANDS]]
    assert (np.abs(hands[..., 0] + 0.04) < 0.02).all()
    assert (hands[..., 2] > body[:, :1, 2]).all()
    assert (body[..., 0] < -0.02).all(), "nothing goes through the wall"
    assert clip_report(clip).beyond_limit < 1e-5


def test_a_reach_moves_one_hand_up():
    clip = reach_pose(hand="left")
    body = clip_states(clip).body_pos.numpy()
    left, right = (body[:, spec.BODY_NAMES.index(f"{side}_hand")] for side in ("left", "right"))
    assert left[-1, 2] - left[0, 2] == pytest.approx(0.25 * 1.0826, abs=0.02)
    assert np.abs(right - right[0]).max() < 0.01
    assert body[:, [spec.BODY_NAMES.index(f"{side}_lower_arm") for side in ("left", "right")], 0].max() < -0.02
    assert left[:, 0].min() < left[0, 0] - 0.05, "the hand leaves the wall on its way"


def test_the_ankle_of_a_sole_is_found():
    outline = sole_points("football")
    angle = 0.4
    turn = np.array([[math.cos(angle), 0, math.sin(angle)], [0, 1, 0], [-math.sin(angle), 0, math.cos(angle)]])
    sole = (outline @ turn.T + [1.0, 2.0, 3.0])[None]
    np.testing.assert_allclose(ankles(sole, outline), [[1.0, 2.0, 3.0]], atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"speed": -1.0}, "expected 0 to 4.5"),
        ({"speed": 3.0, "direction": math.pi}, "expected 0 to 2"),
        ({"speed": math.nan}, "expected a finite number"),
        ({"speed": 1.0, "fps": 5.0}, "at least 20"),
        ({"speed": 1.0, "turn_rate": 9.0}, "-3 to 3"),
        ({"speed": 1.0, "character": "giant"}, "unknown character"),
        ({"speed": 1.0, "seconds": math.inf}, "at most 100,000"),
        ({"speed": 0.0, "seconds": 1e9}, "at most 100,000"),
    ],
)
def test_impossible_walks_are_refused(arguments, text):
    with pytest.raises(BadInputError, match=text):
        walk_cycle(**arguments)


def test_impossible_holds_are_refused():
    with pytest.raises(BadInputError, match="hand 'both'"):
        reach_pose(hand="both")
    with pytest.raises(BadInputError, match="at least 3 frames"):
        hang_pose(seconds=0.0)
    with pytest.raises(BadInputError, match="at most 100,000"):
        reach_pose(seconds=math.nan)
