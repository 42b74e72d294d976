import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.learning.agent_cfgs import default_device, ppo_cfg


def test_sizes_have_their_network_and_number_of_envs():
    sizes = {size: ppo_cfg(size, "x") for size in ("smoke", "cpu", "gpu")}
    assert {size: (cfg.actor.hidden_dims, cfg.num_envs, cfg.num_steps_per_env) for size, cfg in sizes.items()} == {
        "smoke": ([128, 64], 64, 16),
        "cpu": ([256, 128], 256, 24),
        "gpu": ([1024, 512], 4096, 32),
    }


def test_every_call_returns_fresh_objects():
    first, second = ppo_cfg("cpu", "x"), ppo_cfg("cpu", "x")
    first.actor.hidden_dims.append(7)
    first.obs_groups["actor"].append("latent")
    first.algorithm.gamma = 0.5
    assert second.actor.hidden_dims == [256, 128]
    assert ppo_cfg("cpu", "x").obs_groups["actor"] == ["policy"]
    assert second.algorithm.gamma == 0.99
    assert first.actor.distribution_cfg is not second.actor.distribution_cfg


def test_changes_are_strict():
    assert ppo_cfg("cpu", "x", **{"algorithm.gamma": 0.9}).algorithm.gamma == 0.9
    with pytest.raises(BadInputError, match="gamma"):
        ppo_cfg("cpu", "x", **{"algorithm.gama": 0.9})
    with pytest.raises(BadInputError, match="cpu"):
        ppo_cfg("cpuu", "x")  # type: ignore[arg-type]


def test_device_exists_on_this_machine():
    device = default_device()
    assert ppo_cfg("smoke", "x").device == device
    assert torch.zeros(1, device=device).device.type == ("cuda" if torch.cuda.is_available() else "cpu")
