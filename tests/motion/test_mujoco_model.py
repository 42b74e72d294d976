"""The kinematic MuJoCo model: names, order, forward kinematics and Jacobians."""

import mujoco
import numpy as np
import pytest
import torch

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.body_points import body_points, frame_poses, jacobian, positions
from sportsuite.motion.kinematics import forward_kinematics
from sportsuite.motion.mujoco_model import body_spheres, humanoid_model, model_scale, sole_points


def crooked_qpos() -> np.ndarray:
    rng = np.random.default_rng(1)
    qpos = np.concatenate(([1.0, 2.0, 3.0, 0.7, 0.5, 0.5, -0.1], rng.uniform(-0.4, 0.4, spec.NUM_JOINTS)))
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    return qpos


def test_names_stand_in_the_order_of_the_spec():
    model = humanoid_model("climbing")
    assert tuple(model.body(index).name for index in range(1, model.nbody)) == spec.BODY_NAMES
    assert tuple(model.joint(index).name for index in range(1, model.njnt)) == spec.JOINT_NAMES


@pytest.mark.parametrize("character", spec.VARIANTS)
def test_bodies_are_where_our_own_kinematics_put_them(character):
    model, qpos = humanoid_model(character), crooked_qpos()
    poses = frame_poses(model, mujoco.MjData(model), qpos)
    quat = torch.tensor(np.roll(qpos[3:7], -1))
    scale = model_scale(character)
    expected, _ = forward_kinematics(torch.tensor(qpos[:3]), quat, torch.tensor(qpos[7:]), scale)
    np.testing.assert_allclose(poses.body_pos, expected.numpy(), atol=1e-12)


def test_jacobian_is_the_difference_quotient():
    model, qpos = humanoid_model("football"), crooked_qpos()
    points = body_points(
        [("left_foot", (0.1, 0.02, -0.05)), ("head", (0.1, 0.0, 0.1)), ("right_hand", (0.0, 0.0, 0.0))]
    )
    data = mujoco.MjData(model)
    poses = frame_poses(model, data, qpos)
    place = positions(poses, points)
    slopes = jacobian(poses, points, place)
    for column in range(model.nv):
        step, moved = np.zeros(model.nv), qpos.copy()
        step[column] = 1e-6
        mujoco.mj_integratePos(model, moved, step, 1)
        change = (positions(frame_poses(model, data, moved), points) - place) / 1e-6
        np.testing.assert_allclose(slopes[:, :, column], change, atol=1e-5)
    some = np.array([1, 4, 20, 30])
    frame_poses(model, data, qpos)
    np.testing.assert_allclose(jacobian(poses, points, place, some), slopes[:, :, some], atol=1e-12)


def test_soles_lie_where_the_spec_says():
    for foot, drop in spec.SOLE_DROP.items():
        scale = model_scale("football", foot)
        np.testing.assert_allclose(sole_points("football", foot)[:, 2], -drop * scale, atol=1e-9)
    assert sole_points("football").shape == (12, 3)


def test_body_spheres_are_those_of_the_colliders():
    spheres = body_spheres("football")
    assert not any(body in spec.FEET for body, _, _ in spheres)
    scale = model_scale("football")
    head = [sphere for sphere in spheres if sphere[0] == "head"]
    np.testing.assert_allclose(head[0][1], [0.0, 0.0, 0.175 * scale])
    assert head[0][2] == pytest.approx(0.095 * scale)


def test_unknown_characters_are_refused():
    with pytest.raises(BadInputError, match="unknown character 'footbal'.*'football'"):
        humanoid_model("footbal")
