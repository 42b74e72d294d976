"""ASF and AMC files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sportsuite.errors import BadInputError
from sportsuite.motion.importers.amc import find_skeleton, read_amc
from tests.motion.samples import LFEMUR_AXIS, amc_text, asf_text, write

UNIT = 0.0254 / 0.45
"""Metres per unit of a file with ``length 0.45``."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "02.asf", asf_text())
    return tmp_path


def bone(motion, name: str) -> np.ndarray:
    """From a bone's start to its end."""
    joint = motion.joint_names.index(name)
    return motion.position[0, joint] - motion.position[0, motion.parents[joint]]


def test_units_axes_and_joints_at_the_ends_of_bones(folder: Path) -> None:
    motion = read_amc(write(folder, "02_01.amc", amc_text(root="1 18 2 0 0 0")), fps=120.0)
    assert (motion.name, motion.fps, motion.skeleton) == ("02_01", 120.0, "amc")
    # y up and z forward become z up and x forward
    np.testing.assert_allclose(motion.position[0, 0], UNIT * np.array([2.0, 1.0, 18.0]))
    np.testing.assert_allclose(bone(motion, "ltibia"), [0.0, 0.0, -7.0 * UNIT], atol=1e-12)
    np.testing.assert_allclose(bone(motion, "lfemur"), [0.0, 2.0 * UNIT, 0.0], atol=1e-12)


def test_a_bone_turns_in_its_own_frame(folder: Path) -> None:
    # its frame is turned by 90 degrees about z, so that rx is a turn about y: (1, 0, 0) becomes (0, 0, -1)
    motion = read_amc(write(folder, "02_01.amc", amc_text(lfemur="90")), fps=120.0)
    np.testing.assert_allclose(bone(motion, "lfemur"), [-2.0 * UNIT, 0.0, 0.0], atol=1e-12)


def test_axes_act_in_the_order_of_the_dof_line(folder: Path) -> None:
    # rx by 90 takes (0, -1, 0) to (0, 0, -1), which rz leaves alone; the other way round it would be (1, 0, 0)
    motion = read_amc(write(folder, "02_01.amc", amc_text(ltibia="90 0 90")), fps=120.0)
    np.testing.assert_allclose(bone(motion, "ltibia"), [-7.0 * UNIT, 0.0, 0.0], atol=1e-12)


def test_the_root_turns_everything(folder: Path) -> None:
    motion = read_amc(write(folder, "02_01.amc", amc_text(root="0 9 0 0 90 0")), fps=120.0)
    # a turn to the left: what pointed left (their x) now points backwards (their -z)
    np.testing.assert_allclose(bone(motion, "lclavicle"), [-2.0 * UNIT, 0.0, 0.0], atol=1e-12)


def test_the_rate_must_be_given(folder: Path) -> None:
    with pytest.raises(BadInputError, match="don't hold their frame rate: give it"):
        read_amc(write(folder, "02_01.amc", amc_text()), fps=None)


def test_the_skeleton_is_found_or_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "02_01.amc", amc_text())
    with pytest.raises(BadInputError, match="there is no ASF file beside it"):
        find_skeleton(path)
    write(tmp_path, "other.asf", asf_text())
    assert find_skeleton(path).name == "other.asf"
    write(tmp_path, "02.asf", asf_text())
    assert find_skeleton(path).name == "02.asf"
    write(tmp_path, "02_01.asf", asf_text())
    assert find_skeleton(path).name == "02_01.asf"
    with pytest.raises(BadInputError, match="found 02.asf, 02_01.asf, other.asf"):
        find_skeleton(write(tmp_path, "03_01.amc", amc_text()))


AMC = amc_text()
BAD_MOTION = [
    (AMC.replace("rtibia 0\n", "", 1), "frame 1: bone rtibia is missing"),
    (AMC.replace("\n2\n", "\n3\n"), "frame 3 after frame 1, expected 2"),
    (AMC.replace("\n2\n", "\n1\n"), "frame 1 after frame 1, expected 2"),
    (AMC.replace("\n2\n", "\n99999999999999999999\n"), "frame -1 after frame 1"),
    (AMC.replace("rtibia 0", "rtibia nan", 1), "rtibia: expected finite numbers"),
    (AMC.replace("rtibia 0", "rtibia x", 1), "rtibia: expected a number, found 'x'"),
    (AMC.replace("rtibia 0", "rtibia 1e99", 1), "rtibia: frame 0 has 1e\\+99"),
    (AMC.replace("rtibia 0", "rtibia 0 0", 1), "rtibia with 2 numbers, expected it once with 1"),
    (AMC.replace("rtibia 0", "rtibia 0\nrtibia 0", 1), "expected it once"),
    (AMC.replace("rtibia 0", "ltail 0", 1), "bone 'ltail' has no degrees of freedom"),
    (AMC.replace(":DEGREES", ":RADIANS"), "angles in radians, but its skeleton is in degrees"),
    (AMC.replace("\n1\n", "\n"), "expected a frame number"),
    (amc_text(1), "it has 1 frames, expected at least 2"),
    ("#", "it has 0 frames"),
]
ASF = asf_text()
BAD_SKELETON = [
    (ASF.split(":hierarchy")[0], "sections missing: hierarchy"),
    (ASF.split(":bonedata")[0], "sections missing: bonedata, hierarchy"),
    (ASF.replace("length 0.45", "length 0"), "length unit 0"),
    (ASF.replace("order TX TY TZ RX RY RZ", "order TX TY TZ"), "root order TX TY TZ"),
    (ASF.replace("dof rx ry rz", "dof rx tx", 1), "degree of freedom 'tx'"),
    (ASF.replace("dof rx ry rz", "dof rx rx", 1), "one is given twice"),
    (ASF.replace(LFEMUR_AXIS, "0 0 90 XXZ"), "axis order 'XXZ'"),
    (ASF.replace(LFEMUR_AXIS, "0 90"), "three numbers"),
    (ASF.replace("root lhipjoint", "root ltail"), "bone 'ltail' is not among the bone data"),
    (ASF.replace("lhipjoint lfemur", "lhipjoint rhipjoint"), "'rhipjoint' has two parents"),
    (ASF.replace("    root lhipjoint rhipjoint lowerback\n", ""), "'lhipjoint' stands before its own parent"),
    (ASF.replace("    lfemur ltibia\n", ""), "nearest known one is 'amc', which also has ltibia"),
    (ASF.replace("name lfemur", "nama lfemur"), "'name' missing near 'id 2'"),
]


@pytest.mark.parametrize(("text", "message"), BAD_MOTION, ids=[message[:40] for _, message in BAD_MOTION])
def test_malformed_motion_gives_one_clear_error(folder: Path, text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        read_amc(write(folder, "02_01.amc", text), fps=120.0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "message"), BAD_SKELETON, ids=[message[:40] for _, message in BAD_SKELETON])
def test_malformed_skeletons_give_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    assert text != ASF
    write(tmp_path, "02.asf", text)
    with pytest.raises(BadInputError, match=message) as caught:
        read_amc(write(tmp_path, "02_01.amc", amc_text()), fps=120.0)
    assert "\n" not in str(caught.value)
