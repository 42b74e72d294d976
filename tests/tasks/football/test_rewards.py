"""Hand-computed values of football's rewards and terminations, on a stand-in for the environment."""

import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite.characters.spec import ARMS, BODY_NAMES
from sportsuite.mdp.touch import FirstTouch
from sportsuite_tasks.football.mdp import rewards, terminations
from sportsuite_tasks.football.mdp.commands import TrapCommandCfg


def ns(tensor):
    return SimpleNamespace(torch=tensor)


class Env:
    """Just what the terms read: two worlds, a ball, a robot, a contact tracker."""

    def __init__(self, ball_pos, ball_vel, body_pos, root_vel, target):
        n = len(ball_pos)
        self.num_envs, self.device, self.step_dt, self.common_step_counter = n, "cpu", 1 / 30, 0
        self.touch = SimpleNamespace(body_names=BODY_NAMES, impulse=torch.zeros(n, len(BODY_NAMES) + 1))
        bodies = torch.zeros(n, len(BODY_NAMES), 3) + body_pos.unsqueeze(1)
        ball = SimpleNamespace(root_link_pos_w=ns(ball_pos), root_link_lin_vel_w=ns(ball_vel))
        robot = SimpleNamespace(
            body_com_pos_w=ns(bodies), root_link_lin_vel_w=ns(root_vel), root_link_pos_w=ns(body_pos)
        )
        self.scene = {"ball": SimpleNamespace(data=ball), "robot": SimpleNamespace(data=robot)}
        command = SimpleNamespace(
            target_body=torch.full((n,), BODY_NAMES.index(target)), first_touch=FirstTouch(self), cfg=TrapCommandCfg()
        )
        self.command = command
        self.command_manager = SimpleNamespace(get_term=lambda name: command)

    def hit(self, world, body):
        self.common_step_counter += 1
        self.touch.impulse.zero_()
        if body is not None:
            self.touch.impulse[world, BODY_NAMES.index(body) if body != "ground" else -1] = 0.3


@pytest.fixture
def env():
    return Env(
        ball_pos=torch.tensor([[0.3, 0.0, 0.5], [0.0, 0.0, 0.5]]),
        ball_vel=torch.tensor([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]]),
        body_pos=torch.tensor([[0.0, 0.0, 0.5], [0.0, 0.0, 0.5]]),
        root_vel=torch.zeros(2, 3),
        target="left_foot",
    )


def test_before_contact_the_distance_pays(env):
    env.hit(0, None)
    assert rewards.trap_before(env, "trap").tolist() == pytest.approx([math.exp(-10 * 0.09), 1.0])
    assert rewards.trap_after(env, "trap").tolist() == [0.0, 0.0]


def test_the_step_of_the_contact_still_pays_for_distance_and_the_next_ones_for_speed(env):
    env.hit(1, "torso")
    assert rewards.trap_before(env, "trap")[1] == 1.0 and rewards.trap_after(env, "trap")[1] == 0.0
    for _ in range(5):  # 1/6 s at 30 Hz
        env.hit(1, None)
        assert rewards.trap_before(env, "trap")[1] == 0.0
        assert rewards.trap_after(env, "trap")[1].item() == pytest.approx(math.exp(-10 * 0.04))
    assert terminations.trap_over(env, "trap").tolist() == [False, True]
    env.hit(1, None)
    assert rewards.trap_after(env, "trap")[1] == 0.0


def test_contacts_are_taken_in_once_per_step(env):
    env.hit(0, "left_foot")
    for _ in range(3):
        assert env.command.first_touch.refresh().steps_since.tolist() == [0, -1]
    assert env.command.first_touch.bodies[0].nonzero().flatten().tolist() == [BODY_NAMES.index("left_foot")]


def test_a_bounce_before_or_with_the_first_contact_counts_against_the_trap(env):
    env.hit(0, "ground")
    env.command.first_touch.refresh()
    env.hit(0, "left_foot")
    assert env.command.first_touch.refresh().bounced.tolist() == [True, False]
    env.command.first_touch.reset(torch.tensor([0]))
    assert env.command.first_touch.steps_since[0] == -1 and not env.command.first_touch.bounced[0]


@pytest.mark.parametrize("body", BODY_NAMES)
def test_only_arms_and_hands_are_hand_ball(env, body):
    env.hit(0, body)
    assert terminations.hand_ball(env).tolist() == [body in ARMS, False]


@pytest.mark.parametrize(
    ("ball_pos", "ball_vel", "expected"),
    [((4.0, 0.0), (1.0, 0.0), True), ((4.0, 0.0), (-1.0, 0.0), False), ((2.0, 0.0), (9.0, 0.0), False)],
)
def test_a_ball_is_missed_when_it_is_far_and_leaving(ball_pos, ball_vel, expected):
    zero = torch.zeros(1, 2)
    passed = terminations.ball_passed(zero, torch.tensor([ball_pos]), zero, torch.tensor([ball_vel]), 3.0)
    assert passed.item() is expected


def test_distance_to_the_flight_path_by_hand():
    """A ball at rest 4.905 m up falls for one second: its path is the vertical above the landing point."""
    bodies = torch.tensor([[[0.3, 0.4, 1.0], [2.0, 0.0, 1.0]], [[0.0, 0.0, 7.0], [9.0, 9.0, 9.0]]])
    ball = torch.tensor([[0.0, 0.0, 0.11 + 4.905], [0.0, 0.0, 0.11 + 4.905]])
    distance = rewards.distance_to_flight_path(bodies, ball, torch.zeros(2, 3), radius=0.11)
    # beside the path the horizontal distance counts; above the ball only what lies before it does
    assert distance.tolist() == pytest.approx([0.5, 7.0 - 5.015], abs=1e-4)


def test_only_the_part_before_the_landing_counts():
    """Rolling on the ground: the landing is now, so the path is the ball itself."""
    bodies = torch.tensor([[[3.0, 0.0, 0.11]]])
    distance = rewards.distance_to_flight_path(
        bodies, torch.tensor([[0.0, 0.0, 0.11]]), torch.tensor([[5.0, 0.0, 0.0]]), radius=0.11
    )
    assert distance.item() == pytest.approx(3.0, abs=1e-4)


def test_touch_bonus_is_paid_once_and_not_for_the_hand():
    env = Env(torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(2, 3), "head")
    arms = [BODY_NAMES.index(name) for name in ARMS]

    def outcome(ids):
        touch = env.command.first_touch.refresh()
        return {"success": touch.touched & ~touch.bounced, "hand": touch.bodies[:, arms].any(dim=1)}

    env.command.outcome = outcome
    env.hit(0, "right_shin")
    env.touch.impulse[1, BODY_NAMES.index("left_hand")] = 0.2
    assert rewards.first_touch_bonus(env, "trap").tolist() == [1.0, 0.0]
    env.hit(0, "right_shin")
    assert rewards.first_touch_bonus(env, "trap").tolist() == [0.0, 0.0]
