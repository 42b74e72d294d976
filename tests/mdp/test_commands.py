"""The heading command: what it says, when it changes, what it measures."""

from __future__ import annotations

import math

import pytest
import torch

from sportsuite.mdp.commands import HeadingCommand, HeadingCommandCfg
from tests.mdp.stand_in import standing_env, yaw_quat


def heading_command(num_envs: int, **changes: object) -> HeadingCommand:
    torch.manual_seed(0)
    """Goals come in steps unless a test says otherwise: what is asked for is the goal after one control step."""
    instant = {"turn_rate": math.inf, "acceleration": math.inf}
    cfg = HeadingCommandCfg(**{"fitting_fraction": 0.0, "stand_fraction": 0.0, **instant, **changes})  # type: ignore[arg-type]
    return HeadingCommand(cfg, standing_env(num_envs))  # type: ignore[arg-type]


def robot_of(command: HeadingCommand) -> dict[str, torch.Tensor]:
    return command._env.scene["robot"].data.tensors


def straight_ahead(command: HeadingCommand) -> torch.Tensor:
    return command.heading_error() < 1e-6


def test_the_command_is_seen_from_the_heading() -> None:
    command = heading_command(3)
    robot_of(command)["root_link_quat_w"][:] = yaw_quat(0.0, 90.0, -150.0)
    command.direction_w[:] = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    command.speed[:] = torch.tensor([0.0, 1.5, 4.0])
    # to the left; to the right; backwards in the world is 30 degrees to the right of -150
    expected = [[0.0, 1.0, 0.0], [0.0, -1.0, 1.5], [math.cos(math.pi / 6), -0.5, 4.0]]
    torch.testing.assert_close(command.command, torch.tensor(expected), atol=1e-6, rtol=0.0)


def test_the_mirrored_command_is_on_the_other_side() -> None:
    command = heading_command(1)
    command.direction_w[:], command.speed[:] = torch.tensor([[0.6, 0.8]]), 2.0
    index, sign = command.mirror_map()
    torch.testing.assert_close(command.command[:, index] * sign, torch.tensor([[0.6, -0.8, 2.0]]))


def test_directions_are_drawn_around_the_heading() -> None:
    command = heading_command(4000, turn_range=0.5, speed_range=(1.0, 3.0), stand_fraction=0.25)
    robot_of(command)["root_link_quat_w"][:] = yaw_quat(90.0)
    command.reset()
    command.compute(0.1)
    cos, sin, speed = command.command.unbind(dim=1)
    turn = torch.atan2(sin, cos)
    torch.testing.assert_close(command.direction_w.norm(dim=1), torch.ones(4000))
    assert turn.abs().max() <= 0.5 + 1e-5 and turn.std().item() == pytest.approx(1.0 / math.sqrt(12.0), rel=0.05)
    moving = speed > 0.0
    assert moving.float().mean().item() == pytest.approx(0.75, abs=0.03)
    assert speed[moving].min() >= 1.0 and speed[moving].max() <= 3.0
    assert speed[moving].mean().item() == pytest.approx(2.0, abs=0.05)


def test_some_episodes_begin_with_what_the_character_does() -> None:
    command = heading_command(2000, fitting_fraction=0.4, speed_range=(0.0, 2.0))
    robot_of(command)["root_link_quat_w"][:] = yaw_quat(30.0)
    # 3 m/s is more than may be asked for; falling doesn't count
    robot_of(command)["root_link_lin_vel_w"][:] = torch.tensor([[0.9, 1.2, -5.0]])
    robot_of(command)["root_link_lin_vel_w"][1000:, :2] = 3.0
    command.reset()
    fits = straight_ahead(command)
    assert fits.float().mean().item() == pytest.approx(0.4, abs=0.03)
    torch.testing.assert_close(command.goal_speed[:1000][fits[:1000]].unique(), torch.tensor([1.5]))
    assert command.goal_speed[1000:][fits[1000:]].eq(2.0).all()
    # within an episode the command is to change
    command._resample(slice(None))  # type: ignore[arg-type]
    assert straight_ahead(command).float().mean() < 0.01


def test_what_is_asked_for_turns_and_speeds_up_towards_the_goal() -> None:
    command = heading_command(
        2, turn_range=math.pi, turn_rate=2.0, acceleration=3.0, resampling_time_range=(99.0, 99.0)
    )
    robot_of(command)["root_link_quat_w"][:] = yaw_quat(90.0)
    robot_of(command)["root_link_lin_vel_w"][:] = torch.tensor([0.0, 1.0, 0.0])
    command.reset()
    # an episode begins with what the character does
    torch.testing.assert_close(command.command, torch.tensor([[1.0, 0.0, 1.0]] * 2))
    # 150 degrees to the left and faster; 30 degrees to the right and slower
    angles = torch.tensor([240.0, 60.0]).deg2rad()
    command.goal_direction_w[:] = torch.stack((angles.cos(), angles.sin()), dim=1)
    command.goal_speed[:] = torch.tensor([2.0, 0.85])
    command.compute(0.1)
    _, sin, speed = command.command.unbind(dim=1)
    assert sin.asin().tolist() == pytest.approx([0.2, -0.2], abs=1e-5)
    assert speed.tolist() == pytest.approx([1.3, 0.85])
    for _ in range(20):
        command.compute(0.1)
    torch.testing.assert_close(command.direction_w, command.goal_direction_w, atol=1e-5, rtol=0.0)
    torch.testing.assert_close(command.speed, command.goal_speed)


def test_the_command_changes_when_its_time_is_up() -> None:
    command = heading_command(2, resampling_time_range=(0.35, 0.35))
    command.reset()
    before, changes = command.goal_speed.clone(), []
    for _ in range(6):
        command.compute(0.1)
        changes.append(not torch.equal(command.goal_speed, before))
        before = command.goal_speed.clone()
    # 4 x 0.1 s is the first time beyond 0.35 s
    assert changes == [False, False, False, True, False, False]
    assert command.steps_since_change.tolist() == [3, 3]


def test_a_reset_changes_only_its_worlds() -> None:
    command = heading_command(3)
    command.reset()
    for _ in range(5):
        command.compute(0.1)
    before = command.goal_speed.clone()
    command.reset(torch.tensor([1]))
    assert (command.goal_speed == before).tolist() == [True, False, True]
    assert command.steps_since_change.tolist() == [5, 0, 5]


def test_errors_are_measured_once_the_command_has_settled() -> None:
    command = heading_command(2, settling_s=0.35, resampling_time_range=(100.0, 100.0))
    command.reset()
    command.goal_direction_w[:] = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    command.goal_speed[:] = torch.tensor([2.0, 1.0])
    robot = robot_of(command)
    robot["root_link_lin_vel_w"][:] = 99.0
    for step in range(8):
        if step == 4:
            # 0.4 s after the change; along the command 1.5 and 1.0 m/s
            robot["root_link_lin_vel_w"][:] = torch.tensor([[3.0, 1.5, 0.0], [1.0, -2.0, 0.0]])
        command.compute(0.1)
    logged = command.reset(torch.tensor([0]))
    assert float(logged["speed_error"]) == pytest.approx(0.5) and float(logged["heading_error_deg"]) == 90.0
    logged = command.reset(torch.tensor([1]))
    assert float(logged["speed_error"]) == 0.0 and float(logged["heading_error_deg"]) == 0.0
    # the next episode starts at nothing
    robot["root_link_lin_vel_w"][:] = 0.0
    command.goal_direction_w[:], command.goal_speed[:] = torch.tensor([1.0, 0.0]), 2.0
    for _ in range(6):
        command.compute(0.1)
    assert float(command.reset()["speed_error"]) == pytest.approx(2.0)
