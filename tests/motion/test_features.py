"""One frame as a discriminator sees it: by hand, in any direction, mirrored."""

from __future__ import annotations

import math

import pytest
import torch

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.mdp import frames
from sportsuite.motion import features
from sportsuite.motion.clip import Clip
from sportsuite.motion.kinematics import (
    clip_states,
    forward_kinematics,
    quat_conjugate,
    quat_multiply,
    quat_rotate,
)
from sportsuite.motion.mirror import mirror_clip
from tests.motion.samples import make_clip

HALF = math.sqrt(0.5)
KEYS = [spec.BODY_NAMES.index(name) for name in spec.KEY_BODIES]


def features_of(clip: Clip) -> torch.Tensor:
    states = clip_states(clip)
    return features.frame_features(
        states.root_pos,
        states.root_quat,
        states.root_lin_vel,
        states.root_ang_vel,
        states.joint_pos,
        states.joint_vel,
        states.body_pos[:, KEYS],
    )


def test_the_parts_cover_125_columns() -> None:
    parts = features.layout()
    columns = [column for part in parts.values() for column in range(part.start, part.stop)]
    assert columns == list(range(125)) and features.NUM_FEATURES == 125
    sizes = {name: part.stop - part.start for name, part in parts.items()}
    assert sizes == {
        "root_height": 1,
        "root_rotation": 6,
        "root_lin_vel": 3,
        "root_ang_vel": 3,
        "joint_rotation": 72,
        "joint_vel": 28,
        "key_bodies": 12,
    }


def test_a_frame_by_hand() -> None:
    """The body faces +y, away from the origin, its right knee bent by 90 degrees, its left arm raised sideways."""
    joint_pos, joint_vel = torch.zeros(1, 28), torch.arange(28.0).unsqueeze(0)
    joint_pos[0, spec.JOINT_NAMES.index("right_knee")] = 0.5 * math.pi
    joint_pos[0, spec.JOINT_NAMES.index("left_shoulder_x")] = 0.5 * math.pi
    root = torch.tensor([[3.0, -2.0, 0.9]])
    keys = root + torch.tensor([[[0.0, 1.0, 0.0], [-0.5, 0.0, 0.2], [0.0, 0.0, -0.8], [0.3, 0.0, -0.8]]])
    out = features.frame_features(
        root,
        torch.tensor([[0.0, 0.0, HALF, HALF]]),
        torch.tensor([[0.5, 2.0, 0.1]]),
        torch.tensor([[1.0, 0.0, 0.5]]),
        joint_pos,
        joint_vel,
        keys,
    )[0]
    parts = features.layout()

    def near(part: str, *expected: float) -> bool:
        return torch.allclose(out[parts[part]], torch.tensor(expected), atol=1e-6)

    assert near("root_height", 0.9)
    assert near("root_rotation", 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    # +y is forwards and +x is to the right
    assert near("root_lin_vel", 2.0, -0.5, 0.1)
    assert near("root_ang_vel", 0.0, -1.0, 0.5)
    assert near("key_bodies", 1.0, 0.0, 0.0, 0.0, 0.5, 0.2, 0.0, 0.0, -0.8, 0.0, -0.3, -0.8)
    assert torch.equal(out[parts["joint_vel"]], joint_vel[0])
    turned = {"right_knee": (0.0, 0.0, -1.0, 1.0, 0.0, 0.0), "left_shoulder": (1.0, 0.0, 0.0, 0.0, -1.0, 0.0)}
    for joint, six in zip(spec.JOINTS, out[parts["joint_rotation"]].view(12, 6), strict=True):
        expected = torch.tensor(turned.get(joint, (1.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
        assert torch.allclose(six, expected, atol=1e-6), joint


def test_a_leaning_body_keeps_its_lean() -> None:
    """Only the yaw is taken off: 30 degrees forwards, then a quarter turn left."""
    lean, yaw = (
        torch.tensor([[0.0, math.sin(math.pi / 12), 0.0, math.cos(math.pi / 12)]]),
        torch.tensor([[0.0, 0.0, HALF, HALF]]),
    )
    zero = torch.zeros(1, 3)
    out = features.frame_features(
        zero, quat_multiply(yaw, lean), zero, zero, torch.zeros(1, 28), torch.zeros(1, 28), torch.zeros(1, 4, 3)
    )[0, features.layout()["root_rotation"]]
    cos, sin = math.cos(math.pi / 6), 0.5
    assert torch.allclose(out, torch.tensor([cos, 0.0, -sin, sin, 0.0, cos]), atol=1e-6)


def test_place_and_direction_in_the_world_do_not_show() -> None:
    states = clip_states(make_clip(20))
    yaw = torch.linspace(-3.0, 3.0, 20)
    turn = torch.stack((0 * yaw, 0 * yaw, torch.sin(0.5 * yaw), torch.cos(0.5 * yaw)), dim=1)
    shift = torch.tensor([4.0, -7.0, 0.0])
    keys = states.body_pos[:, KEYS]
    moved = features.frame_features(
        quat_rotate(turn, states.root_pos) + shift,
        quat_multiply(turn, states.root_quat),
        quat_rotate(turn, states.root_lin_vel),
        quat_rotate(turn, states.root_ang_vel),
        states.joint_pos,
        states.joint_vel,
        quat_rotate(turn[:, None].expand(-1, 4, -1), keys) + shift,
    )
    torch.testing.assert_close(moved, features_of(make_clip(20)), atol=1e-4, rtol=1e-4)


def test_height_does_show() -> None:
    clip = make_clip(4)
    change = features_of(clip.with_(root_pos=clip.root_pos + [0.0, 0.0, 0.5])) - features_of(clip)
    assert torch.allclose(change[:, 0], torch.tensor(0.5)) and change[:, 1:].abs().max() < 1e-5


def test_joint_rotations_are_those_of_forward_kinematics() -> None:
    joint_pos = torch.as_tensor(make_clip(10).joint_pos)
    _, quat = forward_kinematics(torch.zeros(10, 3).double(), torch.tensor([[0.0, 0, 0, 1]] * 10).double(), joint_pos)
    out = features.joint_rotations(joint_pos)
    for index, joint in enumerate(spec.JOINTS):
        body = next(number for number, body in enumerate(spec.BODIES) if body.joint == joint)
        own = quat_multiply(quat_conjugate(quat[:, spec.PARENTS[body]]), quat[:, body])
        torch.testing.assert_close(out[:, index], frames.tangent_normal(own), atol=1e-9, rtol=0.0)


def test_the_map_gives_the_features_of_the_mirrored_clip() -> None:
    clip = make_clip(20)
    index, sign = features.mirror_map()
    out = features_of(clip)
    torch.testing.assert_close(out[:, index] * sign, features_of(mirror_clip(clip)), atol=1e-4, rtol=1e-5)
    assert torch.equal((out[:, index] * sign)[:, index] * sign, out)


def test_groups_hold_their_own_columns() -> None:
    upper, lower, legs = (features.group_columns(name) for name in ("upper", "lower", "legs"))
    root = list(range(features.layout()["joint_rotation"].start))
    assert legs[: len(root)] == root and len(root) == 13
    # 6 joints of 6 numbers, 2 x (3 + 1 + 3) hinges, 2 feet
    assert len(legs) == len(set(legs)) == 13 + 36 + 14 + 6
    # both halves of the body together are everything, with only the root in common
    assert set(upper) | set(lower) == set(range(125)) and set(upper) & set(lower) == set(root)
    foot = features.layout()["key_bodies"].start + 3 * spec.KEY_BODIES.index("right_foot")
    knee = features.layout()["joint_vel"].start + spec.JOINT_NAMES.index("left_knee")
    assert {foot, foot + 1, foot + 2, knee} <= set(legs) and not {foot, knee} & set(upper)
    with pytest.raises(BadInputError, match="unknown body group 'leg': did you mean 'legs'"):
        features.group_columns("leg")
