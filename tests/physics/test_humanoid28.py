"""The humanoid in simulation: the same character on every backend, standing."""

from __future__ import annotations

import math

import pytest

from sportsuite.characters import spec
from tests.physics.conftest import BACKENDS

WEIGHT = 47.0 * 9.81


def test_joints_and_links_come_in_the_specified_order(measured):
    assert tuple(measured["joint_names"]) == spec.JOINT_NAMES
    assert tuple(measured["body_names"]) == spec.ALL_LINK_NAMES


def test_gains_and_limits_reach_the_simulator(measured):
    assert measured["stiffness"] == pytest.approx([spec.GAINS["stiff"].stiffness[name] for name in spec.JOINT_NAMES])
    for name, limits in zip(spec.JOINT_NAMES, measured["limits"], strict=True):
        assert limits == pytest.approx(spec.JOINT_LIMITS[name], abs=1e-5)


def test_mass_is_the_variants(measured):
    assert measured["mass"] == pytest.approx(47.0, abs=0.01)


def test_stands_for_five_seconds(measured):
    assert measured["root_height_change"] < 0.03
    assert measured["joint_speed"] < 0.1


def test_feet_carry_the_weight(measured):
    for force in measured["feet_force"]:
        assert force == pytest.approx(WEIGHT, rel=0.02)


def test_a_target_moves_its_own_hinge_most_and_the_right_way(measured):
    assert tuple(measured["pulsed"]) == spec.JOINT_NAMES
    assert measured["pulse_signs"] == [1.0] * spec.NUM_JOINTS


def test_elbow_follows_a_step_as_an_overdamped_hinge(measured):
    # kd / kp = 0.1 s dominates the forearm's inertia: after 0.1 s about 1 - 1/e of the step of -0.5 rad.
    assert measured["elbow_step"] == pytest.approx(-0.5 * (1 - math.exp(-1.0)), rel=0.05)


def test_backends_agree_on_the_step_response(measurements):
    steps = [measurements(backend)["elbow_step"] for backend in BACKENDS if backend != "ovphysx"]
    assert max(steps) - min(steps) < 1e-3
