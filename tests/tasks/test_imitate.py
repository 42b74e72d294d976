"""How the heading task is evaluated: its probe on worlds set up by hand, and its figures."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from sportsuite.characters import spec
from sportsuite.evaluation.rollout import run_episodes
from sportsuite.learning.policy import Policy
from sportsuite_tasks.imitate.evaluation import PUSH_SPEED, HeadingProbe, HeadingProtocol, heading_metrics
from tests.evaluation.clock_env import ClockEnv
from tests.mdp.stand_in import standing_env

DT = 0.5
"""Two steps make the second over which speeds are averaged, four steps settle a command, the push is at step 8."""

ALL = torch.arange(2)


def heading_env(num_envs: int = 2) -> SimpleNamespace:
    """Characters that are to go along +x at 2 m/s, and face that way; their feet are in the air."""
    env = standing_env(num_envs, DT)
    env.command = SimpleNamespace(
        goal_speed=torch.full((num_envs,), 2.0),
        speed_along=lambda: data_of(env)["root_link_lin_vel_w"][:, 0],
        error=torch.zeros(num_envs),
        heading_error=lambda: env.command.error,
        steps_since_change=torch.zeros(num_envs, dtype=torch.long),
    )
    env.command_manager = SimpleNamespace(get_term=lambda name: env.command)
    env.pushes = []
    env.scene["robot"].write_root_com_velocity_to_sim_index = lambda root_velocity, env_ids: env.pushes.append(
        (env_ids.tolist(), root_velocity)
    )
    return env


def data_of(env: SimpleNamespace) -> dict[str, torch.Tensor]:
    return env.scene["robot"].data.tensors


def step(env: SimpleNamespace, probe: HeadingProbe, along: float, ids: torch.Tensor = ALL) -> None:
    """Let time pass, the worlds moving at ``along`` m/s along x and 9 m/s sideways."""
    data_of(env)["root_link_lin_vel_w"][:] = torch.tensor([along, 9.0, 0.0])
    env.command.steps_since_change[ids] += 1
    env.episode_length_buf[ids] += 1
    probe.observe(env, ids)


def test_speed_is_averaged_over_a_second_and_settles_first() -> None:
    env = heading_env()
    probe = HeadingProbe(env)
    # the window is whole from step 6 on: (5, 6), (6, 7) and (7, 8)
    for speed in (50.0, 50.0, 50.0, 50.0, 1.0, 2.0, 4.0, 1.0):
        step(env, probe, speed)
    found = probe.finish(env, ALL)
    # means of 1.5, 3.0 and 2.5 m/s, where 2 m/s is wanted
    assert found["speed_error"].tolist() == pytest.approx([(0.5 + 1.0 + 0.5) / 3.0] * 2)


def test_a_new_command_settles_again() -> None:
    env = heading_env()
    probe = HeadingProbe(env)
    for _ in range(6):
        step(env, probe, 2.5)
    env.command.steps_since_change[:] = 0
    env.command.goal_speed[:] = 0.0
    for _ in range(6):
        step(env, probe, 0.25)
    assert probe.finish(env, ALL)["speed_error"].tolist() == pytest.approx([(0.5 + 0.25) / 2.0] * 2)


def test_facing_is_measured_once_settled() -> None:
    env = heading_env()
    probe = HeadingProbe(env)
    for angle in (180.0, 180.0, 180.0, 30.0, 60.0):
        env.command.error[:] = math.radians(angle)
        step(env, probe, 2.0)
    assert probe.finish(env, ALL)["heading_error"].tolist() == pytest.approx([45.0] * 2, rel=1e-5)


def test_slide_is_the_mean_over_touching_corners() -> None:
    env = heading_env()
    probe = HeadingProbe(env)
    data = data_of(env)
    right, left = (spec.BODY_NAMES.index(f"{side}_foot") for side in ("right", "left"))
    # world 0: one foot at 0.3 m/s, then both at 0.3 and 0.6: 4 corners, then 8
    data["body_link_pos_w"][0, right, 2] = spec.SOLE_DROP["boot"]
    data["body_link_lin_vel_w"][0, right, 0], data["body_link_lin_vel_w"][0, left, 1] = 0.3, 0.6
    step(env, probe, 2.0)
    data["body_link_pos_w"][0, left, 2] = spec.SOLE_DROP["boot"]
    step(env, probe, 2.0)
    slide = probe.finish(env, ALL)["slide"]
    assert slide[0].item() == pytest.approx((4 * 0.3 + 4 * 0.3 + 4 * 0.6) / 12)
    # never on the ground: nothing to say
    assert slide[1].isnan()


def test_episodes_too_short_to_measure_are_left_out_and_forgotten() -> None:
    env = heading_env()
    probe = HeadingProbe(env)
    for _ in range(7):
        step(env, probe, 3.0)
    assert probe.finish(env, torch.tensor([1]))["speed_error"].tolist() == pytest.approx([1.0])
    # world 1 starts over, world 0 goes on
    env.command.steps_since_change[1] = 0
    step(env, probe, 2.0)
    found = probe.finish(env, ALL)
    assert found["speed_error"][0].item() == pytest.approx((1.0 + 1.0 + 0.5) / 3.0)
    assert found["speed_error"][1].isnan() and found["heading_error"][1].isnan()


def test_every_episode_is_pushed_once_at_four_seconds() -> None:
    torch.manual_seed(0)
    env = heading_env()
    probe = HeadingProbe(env, PUSH_SPEED)
    data_of(env)["root_com_vel_w"][:] = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    env.episode_length_buf[1] = 3
    for _ in range(10):
        step(env, probe, 2.0)
    assert [ids for ids, _ in env.pushes] == [[1], [0]]
    change = torch.cat([velocity for _, velocity in env.pushes]) - torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    torch.testing.assert_close(change[:, :2].norm(dim=1), torch.full((2,), 0.5))
    assert change[:, 2:].abs().max() == 0.0 and not torch.allclose(change[0], change[1])


def test_without_a_push_none_is_written() -> None:
    env = heading_env()
    probe = HeadingProbe(env)
    for _ in range(10):
        step(env, probe, 2.0)
    assert env.pushes == []


class HeadingClock(ClockEnv):
    """Worlds that end after some steps, and do what :func:`heading_env` says, 0.5 m/s too fast."""

    def __init__(self, lengths: list[int]) -> None:
        super().__init__(lengths)
        self.inner = heading_env(self.num_envs)
        self.scene, self.command_manager = self.inner.scene, self.inner.command_manager
        self.episode_length_buf = torch.zeros(self.num_envs, dtype=torch.long)
        data_of(self.inner)["root_link_lin_vel_w"][:, 0] = 2.5

    def step(self, action: torch.Tensor) -> Any:
        self.inner.command.steps_since_change += 1
        return super().step(action)

    def _reset_idx(self, env_ids: torch.Tensor) -> None:
        super()._reset_idx(env_ids)
        self.inner.command.steps_since_change[env_ids.long()] = 0


def test_the_probe_in_a_run_of_episodes() -> None:
    env = HeadingClock([3, 10])
    table = run_episodes(env, Policy(lambda obs: obs["policy"]), 4, 0, HeadingProbe(env))
    assert table["end:short"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert table["speed_error"][:2].isnan().all()
    assert table["speed_error"][2:].tolist() == pytest.approx([0.5, 0.5])


def test_figures_by_hand() -> None:
    plain = {
        "end:fallen": torch.tensor([0.0, 1.0, 0.0, 0.0]),
        "speed_error": torch.tensor([0.1, math.nan, 0.2, 0.3]),
        "heading_error": torch.tensor([5.0, math.nan, 10.0, 15.0]),
        "slide": torch.tensor([0.1, 0.2, 0.1, 0.2]),
    }
    pushed = {"end:fallen": torch.tensor([1.0, 0.0, 0.0, 0.0])}
    metrics = heading_metrics(plain, pushed)
    assert (metrics["falls"].value, metrics["falls"].unit, metrics["falls"].better) == (0.25, "1", "lower")
    assert metrics["speed_error"].value == pytest.approx(0.2) and metrics["speed_error"].unit == "m/s"
    assert metrics["heading_error"].value == pytest.approx(10.0) and metrics["heading_error"].unit == "deg"
    assert metrics["foot_slide"].value == pytest.approx(0.15)
    assert metrics["push_survival"].value == pytest.approx(0.75) and metrics["push_survival"].better == "higher"


def test_the_protocol_leaves_nothing_to_chance_but_the_commands() -> None:
    from sportsuite_tasks.imitate.imitate_env_cfg import ImitateHeadingEnvCfg

    cfg = ImitateHeadingEnvCfg()
    HeadingProtocol().configure(cfg)
    assert cfg.commands.heading.resampling_time_range == (5.0, 5.0) and cfg.episode_length_s == 10.0
    assert cfg.commands.heading.fitting_fraction == 0.0 and cfg.commands.heading.speed_range == (0.0, 4.0)
    assert cfg.events.character.params["reference_fraction"] == cfg.events.character.params["fallen_fraction"] == 0.0
    assert cfg.events.push is None
    # other environments keep their own
    assert ImitateHeadingEnvCfg().events.push is not None
