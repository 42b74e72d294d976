"""The task is found, builds and steps on the CPU."""

import gymnasium
import pytest
import torch

import sportsuite  # noqa: F401  (registers the ids)
from sportsuite.envs.make_env import load_env_cfg
from sportsuite_mysport.plugin import PLUGIN, STAND


def test_the_sport_is_installed() -> None:
    assert gymnasium.spec(STAND.id).kwargs["sport"] == PLUGIN.name


@pytest.mark.parametrize("size", ["smoke", "cpu", "gpu"])
def test_agents_load(size: str) -> None:
    from sportsuite_mysport.stand import agents

    assert getattr(agents, size)().experiment_name == "mysport_stand"


def test_a_fresh_cfg_is_built_each_time() -> None:
    first, second = load_env_cfg(STAND.env_cfg), load_env_cfg(STAND.env_cfg)
    first.rewards.height.params["target"] = 0.1
    assert second.rewards.height.params["target"] == 0.85


def test_the_environment_steps() -> None:
    env = gymnasium.make(STAND.id, num_envs=2, device="cpu", seed=1)
    try:
        observation, _ = env.reset(seed=1)
        for _ in range(5):
            observation, reward, terminated, truncated, _ = env.step(torch.zeros(env.action_space.shape))
        assert observation["policy"].shape == (2, 223)
        assert torch.isfinite(observation["policy"]).all() and torch.isfinite(reward).all()
        assert not (terminated | truncated).any(), "a standing start must not end within five steps"
    finally:
        env.close()
