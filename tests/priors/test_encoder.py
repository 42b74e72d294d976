import math

import pytest
import torch

from sportsuite.priors.encoder import (
    SkillEncoderCfg,
    SkillPrior,
    SphereEncoder,
    alignment_loss,
    diversity_loss,
    encoder_loss,
    encoder_reward,
    uniformity_loss,
)
from sportsuite.priors.windows import Rollout

X, Y = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])


def test_encoder_reward_and_loss_by_hand():
    z, e = torch.cat([X, X, X]), torch.cat([X, Y, -X])
    assert encoder_reward(z, e).tolist() == [1.0, 0.0, 0.0]
    assert encoder_loss(z, e).item() == pytest.approx(0.0)
    assert encoder_loss(z[:2], e[:2]).item() == pytest.approx(-0.5)


def test_alignment_by_hand():
    assert alignment_loss(torch.cat([X, X]), torch.cat([Y, X])).item() == pytest.approx(1.0)  # (2 + 0) / 2


def test_uniformity_by_hand():
    # distances^2 of X, Y and -X: 2, 4, 2
    expected = math.log((2 * math.exp(-4) + math.exp(-8)) / 3)
    assert uniformity_loss(torch.cat([X, Y, -X])).item() == pytest.approx(expected, rel=1e-5)
    assert uniformity_loss(torch.cat([X, X])).item() == pytest.approx(0.0)


def test_diversity_by_hand():
    # opposite latents: distance 1; actions differ by (1, 0): mean square 0.5, so (1 - 0.5)^2
    actions, others = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]])
    assert diversity_loss(actions, others, X, -X).item() == pytest.approx(0.25, rel=1e-3)
    # at right angles the distance is 0.5: the same change is just right
    assert diversity_loss(actions, others, X, Y).item() == pytest.approx(0.0, abs=1e-6)
    assert diversity_loss(actions, actions, X, -X).item() == pytest.approx(1.0)


def test_encoder_returns_unit_vectors_for_windows_and_flat_ones():
    encoder = SphereEncoder(5, 4, [16], 8)
    windows = torch.randn(7, 4, 5)
    encoded = encoder(windows)
    assert torch.allclose(encoded.norm(dim=-1), torch.ones(7))
    assert torch.equal(encoder(windows.flatten(1)), encoded)


def test_skill_prior_finds_the_latent_in_the_motion():
    torch.manual_seed(0)
    prior = SkillPrior(SkillEncoderCfg(hidden_dims=[32], learning_rate=3e-3, batch_size=128), 3, 2, 2, "cpu")

    def rollout(shown):
        angle = torch.rand(4, 32) * 2 * math.pi
        latents = torch.stack([angle.cos(), angle.sin()], -1)
        frames = torch.cat([latents * shown, torch.randn(4, 32, 1)], -1)
        return Rollout(frames.unsqueeze(2).repeat(1, 1, 2, 1), torch.ones(4, 32, dtype=torch.bool), latents)

    for _ in range(30):
        figures = prior.update(rollout(1.0), lambda num: (torch.empty(0), None), lambda parameters: None)
    assert figures["agreement"] > 0.95
    assert prior.rewards(rollout(1.0)).mean() > 0.9
    assert prior.rewards(rollout(0.0)).mean() < 0.5  # the mean of max(0, cos) for a guess is 1 / pi
