"""The speed that is asked for rises only where it is followed to the end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from isaaclab.managers import CurriculumTermCfg

from sportsuite.mdp.curriculums import CommandedSpeed


def fake_env(lasted: bool, error: float):
    command = SimpleNamespace(cfg=SimpleNamespace(speed_range=(0.0, 2.0)), settled_error=lambda: torch.tensor(error))
    return SimpleNamespace(
        num_envs=4,
        device="cpu",
        command_manager=SimpleNamespace(get_term=lambda name: command),
        termination_manager=SimpleNamespace(time_outs=torch.full((4,), lasted)),
        reference=SimpleNamespace(cfg=SimpleNamespace(speed_range=None)),
        command=command,
    )


@pytest.mark.parametrize(
    ("lasted", "error", "expected"), [(True, 0.1, 1.7), (False, 0.1, 1.6), (True, 0.5, 1.6), (True, 0.29, 1.7)]
)
def test_the_top_speed_rises_with_lasting_and_following(lasted: bool, error: float, expected: float):
    env = fake_env(lasted, error)
    term = CommandedSpeed(CurriculumTermCfg(func=CommandedSpeed, params={}), env)  # type: ignore[arg-type]
    assert term(env, torch.arange(4), episodes=8) == pytest.approx(1.6)  # type: ignore[arg-type]
    assert term(env, torch.arange(4), episodes=8) == pytest.approx(expected)  # type: ignore[arg-type]
    assert env.command.cfg.speed_range == pytest.approx((0.0, expected))
    assert env.reference.cfg.speed_range == env.command.cfg.speed_range


def test_the_top_speed_ends_at_the_range():
    env = fake_env(True, 0.0)
    term = CommandedSpeed(CurriculumTermCfg(func=CommandedSpeed, params={}), env)  # type: ignore[arg-type]
    speeds = [term(env, slice(None), episodes=4) for _ in range(10)]  # type: ignore[arg-type]
    assert speeds == sorted(speeds) and speeds[-1] == pytest.approx(2.0)
