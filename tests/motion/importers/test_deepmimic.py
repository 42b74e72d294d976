"""DeepMimic clips."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sportsuite.errors import BadInputError
from sportsuite.motion.importers.deepmimic import read_deepmimic
from sportsuite.motion.importers.families import leg_length
from tests.motion.samples import angle_between, deepmimic_frame, deepmimic_text, random_quats, write

HALF = np.sqrt(0.5)


def joint(motion, name: str) -> np.ndarray:
    return motion.position[0, motion.joint_names.index(name)]


def test_axes_rate_and_size(tmp_path: Path) -> None:
    rows = [deepmimic_frame(1.0 / 60.0, root_pos=[1.0, 0.9, 2.0])] * 3
    motion = read_deepmimic(write(tmp_path, "walk.txt", deepmimic_text(rows, "wrap")))
    assert (motion.name, motion.fps, motion.skeleton, motion.loop) == ("walk", 60.0, "deepmimic", True)
    # x forward, y up and z right become x forward, y left and z up
    np.testing.assert_allclose(motion.position[0, 0], [1.0, -2.0, 0.9])
    np.testing.assert_allclose(joint(motion, "right_knee"), [1.0, -2.084887, 0.9 - 0.421546])
    assert leg_length(motion) == pytest.approx(0.421546 + 0.40987)


def test_quaternions_are_wxyz_and_hinges_turn_about_the_right_pointing_axis(tmp_path: Path) -> None:
    # a quarter turn about the up axis: forward becomes left
    turned = deepmimic_frame(root=[HALF, 0.0, HALF, 0.0], right_knee=[-np.pi / 2.0])
    motion = read_deepmimic(write(tmp_path, "a.txt", deepmimic_text([turned] * 2)))
    # the shin, which hung down, points backwards in the body's frame, which is -y in the world
    np.testing.assert_allclose(joint(motion, "right_ankle") - joint(motion, "right_knee"), [0, -0.40987, 0], atol=1e-9)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), sign=st.sampled_from([-1.0, 1.0]))
def test_any_orientation_survives(tmp_path: Path, seed: int, sign: float) -> None:
    root, hip = random_quats(np.random.default_rng(seed), 2)
    frame = deepmimic_frame(root=(sign * root[[3, 0, 1, 2]]).tolist(), left_hip=hip[[3, 0, 1, 2]].tolist())
    motion = read_deepmimic(write(tmp_path, "a.txt", deepmimic_text([frame] * 2)))
    axes = Rotation.from_matrix([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    expected = [axes * turn * axes.inv() for turn in (Rotation.from_quat(root), Rotation.from_quat(hip))]
    assert angle_between(motion.quat[:, 0], expected[0].as_quat()) < 1e-7
    left_hip = motion.joint_names.index("left_hip")
    assert angle_between(motion.quat[:, left_hip], (expected[0] * expected[1]).as_quat()) < 1e-7


def test_signs_don_t_flip_over_time(tmp_path: Path) -> None:
    rows = [deepmimic_frame(root=[s * 0.8, s * 0.6, 0.0, 0.0]) for s in (1.0, -1.0, 1.0)]
    motion = read_deepmimic(write(tmp_path, "a.txt", deepmimic_text(rows)))
    assert ((motion.quat[1:] * motion.quat[:-1]).sum(axis=-1) > 0.999).all()


def test_frames_of_differing_durations_move_to_even_times(tmp_path: Path) -> None:
    steps = [1.0, 1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 0.0]
    places = np.concatenate(([0.0], np.cumsum(steps[:-1]))) / 30.0
    rows = [
        deepmimic_frame(step / 30.0, root_pos=[2.0 * place, 0.9, 0.0])
        for step, place in zip(steps, places, strict=True)
    ]
    motion = read_deepmimic(write(tmp_path, "a.txt", deepmimic_text(rows)))
    assert motion.fps == 30.0 and len(motion.position) == 11 and "durations differ" in motion.notes[0]
    np.testing.assert_allclose(np.diff(motion.position[:, 0, 0]), 2.0 / 30.0, atol=1e-6)


def test_quaternions_of_other_lengths_are_normalised_and_noted(tmp_path: Path) -> None:
    rows = [deepmimic_frame(chest=[0.8, 0.0, 0.0, 0.0])] * 2
    motion = read_deepmimic(write(tmp_path, "a.txt", deepmimic_text(rows)))
    assert "Quaternions of chest" in motion.notes[0]
    assert np.allclose(np.linalg.norm(motion.quat, axis=-1), 1.0)


FRAME = deepmimic_frame()
MALFORMED = [
    (deepmimic_text()[:-20], "cut off or damaged"),
    ("[" * 100_000, "cut off or damaged"),
    ("Licence: MIT", "expected a DeepMimic clip \\(json\\), found other text"),
    ("[1, 2]", "with the entry 'Frames'"),
    ('{"Loop": "none"}', "with the entry 'Frames'"),
    (json.dumps({"Frames": 7}), "expected a list of at least 2 frames"),
    (json.dumps({"Frames": [FRAME]}), "expected a list of at least 2 frames"),
    (json.dumps({"Frames": [FRAME, FRAME[:-1]]}), "frame 1: found 43 numbers, expected 44"),
    (json.dumps({"Frames": [FRAME, "x"]}), "frame 1: found 'x', expected 44 numbers"),
    (json.dumps({"Frames": [FRAME, [None] * 44]}), "frame 1: expected numbers only"),
    (json.dumps({"Frames": [FRAME, [True] * 44]}), "frame 1: expected numbers only"),
    (json.dumps({"Frames": [FRAME, [float("nan")] * 44]}), "frame 1 has nan"),
    (json.dumps({"Frames": [FRAME, [10**400] * 44]}), "too large"),
    (json.dumps({"Frames": [FRAME, [1e300] * 44]}), "frame 1 has 1e\\+300"),
    (deepmimic_text([[0.0, *FRAME[1:]], FRAME]), "frame 0: duration 0 s"),
    (deepmimic_text([[-0.03, *FRAME[1:]], FRAME]), "frame 0: duration -0.03 s"),
    (
        deepmimic_text([deepmimic_frame(root=[0.0, 0.0, 0.0, 0.0])] * 2),
        "joint root: frame 0 has a quaternion of length 0",
    ),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED, ids=[message[:40] for _, message in MALFORMED])
def test_malformed_files_give_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        read_deepmimic(write(tmp_path, "bad.txt", text))
    assert "\n" not in str(caught.value) and "bad.txt" in str(caught.value)
