"""Drag and Magnus force: by hand, and in flight on every backend."""

from __future__ import annotations

import math

import pytest
import torch

from sportsuite.physics.aerodynamics import (
    AerodynamicsCfg,
    aerodynamic_coefficients,
    aerodynamic_force_w,
    mean_force_w,
)

AREA = math.pi * 0.11**2


def coefficients(**options):
    return aerodynamic_coefficients(AerodynamicsCfg(**options), 0.11)


def test_drag_by_hand():
    force = aerodynamic_force_w(torch.tensor([[20.0, 0.0, 0.0]]), torch.zeros(1, 3), coefficients())
    # 0.5 * 1.2 * 0.0380133 * 0.25 * 400 = 2.2808 N against the motion.
    assert force.tolist() == [[pytest.approx(-2.2808, rel=1e-4), 0.0, 0.0]]


def test_drag_grows_with_the_square_and_opposes_the_motion():
    velocity = torch.tensor([[3.0, -4.0, 12.0]])
    slow = aerodynamic_force_w(velocity, torch.zeros(1, 3), coefficients())
    fast = aerodynamic_force_w(2 * velocity, torch.zeros(1, 3), coefficients())
    assert torch.allclose(fast, 4 * slow)
    assert torch.allclose(torch.nn.functional.cosine_similarity(slow, velocity), torch.tensor([-1.0]))


def test_magnus_is_off_by_default_and_pushes_across_spin_and_flight():
    velocity, spin = torch.tensor([[20.0, 0.0, 0.0]]), torch.tensor([[0.0, 0.0, 50.0]])
    assert aerodynamic_force_w(velocity, spin, coefficients())[0, 1] == 0.0
    force = aerodynamic_force_w(velocity, spin, coefficients(magnus=True))
    # Lift coefficient r omega / v = 0.275: 0.5 * 1.2 * A * 0.275 * 400 to the left of the flight.
    assert force[0, 1].item() == pytest.approx(0.5 * 1.2 * AREA * 0.275 * 400.0, rel=1e-5)
    assert force[0, 2] == 0.0


def test_resting_ball_feels_nothing():
    assert not aerodynamic_force_w(torch.zeros(2, 3), torch.ones(2, 3), coefficients(magnus=True)).any()


def test_mean_force_is_the_one_half_way():
    velocity, spin, air = torch.tensor([[30.0, 0.0, 0.0]]), torch.zeros(1, 3), coefficients()
    now = aerodynamic_force_w(velocity, spin, air)
    half_way = velocity + 0.5 / 30 * (now / 0.45 + torch.tensor([[0.0, 0.0, -9.81]]))
    expected = aerodynamic_force_w(half_way, spin, air)
    assert torch.allclose(mean_force_w(velocity, spin, air, 0.45, 1 / 30), expected)
    assert velocity.tolist() == [[30.0, 0.0, 0.0]]


def test_flight_agrees_with_a_fine_integration(measured):
    assert measured["flight_error"] < 0.02
