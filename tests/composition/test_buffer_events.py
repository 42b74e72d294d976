"""Starts from buffers: in the simulator bit for bit, mixed as asked, turned as a whole."""

import math

import pytest
import torch
from isaaclab.managers import EventTermCfg

from sportsuite.composition.buffer_events import ResetToBuffer, check_shares, draw_sources, turned, write_states
from sportsuite.composition.recorder import moment_of, record_states
from sportsuite.composition.state_buffer import capture_states, read_buffer, write_buffer
from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.learning.policy import zero_policy
from tests.composition.test_state_buffer import some_states

TASK = "SportSuite-Trap-v0"
COLUMNS = ("root_pose", "root_velocity", "joint_pos", "joint_vel", "ball_pose", "ball_velocity")


@pytest.fixture
def env(make):
    return make(TASK, num_envs=16, physics_hz=240)


@pytest.fixture
def recorded(env, tmp_path):
    states = record_states(env, zero_policy(env), 100, seed=3, centre=True)
    write_buffer(tmp_path / "a.npz", states)
    return tmp_path / "a.npz"


def reset_term(env, **params):
    cfg = EventTermCfg(func=ResetToBuffer, mode="reset", params=params)
    return ResetToBuffer(cfg, env), params


def test_recording_says_where_it_comes_from(env, recorded):
    buffer = read_buffer(recorded)
    assert len(buffer) == 100 and buffer.about["task"] == TASK
    assert buffer.about["seed"] == 3 and buffer.about["when"] == "step" and buffer.about["centred"] is True
    assert buffer.about["policy"] == {"kind": "zero"} and "mujoco" in buffer.about["versions"]
    assert (buffer.root_pose[:, :2] == 0).all()  # centred
    assert buffer.joint_vel.abs().max() > 0.01


def test_states_replay_bit_for_bit(env, recorded):
    env.reset(seed=0)
    env.fallen_start[:] = True
    term, params = reset_term(env, buffers={str(recorded): 1.0})
    term(env, None, **params)
    buffer = read_buffer(recorded)
    again = capture_states(env, torch.arange(16))
    for name in COLUMNS:
        assert torch.equal(getattr(again, name), getattr(buffer, name)[term.row]), name
    assert len(term.row.unique()) > 5 and not env.fallen_start.any()
    # the bodies follow at once: what the policy sees is the recorded pose
    env.observation_manager.compute()
    assert torch.equal(
        env.scene["robot"].data.body_link_pos_w.torch[:, 0], env.scene["robot"].data.root_link_pos_w.torch
    )


def test_the_next_step_is_the_one_that_was_recorded(env, tmp_path):
    """Two worlds in the same state take the same step, whatever their origin."""
    env.reset(seed=0)
    for _ in range(5):
        env.step(torch.zeros(16, 28))
    state = capture_states(env, torch.tensor([3]))
    write_states(env, torch.arange(16), state.rows(torch.zeros(16, dtype=torch.long)))
    env.action_manager.reset()
    env.step(torch.zeros(16, 28))
    after = capture_states(env, torch.arange(16))
    assert (after.joint_pos - after.joint_pos[0]).abs().max() < 1e-4


def test_shares_of_episodes(env, recorded):
    env.reset(seed=0)
    before = capture_states(env, torch.arange(16))
    term, params = reset_term(env, buffers={str(recorded): 0.5})
    torch.manual_seed(0)
    term(env, torch.arange(0, 16, 2), **params)
    after = capture_states(env, torch.arange(16))
    kept = (after.joint_pos == before.joint_pos).all(dim=1)
    assert kept[1::2].all() and (kept == (term.source < 0)).all()
    assert 0 < (term.source >= 0).sum() < 8


def test_ball_may_be_left_to_another_term(env, recorded):
    env.reset(seed=0)
    before = capture_states(env, torch.arange(16))
    term, params = reset_term(env, buffers={str(recorded): 1.0}, ball=False)
    term(env, None, **params)
    after = capture_states(env, torch.arange(16))
    assert torch.equal(after.ball_pose, before.ball_pose) and not torch.equal(after.joint_pos, before.joint_pos)


def test_touches_only(env):
    # passes that are almost there
    env.event_manager.get_term_cfg("ball").params["elapsed_share"] = (0.9, 0.95)
    states = record_states(env, zero_policy(env), 6, seed=1, when="touch")
    distance = (states.root_pose[:, :3] - states.ball_pose[:, :3]).norm(dim=1)
    assert len(states) == 6 and distance.max() < 1.5
    env.event_manager.get_term_cfg("ball").params["elapsed_share"] = (0.0, 0.0)


def never(env):
    return torch.zeros(env.num_envs, dtype=torch.bool)


def test_a_moment_that_never_comes_is_said(env):
    with pytest.raises(SportSuiteError, match="0 of 5 states: the moment .*never.* did not come in 0.2 s"):
        record_states(env, zero_policy(env), 5, seed=0, when=f"{__name__}:never", patience_s=0.2)


def test_unknown_moments_name_the_nearest():
    with pytest.raises(BadInputError, match="unknown moment 'tuch': did you mean 'touch'"):
        moment_of("tuch")
    with pytest.raises(BadInputError, match="No module named 'nowhere'"):
        moment_of("nowhere:f")


def test_draws_follow_the_shares():
    torch.manual_seed(0)
    source = draw_sources([0.5, 0.2], 20_000, "cpu")
    share = torch.stack([(source == number).float().mean() for number in (0, 1, -1)])
    assert torch.allclose(share, torch.tensor([0.5, 0.2, 0.3]), atol=0.02)
    assert (draw_sources([0.3, 0.7], 10_000, "cpu") >= 0).float().mean() > 0.999
    assert (draw_sources([0.0, 1.0], 1000, "cpu") == 1).all()


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"a.npz": 0.7, "b.npz": 0.4}, "add up to 1.1"),
        ({"a.npz": -0.1}, "share of a.npz is -0.1"),
        ({"a.npz": "much"}, "is 'much'"),
        (["a.npz"], "expected a mapping"),
    ],
)
def test_shares_are_checked(shares, message):
    with pytest.raises(BadInputError, match=message):
        check_shares(shares)


def test_turning_keeps_what_the_character_sees():
    from sportsuite.mdp.observations import object_features_h

    def seen(states):
        return object_features_h(
            states.root_pose[:, :3],
            states.root_pose[:, 3:],
            states.ball_pose[:, :3],
            states.ball_pose[:, 3:],
            states.ball_velocity[:, :3],
            states.ball_velocity[:, 3:],
        )

    states = some_states(50)
    angle = torch.linspace(-math.pi, math.pi, 50)
    other = turned(states, angle)
    ours, theirs = seen(states), seen(other)
    # a quaternion and its negative are the same orientation
    sign = (ours[:, 3:7] * theirs[:, 3:7]).sum(dim=1, keepdim=True).sign()
    theirs[:, 3:7] *= sign
    assert torch.allclose(ours, theirs, atol=1e-4)
    assert torch.allclose(other.root_pose[:, :3], states.root_pose[:, :3], atol=1e-6)
    assert (other.ball_pose[25:40, :2] - states.ball_pose[25:40, :2]).abs().max() > 0.1
