"""Starts out of clips of kicks: where the kick is found, where the ball is put, which goal follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from sportsuite.characters.spec import FEET
from sportsuite.composition.buffer_events import start_extra
from sportsuite.composition.state_buffer import write_buffer
from sportsuite.errors import BadInputError
from sportsuite.motion.library import resolve_clip
from sportsuite_tasks.football.kick.strikes import AZIMUTH, find_strike, strike_states

FPS = 30.0
WORLDS = 16


def kicking_clip(yaw: float = 0.0):
    """A standing character whose right leg swings: back until 1 s, forward until 1.5 s, fastest at its end."""
    stand = resolve_clip("suite:stand")
    times = np.arange(60) / FPS
    angle = np.interp(times, [0.0, 1.0, 1.3, 1.5, 2.0], [0.0, 0.6, 0.0, -1.1, -1.1])
    frames = len(times)
    joints = np.repeat(stand.joint_pos[:1], frames, axis=0)
    joints[:, stand.joint_names.index("right_hip_y")] += angle
    return replace(
        stand,
        name="swing",
        fps=FPS,
        root_pos=np.repeat(stand.root_pos[:1], frames, axis=0) + np.array([0.0, 0.0, 0.1]),
        root_quat=np.tile([0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)], (frames, 1)),
        joint_pos=joints,
        labels=("kick",),
    )


def test_the_kick_is_the_foots_fastest_moment():
    strike = find_strike(kicking_clip())
    assert FEET[strike.foot] == "right_foot"
    assert 1.3 < strike.time < 1.5
    # 1.1 rad in 0.2 s at 0.8 m and more from the hip
    assert 2.5 < strike.speed < 6.0
    assert strike.direction[0] > 0.98
    assert strike.ball[1] == pytest.approx(-0.09, abs=0.06)


def test_the_strike_turns_with_the_clip():
    ahead, aside = find_strike(kicking_clip()), find_strike(kicking_clip(yaw=np.pi / 2))
    assert aside.direction.tolist() == pytest.approx([-float(ahead.direction[1]), float(ahead.direction[0])], abs=1e-3)
    assert aside.time == pytest.approx(ahead.time, abs=0.02)


def test_starts_lie_before_the_kick_with_the_ball_where_the_foot_comes():
    buffer = strike_states([kicking_clip(yaw=0.7)], states=50, noise=0.0)
    assert len(buffer) == 100
    assert (buffer.root_pose[:, :2] == 0.0).all()
    assert buffer.ball_velocity.abs().max() == 0.0
    assert buffer.ball_pose[:, 2].unique().tolist() == pytest.approx([0.11])
    # the goal is ahead of a character that kicks straight ahead, whichever way the clip faces
    assert buffer.extras[AZIMUTH].abs().max() < 12.0
    right, left = buffer.ball_pose[:50], buffer.ball_pose[50:]
    facing = torch.tensor([np.cos(0.7), np.sin(0.7)], dtype=torch.float)
    assert (right[:, :2] @ facing > 0.0).all()
    assert right[:, :2].norm(dim=1).mean() == pytest.approx(float(left[:, :2].norm(dim=1).mean()), abs=1e-3)


def test_a_ball_that_a_foot_stands_on_gives_no_start():
    with pytest.raises(BadInputError, match="no start of a kick in swing"):
        strike_states([kicking_clip()], states=5, clearance=5.0)


def test_episodes_aim_as_the_strike_does(make, tmp_path):
    """The goal is the strike's azimuth plus the declared share of the drawn one, against the heading of the start."""
    buffer = strike_states([kicking_clip()], states=20)
    azimuth = torch.linspace(20.0, 30.0, len(buffer))
    path = tmp_path / "strikes.npz"
    write_buffer(path, replace(buffer, extras={AZIMUTH: azimuth}))
    overrides = {
        "events.buffer.params.buffers": {str(path): 0.5},
        "events.character.params.fallen_fraction": 0.0,
        "commands.kick.azimuth_deg": [-10.0, -10.0],
        "commands.kick.strike_spread": 0.5,
    }
    env = make("SportSuite-Kick-v0", num_envs=WORLDS, fresh=True, **{f"env.{k}": v for k, v in overrides.items()})
    env.reset(seed=0)
    shown = start_extra(env, AZIMUTH, torch.arange(WORLDS))
    assert 0 < shown.isnan().sum() < WORLDS
    wanted = torch.where(shown.isnan(), torch.tensor(-10.0), shown - 5.0)
    goal = env.command_manager.get_term("kick").command
    assert torch.rad2deg(torch.atan2(goal[:, 1], goal[:, 0])).tolist() == pytest.approx(wanted.tolist(), abs=0.1)
