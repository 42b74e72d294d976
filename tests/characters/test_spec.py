"""The humanoid's tables: names, order, limits, mirror map and action mapping."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from sportsuite.characters import spec
from sportsuite.errors import BadInputError


def test_joint_order_is_that_of_the_amp_humanoid():
    assert spec.NUM_JOINTS == 28
    assert spec.JOINT_NAMES.index("right_elbow") == 9
    assert spec.JOINT_NAMES.index("left_elbow") == 13
    assert spec.JOINT_NAMES.index("right_knee") == 17
    assert spec.JOINT_NAMES.index("left_knee") == 24
    assert spec.JOINT_NAMES[18:21] == ("right_ankle_x", "right_ankle_y", "right_ankle_z")


def test_body_order_is_that_of_the_amp_humanoid():
    assert spec.BODY_NAMES == (
        "pelvis", "torso", "head",
        "right_upper_arm", "right_lower_arm", "right_hand", "left_upper_arm", "left_lower_arm", "left_hand",
        "right_thigh", "right_shin", "right_foot", "left_thigh", "left_shin", "left_foot",
    )  # fmt: skip
    assert spec.ALL_LINK_NAMES[:15] == spec.BODY_NAMES
    assert len(set(spec.ALL_LINK_NAMES)) == 15 + 16


def test_groups_are_bodies():
    assert set(spec.ARMS) == {
        f"{side}_{part}" for side in ("right", "left") for part in ("upper_arm", "lower_arm", "hand")
    }
    for name in (*spec.KEY_BODIES, *spec.FEET, *spec.HANDS):
        assert name in spec.BODY_NAMES


def test_parents_come_before_their_children():
    for body, parent in enumerate(spec.PARENTS):
        assert parent < body
    assert spec.BODY_NAMES[spec.PARENTS[spec.BODY_NAMES.index("left_foot")]] == "left_shin"


def test_limits_are_the_tables_in_radians():
    assert spec.JOINT_LIMITS["right_hip_y"] == pytest.approx((math.radians(-140), math.radians(60)))
    assert spec.JOINT_LIMITS["left_shoulder_x"] == pytest.approx((math.radians(-45), math.pi))
    assert spec.JOINT_LIMITS["left_knee"] == pytest.approx((0.0, math.radians(160)))


def test_gain_columns():
    assert spec.GAINS["stiff"].stiffness["abdomen_z"] == 1000.0
    assert spec.GAINS["stiff"].damping["neck_x"] == 10.0
    assert spec.GAINS["soft"].stiffness["left_knee"] == 300.0
    assert spec.GAINS["soft"].damping["right_elbow"] == 15.0
    assert spec.EFFORT_LIMITS["right_hip_x"] == pytest.approx(300.0)


def test_mirroring_swaps_sides_and_flips_x_and_z():
    value = {name: float(index + 1) for index, name in enumerate(spec.JOINT_NAMES)}
    original = [value[name] for name in spec.JOINT_NAMES]
    mirrored = [sign * original[source] for sign, source in zip(spec.MIRROR_SIGNS, spec.MIRROR_JOINTS, strict=True)]
    at = dict(zip(spec.JOINT_NAMES, mirrored, strict=True))
    assert at["left_hip_x"] == -value["right_hip_x"]
    assert at["left_hip_y"] == value["right_hip_y"]
    assert at["right_knee"] == value["left_knee"]
    assert at["abdomen_z"] == -value["abdomen_z"]
    twice = [sign * mirrored[source] for sign, source in zip(spec.MIRROR_SIGNS, spec.MIRROR_JOINTS, strict=True)]
    assert twice == original


def test_limits_are_mirror_images():
    for index, name in enumerate(spec.JOINT_NAMES):
        low, high = spec.JOINT_LIMITS[spec.JOINT_NAMES[spec.MIRROR_JOINTS[index]]]
        expected = (low, high) if spec.MIRROR_SIGNS[index] > 0 else (-high, -low)
        assert spec.JOINT_LIMITS[name] == pytest.approx(expected)


def test_body_mirror_map():
    assert [spec.BODY_NAMES[index] for index in spec.MIRROR_BODIES][3] == "left_upper_arm"
    assert spec.MIRROR_BODIES[0] == 0


def test_action_mapping_by_hand():
    mapping = spec.action_mapping()
    at = {name: (mapping.offset[i], mapping.scale[i]) for i, name in enumerate(spec.JOINT_NAMES)}
    # Hinge: middle of -160..0 and 0.7 of its width.
    assert at["right_elbow"] == pytest.approx((math.radians(-80), math.radians(112)))
    # Three axes share 1.2 times the joint's largest limit, pi at most.
    assert at["neck_y"] == at["neck_x"] == pytest.approx((0.0, math.radians(72)))
    assert at["right_hip_z"] == pytest.approx((0.0, math.radians(168)))
    assert at["left_shoulder_z"] == pytest.approx((0.0, math.pi))


def test_action_range_covers_every_limit():
    mapping = spec.action_mapping()
    for index, name in enumerate(spec.JOINT_NAMES):
        low, high = spec.JOINT_LIMITS[name]
        assert mapping.offset[index] - mapping.scale[index] <= low + 1e-9
        assert mapping.offset[index] + mapping.scale[index] >= high - 1e-9


def test_standing_height_and_total_height_add_up():
    scale = spec.body_scale(1.75, "box")
    pelvis = spec.standing_pelvis_height(1.75, "box")
    assert pelvis + scale * spec.HEAD_TOP == pytest.approx(1.75)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: spec.body_scale(1.6, "boots"), "'boots'.*'boot'"),
        (lambda: spec.body_scale(0.0, "boot"), "0.0"),
        (lambda: spec.asset_name("footbal", "boot"), "'footbal'.*'football'"),
        (lambda: spec.asset_name("football", "bx"), "'bx'.*'box'"),
    ],
)
def test_bad_names_and_values_are_named(call, named):
    with pytest.raises(BadInputError, match=named):
        call()


def test_importing_the_tables_needs_no_simulator():
    code = (
        "import sys, sportsuite.characters.spec\n"
        "heavy = {'torch', 'warp', 'isaaclab', 'pxr'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
