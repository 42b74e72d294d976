import math

import torch

from sportsuite.mdp.observations import body_features_h, leading_slice, object_features_h

YAW_90 = torch.tensor([0.0, 0.0, math.sin(math.pi / 4), math.cos(math.pi / 4)])
IDENTITY = torch.tensor([0.0, 0.0, 0.0, 1.0])


def test_fifteen_bodies_make_223_numbers():
    n = 2
    quat = IDENTITY.expand(n, 15, 4)
    out = body_features_h(torch.zeros(n, 15, 3), quat, torch.zeros(n, 15, 3), torch.zeros(n, 15, 3))
    assert out.shape == (n, 223)


def test_layout_of_two_bodies_turned_by_ninety_degrees():
    """Everything by hand: root at height 0.9 facing +y, second body one metre in front of it."""
    position = torch.tensor([[[5.0, 6.0, 0.9], [5.0, 7.0, 0.4]]])
    quat = torch.stack((YAW_90, YAW_90)).unsqueeze(0)
    lin_vel = torch.tensor([[[0.0, 2.0, 0.0], [3.0, 0.0, 1.0]]])
    ang_vel = torch.tensor([[[0.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
    out = body_features_h(position, quat, lin_vel, ang_vel)[0]
    assert out.shape == (28,)
    expected = [0.9, 1.0, 0.0, -0.5]  # root height, second body ahead and lower
    expected += [1.0, 0.0, 0.0, 0.0, 0.0, 1.0] * 2  # both bodies aligned with the heading: tangent x, normal z
    expected += [2.0, 0.0, 0.0] + [0.0, -3.0, 1.0]  # forwards; to the right and up
    expected += [0.0, 0.0, 0.5] + [1.0, 0.0, 0.0]
    assert torch.allclose(out, torch.tensor(expected), atol=1e-6)


def test_turning_and_moving_the_world_changes_nothing():
    torch.manual_seed(0)
    position, lin, ang = torch.randn(3, 1, 4, 3)
    quat = torch.nn.functional.normalize(torch.randn(1, 4, 4), dim=-1)
    before = body_features_h(position, quat, lin, ang)
    c, s = math.cos(1.1), math.sin(1.1)
    turn = torch.tensor([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    qz, qw = math.sin(0.55), math.cos(0.55)
    x, y, z, w = quat.unbind(-1)
    turned = torch.stack((qw * x - qz * y, qw * y + qz * x, qw * z + qz * w, qw * w - qz * z), dim=-1)
    shift = torch.tensor([3.0, -2.0, 0.0])
    after = body_features_h(position @ turn.T + shift, turned, lin @ turn.T, ang @ turn.T)
    assert torch.allclose(before, after, atol=1e-5)


def test_object_is_seen_from_the_heading():
    out = object_features_h(
        torch.tensor([[1.0, 1.0, 0.9]]),
        YAW_90.unsqueeze(0),
        torch.tensor([[1.0, 3.0, 0.11]]),
        YAW_90.unsqueeze(0),
        torch.tensor([[0.0, -4.0, 1.0]]),
        torch.tensor([[1.0, 0.0, 0.0]]),
    )[0]
    expected = [2.0, 0.0, 0.11, 0.0, 0.0, 0.0, 1.0, -4.0, 0.0, 1.0, 0.0, -1.0, 0.0]
    assert torch.allclose(out, torch.tensor(expected), atol=1e-6)


def test_leading_indices_become_a_slice_and_others_stay():
    assert leading_slice([0, 1, 2]) == slice(0, 3)
    assert leading_slice([0, 2]) == [0, 2]
    assert leading_slice(slice(None)) == slice(None)
