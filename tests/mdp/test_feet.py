"""Where soles are and how fast they slide, by hand."""

from __future__ import annotations

import math

import torch

from sportsuite.characters import spec
from sportsuite.mdp import feet
from tests.mdp.stand_in import standing_env, yaw_quat

DEPTH = 0.055
FLAT = torch.tensor([0.0, 0.0, 0.0, 1.0])
HEELS, TOES = slice(0, 2), slice(2, 4)


def test_a_flat_foot_that_glides() -> None:
    height, speed = feet.sole_points(
        torch.tensor([1.0, 2.0, 0.06]), FLAT, torch.tensor([0.3, -0.4, 0.7]), torch.zeros(3), DEPTH
    )
    torch.testing.assert_close(height, torch.full((4,), 0.005), atol=1e-6, rtol=0.0)
    # going up is no slide
    torch.testing.assert_close(speed, torch.full((4,), 0.5))


def test_a_foot_that_turns_about_its_ankle() -> None:
    _, speed = feet.sole_points(
        torch.tensor([0.0, 0.0, DEPTH]), yaw_quat(40.0)[0], torch.zeros(3), torch.tensor([0.0, 0.0, 2.0]), DEPTH
    )
    heel, toe = math.hypot(0.05, 0.03), math.hypot(0.14, 0.03)
    torch.testing.assert_close(speed, 2.0 * torch.tensor([heel, heel, toe, toe]))


def test_a_foot_that_rolls_over_its_toe_stands_still_there() -> None:
    angle, rate = math.radians(30.0), 3.0
    quat = torch.tensor([0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)])
    sin, cos = math.sin(angle), math.cos(angle)
    # from the toe's edge, which lies on the ground, to the ankle
    ankle = torch.tensor([-0.14 * cos + DEPTH * sin, 0.0, 0.14 * sin + DEPTH * cos])
    spin = torch.tensor([0.0, rate, 0.0])
    height, speed = feet.sole_points(ankle, quat, torch.linalg.cross(spin, ankle), spin, DEPTH)
    torch.testing.assert_close(height[TOES], torch.zeros(2), atol=1e-6, rtol=0.0)
    torch.testing.assert_close(speed[TOES], torch.zeros(2), atol=1e-6, rtol=0.0)
    torch.testing.assert_close(height[HEELS], torch.full((2,), 0.19 * sin))
    torch.testing.assert_close(speed[HEELS], torch.full((2,), 0.19 * sin * rate))
    slide, count = feet.slide_speed(height.expand(1, 2, 4), speed.expand(1, 2, 4))
    assert slide.abs().item() < 1e-6 and count.item() == 4.0


def test_slide_is_the_mean_over_the_corners_that_touch() -> None:
    height, speed = torch.full((3, 2, 4), 0.1), torch.full((3, 2, 4), 9.0)
    height[0, 0, :3], speed[0, 0, :3] = 0.0, torch.tensor([0.1, 0.2, 0.6])
    height[0, 1, 0], speed[0, 1, 0] = 0.0079, 0.3
    height[1, 1, 2], speed[1, 1, 2] = -0.02, 0.4
    slide, count = feet.slide_speed(height, speed)
    torch.testing.assert_close(slide, torch.tensor([0.3, 0.4, 0.0]))
    assert count.tolist() == [4.0, 1.0, 0.0]


def test_soles_of_both_feet_above_the_ground_of_their_world() -> None:
    env = standing_env(2)
    env.scene.env_origins[1, 2] = 5.0
    data = env.scene["robot"].data.tensors
    right, left = (spec.BODY_NAMES.index(f"{side}_foot") for side in ("right", "left"))
    data["body_link_pos_w"][1, right, 2] = 5.0 + DEPTH
    data["body_link_pos_w"][1, left, 2] = 5.3 + DEPTH
    data["body_link_lin_vel_w"][1, right, 1] = 0.25
    height, speed = feet.sole_motion(env)  # type: ignore[arg-type]
    assert height.shape == speed.shape == (2, 2, 4)
    torch.testing.assert_close(height[1], torch.tensor([[0.0] * 4, [0.3] * 4]), atol=1e-6, rtol=0.0)
    torch.testing.assert_close(speed[1], torch.tensor([[0.25] * 4, [0.0] * 4]))
