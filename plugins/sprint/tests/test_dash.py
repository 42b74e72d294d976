"""The task builds and steps on the CPU, and its episodes end as they should."""

from collections.abc import Iterator

import gymnasium
import pytest
import torch

import sportsuite  # noqa: F401  (registers the ids)
from sportsuite.envs.make_env import load_env_cfg
from sportsuite_sprint.dash import agents
from sportsuite_sprint.dash.dash_env_cfg import LENGTH
from sportsuite_sprint.plugin import DASH


@pytest.fixture(scope="module")
def env() -> Iterator[gymnasium.Env]:
    made = gymnasium.make(DASH.id, num_envs=3, device="cpu", seed=1)
    yield made
    made.close()


def place(env: gymnasium.Env, world: int, x: float, y: float) -> None:
    """Move one runner, upright, to a point of its lane."""
    sim = env.unwrapped
    robot = sim.scene["robot"]
    ids = torch.tensor([world], device=sim.device)
    pose = robot.data.default_root_pose.torch[ids].clone()
    pose[:, :3] += sim.scene.env_origins[ids]
    pose[:, :2] += torch.tensor([x, y])
    robot.write_root_pose_to_sim_index(root_pose=pose, env_ids=ids)


def test_agents_come_in_three_sizes_and_fresh() -> None:
    assert [getattr(agents, size)().experiment_name for size in ("smoke", "cpu", "gpu")] == ["sprint_dash"] * 3
    assert agents.cpu() is not agents.cpu()


def test_a_fresh_cfg_is_built_each_time() -> None:
    first, second = load_env_cfg(DASH.env_cfg), load_env_cfg(DASH.env_cfg)
    first.rewards.speed.params["reference"] = 1.0
    assert second.rewards.speed.params["reference"] == 9.0


def test_runners_start_at_rest_behind_the_line_facing_the_finish(env: gymnasium.Env) -> None:
    observation, _ = env.reset(seed=3)
    assert observation["policy"].shape == (3, 227)
    remaining, offset, cosine, _ = observation["policy"][:, -4:].T
    assert ((remaining > 1.0) & (remaining < 1.0 + 0.5 / LENGTH)).all()
    assert (offset.abs() < 1e-5).all() and (cosine > 0.99).all()
    data = env.unwrapped.scene["robot"].data
    assert data.joint_vel.torch.abs().max() == 0.0 and data.root_link_lin_vel_w.torch.abs().max() < 1e-5


def test_a_standing_runner_is_paid_for_its_lane_only_and_goes_on(env: gymnasium.Env) -> None:
    env.reset(seed=3)
    for _ in range(3):
        _, reward, terminated, truncated, _ = env.step(torch.zeros(env.action_space.shape))
    assert not (terminated | truncated).any()
    # 0.2 for the middle of the lane; swaying moves the root by centimetres per second
    torch.testing.assert_close(reward, torch.full((3,), 0.2), atol=0.1, rtol=0.0)


def test_crossing_the_line_and_leaving_the_lane_end_the_episode(env: gymnasium.Env) -> None:
    env.reset(seed=3)
    place(env, 0, LENGTH + 0.2, 0.0)
    place(env, 1, 30.0, 0.8)
    _, reward, terminated, truncated, _ = env.step(torch.zeros(env.action_space.shape))
    assert terminated.tolist() == [True, True, False] and not truncated.any()
    manager = env.unwrapped.termination_manager
    assert manager.get_term("finished").tolist() == [True, False, False]
    assert manager.get_term("out_of_lane").tolist() == [False, True, False]
    assert reward[0] > 100.0 and reward[1] < 1.0


def test_time_runs_out_as_a_truncation(env: gymnasium.Env) -> None:
    env.reset(seed=3)
    sim = env.unwrapped
    sim.episode_length_buf[2] = sim.max_episode_length - 1
    _, _, terminated, truncated, extras = env.step(torch.zeros(env.action_space.shape))
    assert truncated.tolist() == [False, False, True] and not terminated.any()
    assert torch.isfinite(extras["final_obs"]["policy"][2]).all()
