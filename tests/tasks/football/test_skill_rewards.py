"""Hand-computed values of the rewards and terminations of Move, Dribble and Kick, on a stand-in for the environment."""

import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite.characters.spec import BODY_NAMES
from sportsuite_tasks.football.mdp import rewards, terminations
from sportsuite_tasks.football.mdp.foot_choice import FootChoice
from sportsuite_tasks.football.projectile import pass_distance


def ns(tensor):
    return SimpleNamespace(torch=tensor)


def body(pos, vel):
    return SimpleNamespace(data=SimpleNamespace(root_link_pos_w=ns(pos), root_link_lin_vel_w=ns(vel)))


def stand_in(command, ball_pos=(0.0, 0.0, 0.11), ball_vel=(0.0, 0.0, 0.0), root_vel=(0.0, 0.0, 0.0), **more):
    """One world: the root 1 m above the origin, a ball, a command."""
    rows = [torch.tensor([row]) for row in (ball_pos, ball_vel, (0.0, 0.0, 1.0), root_vel)]
    scene = {"ball": body(*rows[:2]), "robot": body(*rows[2:])}
    manager = SimpleNamespace(get_term=lambda name: command)
    return SimpleNamespace(scene=scene, command_manager=manager, num_envs=1, device="cpu", step_dt=1 / 30, **more)


def goal(velocity, **more):
    return SimpleNamespace(velocity_w=torch.tensor([velocity]), foot=None, **more)


def test_nts_error_by_hand():
    """Target (2, 0), value (0, 1): |v - x| = sqrt 5, |v| - |x| = 1, both over 2."""
    error = rewards.nts_error(torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 1.0]]), eps=0.0)
    assert error.item() == pytest.approx(5 / 4 + 0.1 * 1 / 4)
    plain = rewards.nts_error(torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 1.0]]), normalize=False)
    assert plain.item() == pytest.approx(5 + 0.1)
    assert rewards.nts_error(torch.zeros(1, 2), torch.zeros(1, 2)).item() == 0.0
    # at target 0 the floor of 0.5 m/s normalises
    slow = rewards.nts_error(torch.zeros(1, 2), torch.tensor([[0.25, 0.0]]), eps=0.0)
    assert slow.item() == pytest.approx(1.1 * 0.25)


def test_standing_still_has_the_error_1_1_at_any_speed():
    target = torch.tensor([[1.0, 0.0], [0.0, 7.0]])
    assert rewards.nts_error(target, torch.zeros(2, 2), eps=0.0).tolist() == pytest.approx([1.1, 1.1])


@pytest.mark.parametrize(
    ("reward", "slot"),
    [
        (rewards.ball_velocity_match, "ball_vel"),
        (rewards.run_to_ball, "root_vel"),
        (rewards.root_velocity_match, "root_vel"),
        (rewards.kicked_ball_velocity, "ball_vel"),
    ],
)
def test_the_same_relative_error_pays_the_same_at_1_and_7_metres_per_second(reward, slot):
    values = {}
    for normalize in (True, False):
        for speed in (1.0, 7.0):
            command = goal((speed, 0.0), task_share=1.0, measure=lambda: None, in_window=torch.ones(1))
            if reward is rewards.kicked_ball_velocity:
                command.velocity_w = torch.tensor([[speed, 0.0, 0.0]])
            env = stand_in(command, ball_pos=(1.0, 0.0, 0.11), **{slot: (0.8 * speed, 0.1 * speed, 0.0)})
            values[normalize, speed] = reward(env, "goal", normalize=normalize).item()
    assert values[True, 1.0] == pytest.approx(values[True, 7.0], rel=1e-5) and 0.0 < values[True, 1.0] < 1.0
    assert values[False, 1.0] > 1.2 * values[False, 7.0]


def test_dribble_rewards_by_hand():
    env = stand_in(goal((2.0, 0.0)), ball_pos=(0.3, 0.4, 0.11), ball_vel=(1.0, 0.0, 3.0), root_vel=(1.2, 1.6, 0.5))
    expected = math.exp(-10 * (0.25 + 0.1 * 0.25))
    # the ball's vertical speed and height count for nothing
    assert rewards.ball_velocity_match(env, "goal", eps=0.0).item() == pytest.approx(expected)
    assert rewards.ball_root_distance(env).item() == pytest.approx(math.exp(-10 * 0.25))
    # the ball lies in the direction (0.6, 0.8): running there at 2 m/s is perfect
    assert rewards.run_to_ball(env, "goal").item() == pytest.approx(1.0, abs=1e-6)


def test_move_rewards_by_hand():
    command = goal((2.0, 0.0), facing_w=torch.tensor([[0.0, 1.0]]), heading=torch.tensor([[0.6, 0.8]]))
    command.task_share = torch.tensor([1.0])
    env = stand_in(command)
    assert rewards.root_velocity_match(env, "goal", eps=0.0).item() == pytest.approx(math.exp(-0.25 * 1.1))
    assert rewards.facing_match(env, "goal").item() == pytest.approx(0.8)
    command.heading = torch.tensor([[0.0, -1.0]])
    assert rewards.facing_match(env, "goal").item() == pytest.approx(-1.0)


def test_a_guided_episode_pays_half_for_the_task_and_half_for_the_latent():
    command = goal((2.0, 0.0), facing_w=torch.tensor([[1.0, 0.0]]), heading=torch.tensor([[1.0, 0.0]]))
    command.task_share, command.latent = torch.tensor([0.5]), torch.tensor([[0.6, 0.8]])
    latent = SimpleNamespace(processed_actions=torch.tensor([[1.0, 0.0]]))
    env = stand_in(command, root_vel=(2.0, 0.0, 0.0), action_manager=SimpleNamespace(get_term=lambda name: latent))
    task = 0.7 * rewards.root_velocity_match(env, "goal") + 0.3 * rewards.facing_match(env, "goal")
    assert task.item() == pytest.approx(0.5, abs=1e-6)
    assert rewards.latent_similarity(env, "goal").item() == pytest.approx(0.3)
    command.task_share = torch.tensor([1.0])
    assert rewards.latent_similarity(env, "goal").item() == 0.0


@pytest.mark.parametrize(("scale", "expected"), [(1.0, math.exp(-0.25)), (10.0, math.exp(-2.5))])
def test_kick_reward_by_hand(scale, expected):
    """Half of the target velocity (6, 0, 8) is an error of a half, and counts once: no second part as in E."""
    command = goal((6.0, 0.0, 8.0), measure=lambda: None, in_window=torch.tensor([True]))
    env = stand_in(command, ball_vel=(3.0, 0.0, 4.0))
    assert rewards.kicked_ball_velocity(env, "goal", scale=scale, eps=0.0).item() == pytest.approx(expected)
    command.in_window = torch.tensor([False])
    assert rewards.kicked_ball_velocity(env, "goal", scale=scale).item() == 0.0


@pytest.mark.parametrize(
    ("target", "ball", "expected"),
    [((2.0, 0.0), (1.0, 5.0, 0.0), 0.5), ((0.0, 2.0), (0.0, 9.0, 0.0), 1.0), ((0.2, 0.0), (-0.1, 0.0, 0.0), -0.08)],
)
def test_a_ball_along_the_goal_by_hand(target, ball, expected):
    """Half as fast along it; faster than asked, at most 1; targets below 0.5 m/s count as that: 0.2 (-0.1) / 0.25."""
    env = stand_in(goal(target), ball_vel=ball)
    assert rewards.ball_along_goal(env, "goal").item() == pytest.approx(expected)


def test_foot_towards_ball_is_the_speed_of_the_nearest_foot_until_the_contact():
    touch = SimpleNamespace(steps_since=torch.tensor([-1]))
    aim = torch.tensor([[1.0, 0.0]])
    command = goal((1.0, 0.0, 0.0), aim_w=aim, first_touch=SimpleNamespace(refresh=lambda: touch))
    env = stand_in(command, ball_vel=(0.4, 0.0, 0.0))
    data = env.scene["robot"].data
    data.body_com_pos_w = ns(torch.tensor([[[-0.5, 0.0, 0.11], [0.0, 2.0, 0.11]]]))
    data.body_com_lin_vel_w = ns(torch.tensor([[[1.5, 3.0, 0.0], [0.0, -9.0, 0.0]]]))
    feet = SimpleNamespace(name="robot", body_ids=[0, 1])
    # 1.5 m/s towards a ball that rolls on at 0.4; the sideways part and the farther foot don't count
    assert rewards.foot_towards_ball(env, "goal", feet).item() == pytest.approx(1.1)
    assert rewards.foot_towards_ball(env, "goal", feet, limit=1.0).item() == pytest.approx(1.0)
    # a target along +x: the point is 1 m behind the ball, at (-1, 0), which the foot at (-0.5, 0) leaves
    assert rewards.foot_towards_ball(env, "goal", feet, behind=1.0).item() == pytest.approx(-1.1)
    touch.steps_since = torch.tensor([0])
    assert rewards.foot_towards_ball(env, "goal", feet).item() == 0.0


@pytest.mark.parametrize(("y", "expected"), [(2.99, False), (3.01, True)])
def test_three_metres_end_the_dribble(y, expected):
    """The height of the ball doesn't count."""
    assert terminations.ball_too_far(stand_in(goal((1.0, 0.0)), ball_pos=(0.0, y, 9.0))).item() is expected


def test_a_kick_ends_after_its_window_and_a_ball_that_was_kicked_is_not_lost():
    state = SimpleNamespace(steps_since=torch.tensor([9]), touched=torch.tensor([True]))
    command = SimpleNamespace(first_touch=SimpleNamespace(refresh=lambda: state), cfg=SimpleNamespace(window_s=1 / 3))
    env = stand_in(command, ball_pos=(8.0, 0.0, 1.0))
    assert not terminations.kick_over(env, "kick").item()
    assert not terminations.ball_lost_before_kick(env, "kick").item()
    state.steps_since, state.touched = torch.tensor([10]), torch.tensor([False])
    assert terminations.kick_over(env, "kick").item()
    assert terminations.ball_lost_before_kick(env, "kick").item()


def touch(env, *bodies):
    env.common_step_counter += 1
    env.touch.impulse.zero_()
    for name in bodies:
        env.touch.impulse[0, BODY_NAMES.index(name)] = 0.1


def test_the_last_touch_decides_whether_the_right_foot_plays():
    tracker = SimpleNamespace(impulse=torch.zeros(1, len(BODY_NAMES) + 1))
    env = SimpleNamespace(num_envs=1, device="cpu", common_step_counter=0, touch=tracker)
    foot = FootChoice(env)
    foot.side[0] = 1  # left
    assert foot.one_hot.tolist() == [[0.0, 1.0]] and foot.kept.item()
    touch(env, "left_foot")
    assert foot.kept.item()
    touch(env, "right_shin")
    assert not foot.kept.item()
    touch(env)
    assert not foot.kept.item()
    touch(env, "left_shin")
    assert foot.kept.item()
    touch(env, "torso")
    assert not foot.kept.item()
    foot.draw(slice(None))
    assert foot.last.item() == -1
    # the wrong foot earns nothing for the ball's velocity
    command = goal((1.0, 0.0))
    command.foot = SimpleNamespace(kept=torch.tensor([False]))
    assert rewards.ball_velocity_match(stand_in(command, ball_vel=(1.0, 0.0, 0.0)), "goal").item() == 0.0


def test_distance_of_passes_by_hand():
    """A lob of 2 s comes down 10 m ahead; a ball on the ground passes 3 m beside; one that leaves is where it is."""
    position = torch.tensor([[0.0, 0.0, 0.11]] * 3)
    velocity = torch.tensor([[5.0, 0.0, 9.81], [5.0, 0.0, 0.0], [-5.0, 0.0, 0.0]])
    centre = torch.tensor([[10.0, 3.0], [10.0, 3.0], [4.0, 3.0]])
    assert pass_distance(position, velocity, centre, 0.11).tolist() == pytest.approx([3.0, 3.0, 5.0], abs=1e-4)


def test_pass_reward_by_hand():
    """1 m beyond the rim at 10 m with a tolerance of a fifth: half of the tolerance."""
    command = SimpleNamespace(
        centre_w=torch.tensor([[10.0, 0.0]]),
        predicted_miss=lambda: torch.tensor([1.0]),
        measure=lambda: None,
        in_window=torch.tensor([True]),
        foot=None,
    )
    assert rewards.pass_into_zone(stand_in(command), "kick").item() == pytest.approx(math.exp(-0.25))
