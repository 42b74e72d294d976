import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.learning.channels import (
    Channels,
    ChannelsCfg,
    ScheduleCfg,
    channels_cfg,
    combine_advantages,
    gae,
    schedule_factor,
)
from sportsuite.learning.latents import WindowEncoderCfg
from sportsuite.priors.encoder import SkillEncoderCfg


def test_gae_of_two_heads_by_hand():
    # one world, two steps, the episode ends with the second one
    gamma, lam = 0.5, 0.5
    rewards = torch.tensor([[[1.0, 10.0]], [[2.0, 20.0]]])
    values = torch.tensor([[[0.5, 5.0]], [[1.0, 8.0]]])
    dones = torch.tensor([[[0]], [[1]]])
    boot = torch.zeros(2, 1, 2)
    boot[1, 0, 1] = 4.0  # the second head's time-out
    advantages = gae(rewards, values, torch.tensor([[99.0, 99.0]]), dones, boot, gamma, lam)
    last = torch.tensor([2.0 - 1.0, 20.0 + 4.0 - 8.0])
    first = torch.tensor([1.0 + 0.5 * 1.0 - 0.5, 10.0 + 0.5 * 8.0 - 5.0]) + gamma * lam * last
    assert torch.allclose(advantages[:, 0], torch.stack([first, last]))


def test_gae_goes_on_with_the_value_after_the_rollout():
    args = torch.ones(1, 1, 1), torch.zeros(1, 1, 1), torch.full((1, 1), 10.0)
    assert gae(*args, torch.zeros(1, 1, 1), torch.zeros(1, 1, 1), 0.9, 0.95).item() == pytest.approx(10.0)
    assert gae(*args, torch.ones(1, 1, 1), torch.zeros(1, 1, 1), 0.9, 0.95).item() == pytest.approx(1.0)


def test_heads_are_normalised_before_they_are_weighed():
    advantages = torch.randn(10, 20, 2) * torch.tensor([1000.0, 0.01]) + torch.tensor([5.0, -3.0])
    both = combine_advantages(advantages, torch.tensor([1.0, 3.0]))
    unit = (advantages - advantages.mean((0, 1))) / advantages.flatten(0, 1).std(0)
    assert torch.allclose(both, (0.25 * unit[..., :1] + 0.75 * unit[..., 1:]), atol=1e-4)
    # one head alone is what rsl_rl does
    one = combine_advantages(advantages[..., :1], torch.tensor([7.0]))
    assert torch.allclose(one, unit[..., :1], atol=1e-4)


def test_schedules():
    linear = ScheduleCfg(kind="linear", start=2.0, end=0.0, samples=100)
    assert [schedule_factor(linear, samples, 0.0) for samples in (0, 25, 100, 500)] == [2.0, 1.5, 0.0, 0.0]
    assert schedule_factor(ScheduleCfg(start=0.5), 10**9, 1.0) == 0.5
    curriculum = ScheduleCfg(kind="curriculum", start=0.0, end=4.0, metric="m")
    assert schedule_factor(curriculum, 10**9, 0.25) == 1.0


def test_weights_come_from_side_channel_and_schedule():
    cfg = ChannelsCfg(task_weight=0.1, style_weight=2.0, task_groups=["a", "b"], weights={"b": 3.0, "style": 0.5})
    cfg.schedules = {"style": ScheduleCfg(kind="linear", start=1.0, end=0.0, samples=100)}
    channels = Channels(cfg, ["style"])
    assert channels.names == ["a", "b", "style"]
    assert channels.weights(0) == pytest.approx([0.1, 0.3, 1.0])
    assert channels.weights(50) == pytest.approx([0.1, 0.3, 0.5])


def test_curriculum_goes_on_only_when_the_metric_is_good_enough():
    schedule = ScheduleCfg(kind="curriculum", end=2.0, metric="Metrics/rate", threshold=0.8, step=0.5)
    channels = Channels(ChannelsCfg(schedules={"task": schedule}), ["style"])
    for values, progress in (([0.9, 0.6], 0.0), ([0.9, 0.8], 0.5), ([], 0.5), ([1.0], 1.0), ([1.0], 1.0)):
        for value in values:
            channels.observe({"Metrics/rate": torch.tensor(value), "other": 0.0})
        channels.advance()
        assert channels.progress["task"] == progress
    assert channels.weights(0)[0] == pytest.approx(2.0 * ChannelsCfg().task_weight)


def test_wrong_names_are_called():
    with pytest.raises(BadInputError, match="did you mean 'style'"):
        Channels(ChannelsCfg(weights={"stile": 1.0}), ["style"])
    with pytest.raises(BadInputError, match="exists twice"):
        Channels(ChannelsCfg(task_groups=["task", "style"]), ["style"])
    with pytest.raises(BadInputError, match="linear"):
        Channels(ChannelsCfg(schedules={"task": ScheduleCfg(kind="linaer")}), [])  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="no metric"):
        Channels(ChannelsCfg(schedules={"task": ScheduleCfg(kind="curriculum")}), [])


def test_config_survives_the_runner_s_dictionary():
    cfg = ChannelsCfg(skill_encoders={"skill": SkillEncoderCfg(steps=3)}, window_encoder=WindowEncoderCfg(shift=7))
    cfg.schedules = {"style": ScheduleCfg(kind="linear", samples=5)}
    cfg.discriminators["hands"] = cfg.discriminators["style"].replace(objective="hinge")  # type: ignore[attr-defined]
    twin = channels_cfg(cfg.to_dict())  # type: ignore[attr-defined]
    assert twin.to_dict() == cfg.to_dict()  # type: ignore[attr-defined]
    assert twin.discriminators["hands"].objective == "hinge"
    assert twin.window_encoder is not None and twin.window_encoder.shift == 7
