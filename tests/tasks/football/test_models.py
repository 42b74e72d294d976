import pytest
import torch
from tensordict import TensorDict

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.mdp.observations import body_features_h
from sportsuite_tasks.football.models import (
    AimCritic,
    AimFeatures,
    AimModel,
    InterceptModel,
    MoveFeatures,
    MoveModel,
    chase,
    heading_command,
    intercept_features,
)


def ball(position, velocity):
    row = torch.zeros(1, 13)
    row[0, :3], row[0, 7:10], row[0, 6] = torch.tensor(position), torch.tensor(velocity), 1.0
    return row


def test_a_dropped_ball_lands_below_itself():
    out = intercept_features(ball([0.5, 0.2, 0.11 + 4.905], [0.0, 0.0, 0.0]))[0]
    assert out[:2].tolist() == pytest.approx([0.5, 0.2]) and out[5].item() == pytest.approx(1.0)


def test_a_lob_from_the_front_by_hand():
    """10 m away at 10 m/s towards the root, thrown up at 9.81 m/s from the ground: lands after 2 s, 10 m behind."""
    out = intercept_features(ball([10.0, 0.3, 0.11], [-10.0, 0.0, 9.81]))[0]
    assert out[:2].tolist() == pytest.approx([-3.0, 0.3])  # limited to 3 m
    assert out[5].item() == pytest.approx(2.0)
    # it passes the root after 1 s, at the top of its flight: 4.905 m up, limited to 3 m
    assert out[2:5].tolist() == pytest.approx([0.0, 0.3, 3.0], abs=1e-5) and out[6].item() == pytest.approx(1.0)


def test_a_ball_that_leaves_is_closest_now():
    out = intercept_features(ball([1.0, 0.0, 0.5], [5.0, 0.0, 0.0]))[0]
    assert out[6].item() == 0.0 and out[2:5].tolist() == pytest.approx([1.0, 0.0, 0.5])


def observed(
    goal, ball=(0.0, 0.0), ball_vel=(0.0, 0.0), left_foot=(0.0, 0.0), foot_vel=(0.0, 0.0), root_vel=(0.0, 0.0)
):
    """One observation through the function that makes it, the character facing along x at the origin."""
    position, quat, lin_vel, ang_vel = (torch.zeros(1, 15, size) for size in (3, 4, 3, 3))
    quat[..., 3] = 1.0
    foot = BODY_NAMES.index("left_foot")
    position[0, foot, :2], lin_vel[0, foot, :2] = torch.tensor(left_foot), torch.tensor(foot_vel)
    lin_vel[0, 0, :2] = torch.tensor(root_vel)
    row = torch.zeros(1, 13)
    row[0, :2], row[0, 7:9] = torch.tensor(ball), torch.tensor(ball_vel)
    return torch.cat((body_features_h(position, quat, lin_vel, ang_vel), row, torch.tensor([goal])), dim=1)


def test_the_goal_is_the_first_axis():
    """A goal to the left at 2 m/s: y is along it, and minus x is to its left."""
    obs = observed((0.0, 2.0), (1.0, 0.5), (0.0, 1.0), (0.7, 0.2), (0.4, 0.3), (1.5, 0.0))
    out = AimFeatures(223)(obs)[0]
    along, left = out[:8], out[8:16]
    # ball, its velocity, error over the goal's speed, root's velocity, feet from the ball, the feet's velocities
    assert along.tolist() == pytest.approx([0.5, 1.0, -0.5, 0.0, -0.5, -0.3, 0.0, 0.3])
    assert left.tolist() == pytest.approx([-1.0, 0.0, 0.0, -1.5, 1.0, 0.3, 0.0, -0.4])
    assert out[16:18].tolist() == pytest.approx([2.0, 0.5])


def test_no_goal_is_no_direction():
    out = AimFeatures(223)(observed((0.0, 0.0), (1.0, 0.5)))[0]
    assert out.isfinite().all() and out[:16].abs().sum() == 0.0 and out[17] == 2.0


def test_a_walker_is_told_direction_and_speed():
    out = heading_command(torch.tensor([[3.0, -4.0], [0.0, 0.6], [0.0, 0.0]]))
    assert out[0].tolist() == pytest.approx([0.6, -0.8, 4.0])  # 5 m/s, limited
    assert out[1].tolist() == pytest.approx([0.0, 1.0, 0.6])
    assert out[2].tolist() == [1.0, 0.0, 0.0]


def test_the_chaser_goes_behind_the_ball():
    """The ball 0.8 m ahead shall go left at 1 m/s: the place is 0.3 m to its right."""
    velocity = chase(observed((0.0, 1.0), (0.8, 0.0)), 223)[0]
    assert velocity.tolist() == pytest.approx([2.0 * 0.8, 1.0 - 2.0 * 0.3])
    there = chase(observed((0.0, 20.0), (0.0, 0.3)), 223)[0]
    assert there.tolist() == pytest.approx([0.0, 2.5])
    command = AimFeatures(223)(observed((0.0, 20.0), (0.0, 0.3)))[0, 18:]
    assert command.tolist() == pytest.approx([0.0, 1.0, 2.5])


def move_features(velocity, goal, facing):
    obs = torch.cat((observed((0.0, 0.0), root_vel=velocity)[:, :223], torch.tensor([[*goal, *facing]])), dim=1)
    return MoveFeatures(223)(obs)[0].tolist()


def test_moves_error_and_facing_are_seen_along_its_goal():
    """To the left at 2 m/s, moving ahead at 1 m/s: 2 m/s too slow, and 1 m/s off to the goal's right."""
    out = move_features((1.0, 0.0), (0.0, 2.0), (0.0, -1.0))
    assert out[:4] == pytest.approx([-2.0, -1.0, -1.0, 0.0])


def test_a_movers_walker_goes_between_velocity_and_facing():
    assert move_features((0.0, 0.0), (0.0, 2.0), (0.0, 1.0))[4:] == pytest.approx([0.0, 1.0, 2.0])
    assert move_features((0.0, 0.0), (0.0, 1.0), (1.0, 0.0))[4:] == pytest.approx([0.5**0.5] * 3)
    assert move_features((0.0, 0.0), (0.0, 0.0), (0.0, -1.0))[4:] == pytest.approx([0.0, -1.0, 0.0])
    assert move_features((0.0, 0.0), (-0.5, 0.0), (1.0, 0.0))[4:] == pytest.approx([1.0, 0.0, 0.0])


def test_a_critic_with_features_has_an_output_per_objective():
    obs = TensorDict({"policy": torch.randn(5, 238)}, batch_size=5)
    critic = AimCritic(obs, {"critic": ["policy"]}, "critic", 1, num_values=3, hidden_dims=[16])
    assert critic(obs).shape == (5, 3)


@pytest.mark.parametrize("model_type", [InterceptModel, AimModel, MoveModel])
def test_the_exported_network_sees_the_same(model_type):
    torch.manual_seed(0)
    obs = TensorDict({"policy": torch.randn(5, 242)}, batch_size=5)
    model = model_type(obs, {"actor": ["policy"]}, "actor", 28, [16], obs_normalization=True)
    model.update_normalization(obs)
    model.eval()
    exported = torch.jit.script(model.as_jit())
    assert torch.allclose(exported(obs["policy"]), model(obs), atol=1e-6)
    moved = obs.clone()
    moved["policy"][:, 223] += 0.5
    assert not torch.allclose(model(moved), model(obs))
