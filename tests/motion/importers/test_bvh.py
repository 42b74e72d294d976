"""BVH files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sportsuite.errors import BadInputError
from sportsuite.motion.importers.bvh import read_bvh
from sportsuite.motion.importers.families import leg_length
from tests.motion.samples import angle_between, bvh_text, random_quats, write

Y_UP_TO_Z_UP = Rotation.from_matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
"""x left, y up, z forward becomes x forward, y left, z up."""


def joint(motion, name: str) -> np.ndarray:
    return motion.position[:, motion.joint_names.index(name)]


def test_rest_pose_units_axes_and_end_sites(tmp_path: Path) -> None:
    motion = read_bvh(write(tmp_path, "rest.bvh", bvh_text()))
    assert (motion.name, motion.fps, motion.skeleton) == ("rest", 30.0, "snu")
    np.testing.assert_allclose(joint(motion, "LeftFoot")[0], [0.0, 0.09, 0.08], atol=1e-12)
    np.testing.assert_allclose(joint(motion, "RightHand")[0], [0.0, -0.71, 1.35], atol=1e-12)
    # the end site's 7 cm along z point forward
    np.testing.assert_allclose(joint(motion, "Head_end")[0], [0.07, 0.0, 1.5], atol=1e-12)
    assert motion.parents[motion.joint_names.index("Head_end")] == motion.joint_names.index("Head")
    assert leg_length(motion) == pytest.approx(0.82)


def test_the_root_s_position_replaces_its_offset(tmp_path: Path) -> None:
    motion = read_bvh(write(tmp_path, "a.bvh", bvh_text(root=[(1.0, 95.0, 2.0), (3.0, 96.0, 5.0)])))
    np.testing.assert_allclose(joint(motion, "Hips"), [[0.02, 0.01, 0.95], [0.05, 0.03, 0.96]], atol=1e-12)


@pytest.mark.parametrize(("order", "knee"), [("ZXY", (0.0, 0.0, -40.0)), ("XZY", (40.0, 0.0, 0.0))])
def test_the_euler_order_is_read_per_joint(tmp_path: Path, order: str, knee: tuple[float, ...]) -> None:
    # 90 degrees about the first, then about the second axis, of an offset of -40 cm along y
    text = bvh_text({"LeftUpLeg": [(90.0, 90.0, 0.0)] * 3}, {"LeftUpLeg": order})
    motion = read_bvh(write(tmp_path, "a.bvh", text))
    moved = joint(motion, "LeftLeg") - joint(motion, "LeftUpLeg")
    np.testing.assert_allclose(moved[0], 0.01 * np.array([knee[2], knee[0], knee[1]]), atol=1e-12)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations("XYZ"), seed=st.integers(0, 10**6))
def test_any_orientation_survives_any_euler_order(tmp_path: Path, order: list[str], seed: int) -> None:
    quat = random_quats(np.random.default_rng(seed), 3)
    letters = "".join(order)
    angles = Rotation.from_quat(quat).as_euler(letters, degrees=True)
    motion = read_bvh(write(tmp_path, "a.bvh", bvh_text({"Hips": [tuple(row) for row in angles]}, {"Hips": letters})))
    expected = (Y_UP_TO_Z_UP * Rotation.from_quat(quat) * Y_UP_TO_Z_UP.inv()).as_quat()
    assert angle_between(motion.quat[:, 0], expected) < 1e-6
    # joints turn with the body
    knee = Rotation.from_quat(expected).apply([0.0, 0.09, -0.4])
    np.testing.assert_allclose(joint(motion, "LeftLeg") - joint(motion, "Hips"), knee, atol=1e-8)


def test_other_units_and_axes(tmp_path: Path) -> None:
    path = write(tmp_path, "a.bvh", bvh_text())
    assert leg_length(read_bvh(path, scale=0.0254)) == pytest.approx(82.0 * 0.0254)
    np.testing.assert_allclose(joint(read_bvh(path, up="z"), "Hips")[0], [0.0, 0.9, 0.0])
    with pytest.raises(BadInputError, match="up axis 'x'"):
        read_bvh(path, up="x")


def test_names_with_a_namespace_are_known(tmp_path: Path) -> None:
    text = bvh_text().replace("JOINT ", "JOINT mixamorig:").replace("ROOT ", "ROOT mixamorig:")
    assert read_bvh(write(tmp_path, "a.bvh", text)).joint_names[0] == "Hips"


GOOD = bvh_text()
MALFORMED = [
    (GOOD.replace("Frames: 3", "Frames: 4"), "'Frames:' says 4, but there are 3 lines"),
    (GOOD.replace("Frames: 3", "Frames: 100000000000"), "says 1e\\+11, but there are 3"),
    (GOOD.replace("Frames: 3", "Frames: nan"), "expected finite numbers, found 'nan'"),
    (GOOD.rstrip().rsplit(" ", 1)[0], f"line {len(GOOD.splitlines())}: 53 numbers, but the channels need 54"),
    (GOOD.replace("90.000000000", "nan", 1), "frames: expected finite numbers, found 'nan'"),
    (GOOD.replace("90.000000000", "ninety", 1), "frames: expected a number, found 'ninety'"),
    (GOOD.replace("90.000000000", "1e300", 1), "frames: frame 0 has 1e\\+300"),
    (GOOD.replace("Frame Time: 0.033333333", "Frame Time: 0"), "frame time 0 s"),
    (GOOD.replace("Frame Time: 0.033333333", "Frame Time: -0.03"), "frame time -0.03 s"),
    (GOOD.replace("Frame Time: 0.033333333", "Frame Time: 1e-9"), "frame rate 1e\\+09 Hz"),
    (GOOD.replace("Frame Time:", "Frame time:"), "expected 'Frame Time:'"),
    (GOOD.split("MOTION")[0], "the line MOTION is missing"),
    (GOOD.split("Frames")[0], "cut off after MOTION"),
    (GOOD.replace("}\nMOTION", "MOTION"), "its skeleton is cut off before MOTION"),
    (GOOD.replace("CHANNELS 3 Zrotation", "CHANNELS 4 Zrotation", 1), "CHANNELS says 4 but names 3"),
    (GOOD.replace("Zrotation Xrotation", "Zrotation Wrotation", 1), "channel 'Wrotation', expected one of"),
    (GOOD.replace("Zrotation Xrotation", "Zrotation Zrotation", 1), "a channel is given twice"),
    (GOOD.replace("OFFSET 0.0 10.0 0.0", "OFFSET 0.0 10.0", 1), "OFFSET with 2 numbers, expected 3"),
    (GOOD.replace("JOINT Neck", "JOINT Spine"), "joints given twice: Spine"),
    (GOOD.replace("JOINT LeftLeg", "JOINT LeftLeh"), "nearest known one is 'snu', which also has LeftLeg"),
    (GOOD.replace("ROOT Hips", "JOINT Hips"), "JOINT outside of a skeleton"),
    (
        "HIERARCHY\n" + "\n".join(f"{'ROOT' if i == 0 else 'JOINT'} j{i}\n{{" for i in range(1500)),
        "more than 1000 joints",
    ),
    ("", "it is empty"),
    (GOOD.split("\n", 2)[2], "expected part of a BVH skeleton"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED, ids=[message[:40] for _, message in MALFORMED])
def test_malformed_files_give_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    assert text != GOOD
    with pytest.raises(BadInputError, match=message) as caught:
        read_bvh(write(tmp_path, "bad.bvh", text))
    assert "\n" not in str(caught.value) and "bad.bvh" in str(caught.value)
