"""Commands become harder only where they are followed to the end."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from isaaclab.managers import CurriculumTermCfg

from sportsuite.mdp.curriculums import HeadingCommandLevel


def fake_env(lasted: bool, error: float):
    cfg = SimpleNamespace(speed_range=(0.0, 2.6), turn_range=math.pi)
    command = SimpleNamespace(cfg=cfg, settled_error=lambda: torch.tensor(error))
    return SimpleNamespace(
        num_envs=4,
        device="cpu",
        command_manager=SimpleNamespace(get_term=lambda name: command),
        termination_manager=SimpleNamespace(time_outs=torch.full((4,), lasted)),
        reference=SimpleNamespace(cfg=SimpleNamespace(speed_range=None)),
        command=command,
    )


def level_term(env):
    return HeadingCommandLevel(CurriculumTermCfg(func=HeadingCommandLevel, params={}), env)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lasted", "error", "expected"), [(True, 0.1, 0.5), (False, 0.1, 0.0), (True, 0.5, 0.0), (True, 0.29, 0.5)]
)
def test_the_level_rises_with_lasting_and_following(lasted: bool, error: float, expected: float):
    env = fake_env(lasted, error)
    term = level_term(env)
    assert term(env, torch.arange(4), episodes=8, step=0.5) == 0.0  # type: ignore[arg-type]
    assert env.command.cfg.speed_range == pytest.approx((0.0, 1.6))
    assert env.command.cfg.turn_range == pytest.approx(0.8)
    assert term(env, torch.arange(4), episodes=8, step=0.5) == expected  # type: ignore[arg-type]
    assert env.command.cfg.speed_range == pytest.approx((0.0, 1.6 + expected))
    assert env.command.cfg.turn_range == pytest.approx(0.8 + expected * (math.pi - 0.8))
    assert env.reference.cfg.speed_range == env.command.cfg.speed_range


def test_the_level_ends_at_the_whole_range():
    env = fake_env(True, 0.0)
    term = level_term(env)
    levels = [term(env, slice(None), episodes=4, step=0.3) for _ in range(6)]  # type: ignore[arg-type]
    assert levels == sorted(levels) and levels[-1] == 1.0
    assert env.command.cfg.speed_range == pytest.approx((0.0, 2.6))
    assert env.command.cfg.turn_range == pytest.approx(math.pi)


def test_a_command_may_begin_above_the_speed_of_level_0():
    env = fake_env(True, 0.0)
    env.command.cfg.speed_range = (2.0, 2.6)
    level_term(env)(env, slice(None))  # type: ignore[arg-type]
    assert env.command.cfg.speed_range == pytest.approx((2.0, 2.0))
