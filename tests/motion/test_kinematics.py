"""Quaternions, forward kinematics and velocities against scipy and by hand."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sportsuite.characters import spec
from sportsuite.motion.kinematics import (
    angular_velocity,
    clip_states,
    forward_kinematics,
    quat_conjugate,
    quat_multiply,
    quat_rotate,
    rotation_vector,
    time_derivative,
)
from tests.motion.samples import angle_between, make_clip, random_quats

MANY = settings(deadline=None, max_examples=40)
SEED = st.integers(0, 10**6)
ASYMMETRIC = np.array([0.1, -0.3, 0.5, 0.80622577])
"""No two numbers alike in size: a mistaken order or sign can't pass."""


def quats(seed: int, *shape: int) -> tuple[np.ndarray, torch.Tensor]:
    quat = random_quats(np.random.default_rng(seed), *shape)
    return quat, torch.as_tensor(quat)


@MANY
@given(seed=SEED)
def test_products_are_those_of_scipy(seed: int) -> None:
    (a, ta), (b, tb) = quats(seed, 5), quats(seed + 1, 5)
    expected = (Rotation.from_quat(a) * Rotation.from_quat(b)).as_quat()
    assert angle_between(quat_multiply(ta, tb).numpy(), expected) < 1e-7
    # there and back
    back = quat_multiply(quat_multiply(ta, tb), quat_conjugate(tb)).numpy()
    np.testing.assert_allclose(back, a, atol=1e-12)


@MANY
@given(seed=SEED)
def test_vectors_turn_as_with_scipy(seed: int) -> None:
    quat, tensor = quats(seed, 5)
    vector = np.random.default_rng(seed).normal(size=(5, 3))
    turned = quat_rotate(tensor, torch.as_tensor(vector))
    np.testing.assert_allclose(turned.numpy(), Rotation.from_quat(quat).apply(vector), atol=1e-12)
    np.testing.assert_allclose(quat_rotate(quat_conjugate(tensor), turned).numpy(), vector, atol=1e-12)


@MANY
@given(seed=SEED, sign=st.sampled_from([-1.0, 1.0]))
def test_rotation_vectors_round_trip(seed: int, sign: float) -> None:
    quat, tensor = quats(seed, 5)
    vector = rotation_vector(sign * tensor).numpy()
    assert angle_between(Rotation.from_rotvec(vector).as_quat(), quat) < 1e-7
    assert np.linalg.norm(vector, axis=1).max() <= np.pi + 1e-9


def test_small_turns_keep_their_size() -> None:
    for angle in (0.0, 1e-12, 1e-6, 1e-3):
        quat = torch.tensor([0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)], dtype=torch.float64)
        np.testing.assert_allclose(rotation_vector(quat).numpy(), [0.0, angle, 0.0], rtol=1e-9, atol=1e-15)


def test_the_quaternion_s_last_number_is_the_cosine() -> None:
    turned = quat_rotate(torch.as_tensor(ASYMMETRIC), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    np.testing.assert_allclose(turned.numpy(), Rotation.from_quat(ASYMMETRIC).apply([1.0, 2.0, 3.0]), atol=1e-8)


def test_a_bent_knee_and_a_turned_pelvis_by_hand() -> None:
    joint_pos = torch.zeros(28, dtype=torch.float64)
    joint_pos[spec.JOINT_NAMES.index("right_knee")] = np.pi / 2.0
    # a quarter turn to the left about the pelvis 0.9 m up; the shin, bent back, points to where the back is
    quarter = torch.tensor([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], dtype=torch.float64)
    place = torch.tensor([1.0, 2.0, 0.9], dtype=torch.float64)
    position, quat = forward_kinematics(place, quarter, joint_pos, scale=2.0)
    knee, foot = (position[spec.BODY_NAMES.index(f"right_{name}")].numpy() for name in ("shin", "foot"))
    np.testing.assert_allclose(knee, [1.0 + 2.0 * 0.084887, 2.0, 0.9 - 2.0 * 0.421546], atol=1e-9)
    np.testing.assert_allclose(foot - knee, [0.0, -2.0 * 0.40987, 0.0], atol=1e-9)
    assert angle_between(quat[0].numpy(), quarter.numpy()) < 1e-12


def test_hinges_of_a_joint_turn_in_the_order_x_y_z() -> None:
    angles = (0.5, -0.7, 1.1)
    joint_pos = torch.zeros(28, dtype=torch.float64)
    for axis, angle in zip("xyz", angles, strict=True):
        joint_pos[spec.JOINT_NAMES.index(f"left_shoulder_{axis}")] = angle
    unturned = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    _, quat = forward_kinematics(torch.zeros(3, dtype=torch.float64), unturned, joint_pos)
    arm = quat[spec.BODY_NAMES.index("left_upper_arm")].numpy()
    assert angle_between(arm, Rotation.from_euler("XYZ", angles).as_quat()) < 1e-9


def test_angular_velocity_is_in_the_world_and_blind_to_signs() -> None:
    rate = np.array([0.7, -2.0, 1.3])
    time = np.arange(30) / 30.0
    quat = (Rotation.from_rotvec(time[:, None] * rate) * Rotation.from_quat(ASYMMETRIC)).as_quat()
    signs = np.where(np.arange(30) % 2, -1.0, 1.0)[:, None]
    for values in (quat, signs * quat):
        found = angular_velocity(torch.as_tensor(values), 30.0).numpy()
        np.testing.assert_allclose(found, np.tile(rate, (30, 1)), atol=1e-9)


def test_derivatives_are_central_and_one_sided_at_the_ends() -> None:
    value = torch.tensor([[0.0], [1.0], [4.0], [9.0]])
    assert time_derivative(value, 10.0).flatten().tolist() == [10.0, 20.0, 40.0, 50.0]


def test_a_clip_s_bodies_have_its_character_s_size() -> None:
    clip = make_clip(4)
    small, tall = clip_states(clip), clip_states(clip.with_(character="climbing"))
    offset, longer = (states.body_pos - states.root_pos.unsqueeze(1) for states in (small, tall))
    torch.testing.assert_close(longer, offset * 1.75 / 1.62, atol=1e-6, rtol=1e-5)
    assert torch.equal(small.root_pos, tall.root_pos)
