import math

import pytest
import torch

from sportsuite.mdp import frames


def quat(axis, angle):
    axis = torch.tensor(axis, dtype=torch.float64)
    axis = axis / axis.norm()
    return torch.cat((axis * math.sin(angle / 2), torch.tensor([math.cos(angle / 2)], dtype=torch.float64)))


def multiply(p, q):
    px, py, pz, pw = p
    qx, qy, qz, qw = q
    return torch.stack(
        (
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
            pw * qw - px * qx - py * qy - pz * qz,
        )
    )


def rotate(q, v):
    xyz, w = q[:3], q[3]
    return v + 2 * torch.linalg.cross(xyz, torch.linalg.cross(xyz, v) + w * v)


@pytest.mark.parametrize("yaw", [-3.0, -1.2, 0.0, 0.4, 2.9, math.pi])
def test_heading_of_a_pure_yaw(yaw):
    heading = frames.heading_from_quat(quat((0, 0, 1.0), yaw).unsqueeze(0))
    assert torch.allclose(heading, torch.tensor([[math.cos(yaw), math.sin(yaw)]], dtype=torch.float64), atol=1e-12)


def test_heading_ignores_pitch_and_roll():
    q = multiply(multiply(quat((0, 0, 1.0), 0.7), quat((0, 1.0, 0), 0.5)), quat((1.0, 0, 0), -0.3))
    heading = frames.heading_from_quat(q.unsqueeze(0))
    assert torch.allclose(heading, torch.tensor([[math.cos(0.7), math.sin(0.7)]], dtype=torch.float64), atol=1e-12)


def test_heading_of_a_vertical_body_is_defined():
    up = quat((0, 1.0, 0), -math.pi / 2).unsqueeze(0)
    assert torch.equal(frames.heading_from_quat(up), torch.tensor([[1.0, 0.0]], dtype=torch.float64))


def test_ninety_degrees_turn_what_is_ahead_into_the_right_hand_side():
    heading = torch.tensor([[0.0, 1.0]])
    assert torch.allclose(
        frames.rotate_to_heading(torch.tensor([[1.0, 0.0, 2.0]]), heading), torch.tensor([[0.0, -1.0, 2.0]])
    )


def test_rotations_are_inverse():
    vectors = torch.randn(5, 3, 3)
    angle = torch.randn(5)
    heading = torch.stack((angle.cos(), angle.sin()), dim=-1)
    there = frames.rotate_to_heading(vectors, heading)
    assert torch.allclose(frames.rotate_from_heading(there, heading), vectors, atol=1e-6)


@pytest.mark.parametrize("yaw", [-2.8, -0.3, 0.0, 1.1, 3.1])
def test_quat_in_heading_is_the_product_with_the_inverse_yaw(yaw):
    q = multiply(quat((0, 0, 1.0), yaw), quat((0.3, -0.7, 0.2), 0.9))
    heading = torch.tensor([[math.cos(yaw), math.sin(yaw)]], dtype=torch.float64)
    expected = multiply(quat((0, 0, 1.0), -yaw), q)
    expected = expected if expected[3] >= 0 else -expected
    assert torch.allclose(frames.quat_in_heading(q.unsqueeze(0), heading)[0], expected, atol=1e-9)


def test_tangent_and_normal_are_the_rotated_axes():
    q = quat((0.2, -0.5, 0.8), 1.3)
    tangent, normal = frames.tangent_normal(q)
    assert torch.allclose(tangent, rotate(q, torch.tensor([1.0, 0, 0], dtype=torch.float64)), atol=1e-12)
    assert torch.allclose(normal, rotate(q, torch.tensor([0, 0, 1.0], dtype=torch.float64)), atol=1e-12)
