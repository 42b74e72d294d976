"""SportSuite-Trap-v0 in the simulator."""

import math

import pytest
import torch

from sportsuite.mdp.frames import heading_from_quat
from sportsuite_tasks.football.projectile import GRAVITY, flight_time

TASK = "SportSuite-Trap-v0"


@pytest.fixture
def env(make):
    return make(TASK, num_envs=16, physics_hz=240, **{"events.character.params.fallen_fraction": 0.0})


def landing_points(env):
    """Where the balls will come down, from their current state; exact on the substeps of a semi-implicit integrator."""
    ball = env.scene["ball"].data
    position = ball.root_link_pos_w.torch - env.scene.env_origins
    velocity = ball.root_link_lin_vel_w.torch.clone()
    velocity[:, 2] -= 0.5 * GRAVITY * env.cfg.substep_dt()
    time = flight_time(velocity[:, 2], (position[:, 2] - env.cfg.ball.radius).clamp_min(0.0))
    return position[:, :2] + velocity[:, :2] * time.unsqueeze(-1), time


def test_lobs_aim_at_the_sector_in_front_and_stay_on_course(env):
    env.reset(seed=5)
    aimed, time = landing_points(env)
    robot = env.scene["robot"].data
    offset = aimed - (robot.root_link_pos_w.torch - env.scene.env_origins)[:, :2]
    heading = heading_from_quat(robot.root_link_quat_w.torch)
    angle = torch.acos(((offset * heading).sum(-1) / offset.norm(dim=-1)).clamp(-1, 1))
    assert offset.norm(dim=-1).max() <= 1.02 and angle.max() <= math.pi / 4 + 0.05
    flying = torch.ones(16, dtype=torch.bool)
    for step in range(12):
        env.step(torch.zeros(16, 28))
        flying &= time > (step + 2) / 30
        flying &= (env.touch.impulse == 0.0).all(dim=1) & (env.episode_length_buf == step + 1)
    assert flying.sum() >= 5
    drift = (landing_points(env)[0] - aimed).norm(dim=-1)[flying]
    assert drift.max() < 0.02


def test_a_ball_put_on_a_hand_ends_the_episode_as_hand_ball(env):
    env.reset(seed=0)
    hand = env.scene["robot"].body_names.index("left_hand")
    place = env.scene["robot"].data.body_link_pos_w.torch[:, hand] + torch.tensor([0.0, 0.2, 0.0])
    pose = torch.cat((place, torch.tensor([0.0, 0.0, 0.0, 1.0]).expand(16, 4)), dim=1)
    velocity = torch.zeros(16, 6)
    # every character faces another way: throw along its own sideways axis
    heading = heading_from_quat(env.scene["robot"].data.root_link_quat_w.torch)
    side = torch.stack((-heading[:, 1], heading[:, 0]), dim=-1)
    hand_pos = env.scene["robot"].data.body_link_pos_w.torch[:, hand]
    pose[:, :2] = hand_pos[:, :2] + 0.2 * side
    velocity[:, :2] = -5.0 * side
    env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
    env.scene["ball"].write_root_velocity_to_sim_index(root_velocity=velocity)
    env.step(torch.zeros(16, 28))
    assert env.termination_manager.get_term("hand_ball").float().mean() > 0.9


def test_standing_still_earns_nothing_from_a_distant_ball(env):
    env.reset(seed=1)
    _, reward, *_ = env.step(torch.zeros(16, 28))
    ball = env.scene["ball"].data.root_link_pos_w.torch
    far = (ball - env.scene["robot"].data.root_link_pos_w.torch).norm(dim=-1) > 3.0
    assert far.any() and reward[far].abs().max() < 1e-6
