import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.learning.agent_cfgs import amp_cfg, ase_cfg, calm_cfg, default_device, ppo_cfg


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


@pytest.mark.parametrize("make", [amp_cfg, ase_cfg, calm_cfg])
@pytest.mark.parametrize("size", ["smoke", "cpu", "gpu"])
def test_prior_configs_are_fresh_and_survive_hydra_s_dictionary(make, size):
    first, second = make(size, "x"), make(size, "x")
    first.algorithm.channels.discriminators["style"].hidden_dims.append(7)
    first.algorithm.channels.weights["style"] = 9.0
    untouched = second.to_dict()
    assert untouched == make(size, "x").to_dict()
    # `isaaclab train` turns the config into a dictionary and back
    second.from_dict(untouched)
    assert second.to_dict() == untouched


def test_measured_settings_of_the_walk():
    cfg = amp_cfg("cpu", "x")
    channels = cfg.algorithm.channels
    style = channels.discriminators["style"]
    assert (cfg.num_envs, cfg.num_steps_per_env, cfg.actor.hidden_dims) == (512, 16, [256, 128])
    assert (cfg.algorithm.desired_kl, cfg.algorithm.num_learning_epochs) == (0.03, 3)
    assert (style.hidden_dims, style.learning_rate, style.gradient_penalty) == ([256, 128], 1e-4, 5.0)
    assert (style.steps, style.batch_size, style.replay_size) == (8, 512, 100_000)
    # per step at 30 Hz the spike paid 0.05 of the task and 0.1 of the style
    assert (channels.task_weight, channels.style_weight / 30) == pytest.approx((0.05, 0.1))


def test_prior_configs_differ_where_the_methods_do():
    amp, ase, calm = (make("gpu", "x").algorithm.channels for make in (amp_cfg, ase_cfg, calm_cfg))
    assert (amp.frames, ase.frames, calm.frames) == (2, 10, 10)
    assert list(ase.skill_encoders) == ["skill"] and not calm.skill_encoders
    assert [c.discriminators["style"].conditional for c in (amp, ase, calm)] == [False, False, True]
    assert (ase.diversity, calm.diversity, ase.window_encoder) == (0.01, 0.0, None)
    cfg = amp_cfg("cpu", "x", **{"algorithm.channels.discriminators.style.gradient_penalty": 1})
    assert cfg.algorithm.channels.discriminators["style"].gradient_penalty == 1.0
    with pytest.raises(BadInputError, match="gradient_penalty"):
        amp_cfg("cpu", "x", **{"algorithm.channels.discriminators.style.gradient_penalti": 1})
