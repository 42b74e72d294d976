"""Foot locking on faults that are put into a clean synthetic walk, and on the isaaclab wheel's clips."""

import numpy as np
import pytest

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.body_points import trajectory_positions
from sportsuite.motion.foot_contacts import (
    both_soles,
    difference_band,
    find_stances,
    floor_under,
    resting_place,
    sole_trajectory,
    touching_points,
    whittaker,
)
from sportsuite.motion.foot_lock import FootLockCfg, lock_feet
from sportsuite.motion.importers.isaaclab_npz import read_isaaclab_npz, wheel_clip_path
from sportsuite.motion.mujoco_model import humanoid_model, joint_limits, qpos_of, sole_points
from sportsuite.motion.report import clip_report, contact_slide
from sportsuite.motion.synth import stand, walk_cycle


@pytest.fixture(scope="module")
def walk():
    return walk_cycle(1.2, fps=30.0, seconds=2.0)


def soles_of(clip):
    place = trajectory_positions(humanoid_model(clip.character), qpos_of(clip), both_soles(clip.character))
    return sole_trajectory(place)


def spoiled(clip):
    """The clip with a drifting floor, shaky feet and a body that slides over the ground."""
    time = np.arange(clip.num_frames) / clip.fps
    root = clip.root_pos + np.stack((0.15 * time, 0.02 * np.sin(2.0 * time), 0.03 * time - 0.02), axis=1)
    joints = clip.joint_pos.copy()
    for name in ("right_ankle_y", "left_ankle_y"):
        joints[:, spec.JOINT_NAMES.index(name)] += 0.1 * np.sin(9.0 * time)
    return clip.with_(root_pos=root.astype(np.float32), joint_pos=joints.astype(np.float32))


def test_a_spoiled_walk_is_put_right(walk):
    bad = spoiled(walk)
    before, after = clip_report(bad), clip_report(lock_feet(bad))
    assert before.slide_mean > 0.1
    assert after.slide_mean < 0.05
    assert after.penetration < 0.01
    assert abs(after.float_height) < 0.005


def test_hinges_keep_their_limits_and_the_upper_body_its_angles(walk):
    bad = spoiled(walk)
    locked = lock_feet(bad)
    low, high = joint_limits()
    assert (locked.joint_pos >= low - 1e-5).all() and (locked.joint_pos <= high + 1e-5).all()
    upper = [index for index, name in enumerate(spec.JOINT_NAMES) if "shoulder" in name or "neck" in name]
    np.testing.assert_allclose(locked.joint_pos[:, upper], bad.joint_pos[:, upper], atol=1e-6)


def test_a_clean_walk_is_hardly_changed(walk):
    locked = lock_feet(walk)
    assert np.degrees(np.abs(locked.joint_pos - walk.joint_pos)).mean() < 0.5
    assert np.abs(locked.root_pos - walk.root_pos).max() < 0.05


@pytest.mark.parametrize(("name", "speed"), [("walk", 1.55), ("run", 3.5)])
def test_the_wheels_clips_stand_still_after_locking(name, speed):
    clip = read_isaaclab_npz(wheel_clip_path(name))
    locked = lock_feet(clip)
    report = clip_report(locked)
    assert clip_report(clip).slide_mean > 0.2
    assert report.slide_mean < 0.05
    assert report.penetration < 0.01
    assert report.beyond_limit < 1e-5
    assert report.root_speed_mean == pytest.approx(speed, abs=0.1)
    change = np.degrees(np.abs(locked.joint_pos - clip.joint_pos))
    assert change.mean() < 2.0


def test_the_wheels_walk_rises_by_six_centimetres():
    clip = read_isaaclab_npz(wheel_clip_path("walk"))
    floor = floor_under(soles_of(clip), clip.fps)
    assert floor[-1] - floor[0] == pytest.approx(0.06, abs=0.015)
    after = floor_under(soles_of(lock_feet(clip)), clip.fps)
    assert np.abs(after).max() < 0.01


def test_hands_are_lifted_out_of_the_ground():
    """A body that lies on its back, arms through the ground."""
    clip = stand(1.0, fps=30.0)
    joints = np.zeros_like(clip.joint_pos)
    for side in ("left", "right"):
        joints[:, spec.JOINT_NAMES.index(f"{side}_shoulder_y")] = 0.9
    half = np.float32(np.sqrt(0.5))
    lying = clip.with_(
        joint_pos=joints,
        root_pos=np.tile(np.float32([0.0, 0.0, 0.15]), (clip.num_frames, 1)),
        root_quat=np.tile(np.array([0.0, -half, 0.0, half]), (clip.num_frames, 1)),
    )
    assert clip_report(lying).body_penetration > 0.2
    freed = lock_feet(lying, FootLockCfg(floor="keep"))
    assert clip_report(freed).body_penetration < 0.01
    assert abs(freed.root_pos[:, 2] - 0.15).max() < 0.1, "the arms give way, not the body"


def test_a_rung_is_no_floor():
    """Half of the time on the ground, then 0.4 m up: the floor stays on the ground."""
    outline = sole_points("football") - [0.0, 0.0, sole_points("football")[0, 2]]
    height = np.where(np.arange(240) < 120, 0.0, 0.4)
    soles = np.broadcast_to(outline, (240, 2, 12, 3)) + np.stack((0 * height, 0 * height, height), -1)[:, None, None]
    assert np.abs(floor_under(soles, 60.0)).max() < 0.01


def test_contacts_begin_and_end_with_hysteresis():
    outline = sole_points("football") - [0.0, 0.0, sole_points("football")[0, 2]]
    height = np.array([0.1, 0.05, 0.03, 0.02, 0.0, 0.0, 0.02, 0.028, 0.035, 0.05, 0.1])
    soles = np.broadcast_to(outline, (11, 2, 12, 3)) + np.stack((0 * height, 0 * height, height), -1)[:, None, None]
    touching = touching_points(soles, 10.0)
    assert touching[:, 0, 0].tolist() == [False, False, False, True, True, True, True, True, False, False, False]


def test_a_turned_and_moved_outline_is_found_again():
    outline = sole_points("football")
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    place = outline[:, :2] @ turn.T + [2.0, -1.0]
    sole = np.concatenate((place, np.zeros((12, 1))), axis=1)[None]
    found = resting_place(sole, np.ones((1, 12), bool), outline[:, :2], 30.0)
    np.testing.assert_allclose(found, place, atol=1e-12)


def test_a_foot_that_turns_on_the_spot_has_a_pivot():
    outline = sole_points("football") - [0.0, 0.0, sole_points("football")[0, 2]]
    ball = outline[3, :2]
    soles = np.zeros((20, 2, 12, 3))
    soles[:, 1] = outline + [0.0, 5.0, 1.0]
    for frame, angle in enumerate(np.linspace(0.0, 1.5, 20)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        soles[frame, 0, :, :2] = (outline[:, :2] - ball) @ turn.T + ball
    touching = np.zeros((20, 2, 12), bool)
    touching[:, 0] = True
    (stance,) = find_stances(soles, touching, outline[:, :2], 20.0)
    assert stance.pivot == 3
    np.testing.assert_allclose(stance.target[3], ball, atol=1e-9)


def test_whittaker_keeps_lines_and_skips_gaps():
    line = 0.3 + 0.01 * np.arange(50.0)
    weight = np.ones(50)
    weight[20:30] = 0.0
    spoiled_line = line.copy()
    spoiled_line[20:30] = 9.0
    np.testing.assert_allclose(whittaker(spoiled_line, weight, 0.0, 100.0), line, atol=1e-9)


def test_difference_bands_are_those_of_the_dense_matrices():
    for order in (1, 2):
        dense = np.diff(np.eye(7), order, axis=0)
        product, band = dense.T @ dense, difference_band(7, order)
        for ahead in range(3):
            np.testing.assert_allclose(band[2 - ahead, ahead:], np.diagonal(product, ahead), atol=1e-12)


def test_slide_counts_only_points_on_the_ground():
    soles = np.zeros((3, 2, 2, 3))
    soles[:, 0, 0, 0] = [0.0, 0.1, 0.2]
    soles[:, 0, 1] = [[0.0, 0.0, 0.5]] * 3
    soles[:, 1, :, 2] = 1.0
    slide, feet = contact_slide(soles, 10.0)
    np.testing.assert_allclose(slide, [1.0, 1.0])
    assert feet.tolist() == [[True, False], [True, False]]


def test_bad_input_is_refused(walk):
    with pytest.raises(BadInputError, match="floor 'ground'"):
        lock_feet(walk, FootLockCfg(floor="ground"))
    short = walk.with_(root_pos=walk.root_pos[:2], root_quat=walk.root_quat[:2], joint_pos=walk.joint_pos[:2])
    with pytest.raises(BadInputError, match="needs at least 3"):
        lock_feet(short)
