import math

import pytest
import torch

from sportsuite_tasks.football.projectile import GRAVITY, flight_time, lob_state, sector_points


def test_flight_time_of_a_vertical_throw_and_of_a_fall():
    assert flight_time(torch.tensor([9.81]), 0.0).item() == pytest.approx(2.0)
    assert flight_time(torch.tensor([0.0]), 4.905).item() == pytest.approx(1.0)


def test_sector_is_filled_evenly_and_not_left():
    torch.manual_seed(0)
    points = sector_points(20_000, radius=1.0, half_angle=math.pi / 4, device="cpu")
    distance, angle = points.norm(dim=-1), torch.atan2(points[:, 1], points[:, 0])
    assert distance.max() <= 1.0 and angle.abs().max() <= math.pi / 4 + 1e-6
    # uniform in area: half of the points lie within the radius that halves the area
    assert (distance < math.sqrt(0.5)).float().mean().item() == pytest.approx(0.5, abs=0.02)


def fall(position, velocity, dt):
    """Semi-implicit Euler until the ball is down, then interpolate: what every backend of the suite does."""
    position, velocity = position.double().clone(), velocity.double().clone()
    landed = torch.full((len(position), 2), math.nan, dtype=torch.float64)
    for _ in range(int(5.0 / dt)):
        before = position.clone()
        velocity[:, 2] -= GRAVITY * dt
        position += velocity * dt
        down = (position[:, 2] <= 0.11) & (velocity[:, 2] < 0) & landed[:, 0].isnan()
        share = ((before[:, 2] - 0.11) / (before[:, 2] - position[:, 2])).unsqueeze(-1)
        landed = torch.where(down.unsqueeze(-1), before[:, :2] + share * (position - before)[:, :2], landed)
    return landed


@pytest.mark.parametrize("share", [0.0, 0.6])
@pytest.mark.parametrize("dt", [1 / 120, 1 / 480])
def test_lobs_land_within_two_centimetres_of_the_chosen_point(dt, share):
    torch.manual_seed(1)
    n = 200
    landing = torch.rand(n, 2) * 2 - 1
    angle = torch.rand(n) * 2 * math.pi
    direction = torch.stack((angle.cos(), angle.sin()), dim=-1)
    speed = torch.empty(n).uniform_(10.0, 30.0)
    elevation = torch.deg2rad(torch.empty(n).uniform_(10.0, 45.0))
    position, velocity = lob_state(landing, direction, speed, elevation, 0.11, 0.11, dt, share)
    error = (fall(position, velocity, dt) - landing).norm(dim=-1)
    assert error.max().item() < 0.02
    if share == 0.0:
        assert (velocity.norm(dim=-1) - speed).abs().max().item() < 0.5 * GRAVITY * dt + 1e-3
