"""Rates, lengths, heights and sizes of motions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.kinematics import clip_states
from sportsuite.motion.resample import (
    drop_repeated_frames,
    onto_even_times,
    repeats,
    resample_clip,
    resample_motion,
    scale_motion,
    set_character,
    shift_height,
    trim,
)
from sportsuite.motion.source import SourceMotion
from tests.motion.samples import angle_between, make_clip


def walking(fps: float, seconds: float, seed: int = 0, turn: float = 1.0) -> Clip:
    """A smooth motion: forwards at 1 to 3 m/s with a sway below 1 Hz, turning by ``turn`` rad/s."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * fps) + 1) / fps
    phase = rng.uniform(0.0, 2.0 * np.pi, 40)
    beat = 2.0 * np.pi * rng.uniform(0.2, 1.0, 40)
    waves = np.sin(beat * time[:, None] + phase)
    half = 0.5 * turn * time
    root = np.stack(
        (rng.uniform(1.0, 3.0) * time + 0.05 * waves[:, 0], 0.05 * waves[:, 1], 0.9 + 0.03 * waves[:, 2]), 1
    )
    return Clip(
        name="walking",
        fps=fps,
        joint_names=spec.JOINT_NAMES,
        root_pos=root,
        root_quat=np.stack((0 * half, 0 * half, np.sin(half), np.cos(half)), axis=1),
        joint_pos=0.5 * waves[:, 3 : 3 + spec.NUM_JOINTS],
        character="football",
        source="made for a test",
        licence="CC0",
    )


def as_source(clip: Clip, ball: ObjectTrack | None = None) -> SourceMotion:
    """The same motion as importers would return it."""
    states = clip_states(clip)
    return SourceMotion(
        name=clip.name,
        fps=clip.fps,
        skeleton="amp_humanoid",
        joint_names=spec.BODY_NAMES,
        parents=spec.PARENTS,
        position=states.body_pos.double().numpy(),
        quat=states.body_quat.double().numpy(),
        source=clip.source,
        licence=clip.licence,
        ball=ball,
    )


def peak_speed(positions: np.ndarray, fps: float) -> float:
    return float(np.linalg.norm(np.gradient(positions, 1.0 / fps, axis=0), axis=1).max())


@settings(deadline=None, max_examples=60)
@given(
    fps=st.floats(30.0, 240.0),
    new=st.floats(24.0, 500.0),
    seconds=st.floats(1.0, 5.0),
    seed=st.integers(0, 10**6),
)
def test_any_ratio_keeps_duration_and_peak_speed(fps: float, new: float, seconds: float, seed: int) -> None:
    clip = walking(fps, seconds, seed)
    changed = resample_clip(clip, new)
    assert changed.fps == new
    assert 0.0 <= clip.duration - changed.duration + 1e-6 < 1.0 / new + 2e-6
    assert peak_speed(changed.root_pos, new) == pytest.approx(peak_speed(clip.root_pos, fps), rel=0.02)
    motion = as_source(clip)
    moved = resample_motion(motion, new)
    assert len(moved.position) == changed.num_frames
    assert peak_speed(moved.position[:, 0], new) == pytest.approx(peak_speed(clip.root_pos, fps), rel=0.02)
    assert np.allclose(np.linalg.norm(moved.quat, axis=-1), 1.0)


def test_values_between_frames_are_those_of_the_motion() -> None:
    coarse, fine = walking(30.0, 3.0), walking(90.0, 3.0)
    changed = resample_clip(coarse, 90.0)
    np.testing.assert_allclose(changed.root_pos, fine.root_pos, atol=1e-4)
    np.testing.assert_allclose(changed.joint_pos, fine.joint_pos, atol=1e-3)
    assert angle_between(changed.root_quat, fine.root_quat) < 1e-5


def test_fast_turns_are_not_cut_short() -> None:
    # 1200 deg/s at 30 Hz are 40 degrees per frame: chords between frames would be off by 2 degrees
    changed = resample_clip(walking(30.0, 2.0, turn=np.radians(1200.0)), 120.0)
    assert angle_between(changed.root_quat, walking(120.0, 2.0, turn=np.radians(1200.0)).root_quat) < np.radians(0.2)


def test_decimating_does_not_alias() -> None:
    clip = walking(120.0, 4.0)
    time = np.arange(clip.num_frames) / 120.0
    # 50 Hz, sampled at 30 Hz, would look like 10 Hz of the same height
    noisy = clip.with_(root_pos=clip.root_pos + 0.02 * np.sin(2.0 * np.pi * 50.0 * time)[:, None])
    error = resample_clip(noisy, 30.0).root_pos - resample_clip(clip, 30.0).root_pos
    assert np.abs(error[10:-10]).max() < 1e-3


def test_flips_by_180_degrees_stay_unit_quaternions() -> None:
    quat = np.tile([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], (3, 1))
    changed = resample_clip(make_clip(12).with_(root_quat=quat), 77.0)
    assert np.allclose(np.linalg.norm(changed.root_quat, axis=1), 1.0)


def test_the_ball_keeps_its_bounces_and_contacts() -> None:
    clip = walking(60.0, 1.0)
    height = np.abs(np.arange(61) - 30) / 30.0
    track = ObjectTrack(
        np.stack((0 * height, 0 * height, height), 1), np.tile([0.0, 0.0, 0.0, 1.0], (61, 1)), height < 0.01
    )
    changed = resample_clip(clip.with_(ball=track), 30.0)
    # a filter or a spline would round the kink at the ground off, or go through it
    np.testing.assert_allclose(changed.ball.position[:, 2], np.abs(np.arange(31) - 15) / 15.0, atol=1e-12)
    assert np.flatnonzero(changed.ball.contact).tolist() == [15]


@pytest.mark.parametrize("rate", [0.0, -30.0, np.nan, np.inf, 0.1, 1e9])
def test_impossible_rates_are_refused(rate: float) -> None:
    with pytest.raises(BadInputError, match="rate"):
        resample_clip(walking(30.0, 1.0), rate)


def test_trim_keeps_the_frames_between_both_times() -> None:
    clip = walking(30.0, 2.0).with_(loop=True)
    piece = trim(clip, 0.5, 1.0)
    assert piece.num_frames == 16 and not piece.loop
    np.testing.assert_array_equal(piece.root_pos, clip.root_pos[15:31])
    assert trim(clip) is clip
    assert len(trim(as_source(clip), 1.9).position) == 4


@pytest.mark.parametrize(("start", "end"), [(1.0, 0.5), (-1.0, 1.0), (0.0, 9.0), (1.0, 1.01), (np.nan, 1.0)])
def test_times_outside_or_out_of_order_are_refused(start: float, end: float) -> None:
    with pytest.raises(BadInputError, match="trim"):
        trim(walking(30.0, 2.0), start, end)


@pytest.mark.parametrize(("count", "phase"), [(2, 0), (2, 1), (4, 0), (5, 3)])
def test_repeated_frames_are_found_and_dropped(count: int, phase: int) -> None:
    clip = walking(30.0, 2.0)
    frames = np.repeat(np.arange(clip.num_frames), count)[count - phase if phase else 0 :]
    doubled = clip.with_(
        fps=30.0 * count,
        root_pos=clip.root_pos[frames],
        root_quat=clip.root_quat[frames],
        joint_pos=clip.joint_pos[frames],
    )
    assert repeats(doubled) == (count, phase)
    kept = drop_repeated_frames(doubled)
    assert kept.fps == 30.0
    np.testing.assert_array_equal(kept.root_pos, clip.root_pos[1 if phase else 0 :])
    noted = drop_repeated_frames(as_source(doubled))
    assert noted.notes == (f"Every frame was there {count} times: {30 * count} Hz became 30 Hz.",)


def test_a_single_repeated_frame_and_a_still_pose_are_left_alone() -> None:
    clip = walking(30.0, 1.0)
    assert drop_repeated_frames(clip) is clip
    twice = np.array([0, 0, *range(1, 20)])
    assert (
        repeats(
            clip.with_(root_pos=clip.root_pos[twice], root_quat=clip.root_quat[twice], joint_pos=clip.joint_pos[twice])
        )[0]
        == 1
    )
    still = clip.with_(root_pos=0 * clip.root_pos, root_quat=0 * clip.root_quat + 0.5, joint_pos=0 * clip.joint_pos)
    assert repeats(still) == (1, 0)


def test_uneven_frames_move_to_even_times() -> None:
    motion = as_source(walking(60.0, 2.0))
    uneven = np.array([0, 1, 2, 4, 6, 8, 9, 10, 12, 14, 15, 16])
    pieces = SourceMotion(**{**vars(motion), "position": motion.position[uneven], "quat": motion.quat[uneven]})
    even = onto_even_times(pieces, 5.0 + uneven / 60.0, 60.0)
    assert len(even.position) == 17 and "durations differ" in even.notes[0]
    np.testing.assert_allclose(even.position, motion.position[:17], atol=1e-3)


def test_height_and_scale() -> None:
    clip = walking(30.0, 1.0).with_(ball=None)
    ball = ObjectTrack(np.ones((31, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (31, 1)), np.ones(31, dtype=bool))
    motion = as_source(clip, ball)
    np.testing.assert_allclose(shift_height(motion, 0.3).position[..., 2], motion.position[..., 2] + 0.3)
    np.testing.assert_allclose(shift_height(clip.with_(ball=ball), -0.3).ball.position[0], [1.0, 1.0, 0.7])
    np.testing.assert_allclose(scale_motion(motion, 2.0).position, 2.0 * motion.position)
    with pytest.raises(BadInputError, match="scale -1"):
        scale_motion(motion, -1.0)


def test_another_character_stands_on_the_same_ground() -> None:
    rest = make_clip(3, ball=False).with_(
        root_pos=np.tile([1.0, 2.0, spec.standing_pelvis_height(1.62, "boot")], (3, 1)),
        root_quat=np.tile([0.0, 0.0, 0.0, 1.0], (3, 1)),
        joint_pos=np.zeros((3, spec.NUM_JOINTS)),
    )
    taller = set_character(rest, "climbing")
    foot = spec.BODY_NAMES.index("left_foot")
    sole = clip_states(taller).body_pos[0, foot, 2] - spec.body_scale(1.75, "boot") * spec.SOLE_DROP["boot"]
    assert abs(float(sole)) < 1e-6
    with pytest.raises(BadInputError, match="unknown character 'climber'"):
        set_character(rest, "climber")
