"""Real environments of SportSuite-Trap-v0 on the default CPU backend."""

import numpy as np
import pytest
import torch

from sportsuite.errors import BadInputError, SportSuiteError

TASK = "SportSuite-Trap-v0"


@pytest.fixture
def env(make):
    return make(TASK, num_envs=4, seed=3, device="cpu")


def run(env, steps, seed):
    """Trajectory under seeded random actions."""
    generator = torch.Generator().manual_seed(seed)
    observations, _ = env.reset(seed=seed)
    rows = [observations["policy"].clone()]
    for _ in range(steps):
        action = torch.randn(env.action_space.shape, generator=generator) * 0.1
        observations, *_ = env.step(action)
        rows.append(observations["policy"].clone())
    return torch.stack(rows)


def test_nothing_said_makes_a_small_environment_that_steps(make):
    env = make(TASK)
    observations, _ = env.reset()
    assert env.num_envs == 4 and observations["policy"].shape == (4, 242)
    assert type(env.cfg.sim.physics.solver_cfg).__name__ == "MuJoCoCpuSolverCfg"
    assert env.step_dt == pytest.approx(1 / 30) and env.cfg.sim.physics.num_substeps == 16


def test_module_prefix_registers_by_itself():
    import subprocess
    import sys

    code = (
        "import sys, gymnasium; sys.modules['sportsuite.envs.make_env'] = fake = type(sys)('fake'); "
        "fake.make_env = lambda **kw: print('built', kw['task_id']) or gymnasium.Env(); "
        "gymnasium.make('sportsuite:SportSuite-Trap-v0')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == f"built {TASK}", done.stderr


def test_the_first_reset_keeps_the_velocities_it_is_given(env):
    """On Newton the velocity limits are zero until after the first reset; users must never see that."""
    env.reset(seed=0)
    speed = env.scene["ball"].data.root_link_lin_vel_w.torch.norm(dim=-1)
    assert speed.min() > 9.0
    assert env.scene["robot"].data.soft_joint_vel_limits.torch.min() > 0.0


def test_same_seed_same_run_bit_for_bit(env):
    first, second, other = run(env, 40, 7), run(env, 40, 7), run(env, 40, 8)
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_numpy_actions_are_converted(env):
    env.reset(seed=0)
    zeros = np.zeros(env.action_space.shape)
    observations, reward, *_ = env.step(zeros)
    assert isinstance(observations["policy"], torch.Tensor) and reward.shape == (4,)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (torch.zeros(4, 27), ["(4, 28)", "(4, 27)"]),
        (torch.zeros(28), ["(4, 28)", "(28,)"]),
        ([0.0] * 28, ["torch tensor", "list"]),
        (torch.zeros(4, 28, device="meta"), ["device", "cpu", "meta"]),
    ],
)
def test_wrong_actions_get_one_clear_error(env, action, words):
    with pytest.raises(BadInputError) as caught:
        env.step(action)
    assert all(word in str(caught.value) for word in words)


def test_a_second_environment_in_one_process_is_refused(env):
    import gymnasium as gym

    with pytest.raises(SportSuiteError, match="already has an environment"):
        gym.make(TASK)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"physics": "newton_mjwrap"}, ["newton_mjwrap", "newton_mjwarp"]),
        ({"num_env": 3}, ["num_env", "num_envs"]),
        ({"num_envs": 0}, ["num_envs", "at least 1"]),
        ({"seed": -1}, ["seed", "at least 0"]),
        ({"device": "gpu"}, ["gpu", "cuda"]),
        ({"rewards.befor.weight": 1.0}, ["befor", "before"]),
        ({"overrides": ["events.ball.params.lob_sped=[1,2]"]}, ["lob_sped", "lob_speed"]),
        ({"phisics_hz": 240}, ["phisics_hz", "physics_hz"]),
        ({"physics_hz": 100}, ["physics_hz", "nearest 90"]),
        ({"decimation": 2}, ["decimation", "control_hz"]),
    ],
)
def test_misspelt_options_name_the_nearest(make, options, words):
    import gymnasium as gym

    make.close()
    with pytest.raises(BadInputError) as caught:
        gym.make(TASK, **options)
    text = str(caught.value)
    assert "\n" not in text and all(word in text for word in words), text


def test_overrides_arrive(make):
    env = make(TASK, num_envs=2, physics_hz=240, overrides=["episode_length_s=1.0"], **{"rewards.before.weight": 15.0})
    assert env.reward_manager.get_term_cfg("before").weight == 15.0
    assert env.cfg.sim.physics.num_substeps == 8 and env.max_episode_length == 30


def test_time_limits_are_truncations_with_final_observations(make):
    env = make(
        TASK, num_envs=2, physics_hz=240, **{"episode_length_s": 0.2, "events.character.params.fallen_fraction": 0.0}
    )
    env.reset(seed=0)
    for _ in range(6):
        assert "final_obs" not in env.extras
        observations, _, terminated, truncated, extras = env.step(torch.zeros(2, 28))
    assert truncated.all() and not terminated.any()
    assert extras["final_obs"]["policy"].shape == (2, 242)
    assert not torch.equal(extras["final_obs"]["policy"], observations["policy"])


def test_a_world_that_turns_nan_is_reset_alone_counted_and_dumped(make, tmp_path):
    env = make(TASK, fresh=True, num_envs=4, physics_hz=240)
    env.cfg.log_dir = str(tmp_path)
    env.reset(seed=0)
    for _ in range(3):
        env.step(torch.zeros(4, 28))
    others = [0, 1, 3]
    before = env.episode_length_buf.clone()
    poisoned = torch.full((1, 28), float("nan"))
    env.scene["robot"].write_joint_velocity_to_sim_index(velocity=poisoned, env_ids=torch.tensor([2]))
    observations, reward, terminated, _, extras = env.step(torch.zeros(4, 28))
    assert terminated.tolist() == [False, False, True, False]
    assert torch.isfinite(observations["policy"]).all() and torch.isfinite(reward).all()
    assert env.episode_length_buf[2] == 0 and torch.equal(env.episode_length_buf[others], before[others] + 1)
    assert extras["log"]["Physics/nonfinite_worlds"] == 1
    dumps = list(tmp_path.glob("*.npz"))
    assert len(dumps) == 1
    with np.load(dumps[0], allow_pickle=False) as state:
        assert state["world"] == 2 and not np.isfinite(state["robot.joint_vel"]).all()
    for _ in range(10):
        observations, *_ = env.step(torch.zeros(4, 28))
    assert torch.isfinite(observations["policy"]).all()


def test_render_returns_a_frame_that_shows_something(make):
    env = make(TASK, num_envs=1, render_mode="rgb_array", physics_hz=240)
    env.reset(seed=0)
    env.step(torch.zeros(1, 28))
    frame = env.render()
    assert frame.dtype == np.uint8 and frame.shape == (540, 960, 3) and frame.std() > 5.0
