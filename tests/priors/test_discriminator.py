import math

import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.priors.adversarial import AdversarialPrior, DiscriminatorCfg, discriminator_figures
from sportsuite.priors.discriminator import (
    OBJECTIVES,
    Discriminator,
    discriminator_loss,
    gradient_penalty,
    realness,
    style_reward,
)
from sportsuite.priors.windows import Rollout

JOINTS = 28


def walk(num, frames=2, hz=30.0):
    """Joints that swing 1.5 times a second, each with its own phase, with their velocities: (num, frames, 56)."""
    phase = torch.rand(num, 1, 1) * 2 * math.pi
    angle = phase + 3 * math.pi * torch.arange(frames).view(1, -1, 1) / hz + torch.arange(float(JOINTS))
    return torch.cat([angle.sin(), 3 * math.pi * angle.cos()], -1)


def frozen(num, frames=2):
    """Poses of the walk, held: the velocities are zero."""
    poses = walk(num, 1).repeat(1, frames, 1)
    poses[..., JOINTS:] = 0.0
    return poses


def train(real, fake, updates=25, **changes):
    """Train a prior on two sources of windows (functions of a number)."""
    torch.manual_seed(0)
    cfg = DiscriminatorCfg(**{"hidden_dims": [64, 32], "learning_rate": 1e-3, "batch_size": 256, **changes})
    windows = fake(512)
    prior = AdversarialPrior(cfg, windows.shape[-1], windows.shape[1], 0, None, "cpu")
    figures = {}
    for _ in range(updates):
        rollout = Rollout(fake(512).unflatten(0, (8, 64)), torch.ones(8, 64, dtype=torch.bool))
        figures = prior.update(rollout, lambda num: (real(num), None), lambda parameters: None)
    return prior, figures


def test_published_rewards_by_hand():
    scores = torch.tensor([[-1.0], [0.0], [1.0], [30.0]])
    bce = [-math.log(1 - 1 / (1 + math.exp(1))), math.log(2), -math.log(1 - 1 / (1 + math.exp(-1))), -math.log(1e-4)]
    assert torch.allclose(style_reward("bce", scores), torch.tensor(bce))
    assert torch.allclose(style_reward("lsgan", scores), torch.tensor([0.0, 0.75, 1.0, 0.0]))
    assert torch.allclose(style_reward("hinge", scores), torch.tensor([-1.0, 0.0, 1.0, 1.0]))


def test_losses_by_hand():
    real, fake = torch.tensor([0.5]), torch.tensor([-0.5])
    assert discriminator_loss("bce", real, fake).item() == pytest.approx(math.log(1 + math.exp(-0.5)))
    assert discriminator_loss("lsgan", real, fake).item() == pytest.approx(0.25)
    assert discriminator_loss("hinge", real, fake).item() == pytest.approx(1.0)


def test_outputs_are_averaged_after_the_reward():
    assert style_reward("hinge", torch.tensor([[5.0, -0.5]])).item() == pytest.approx(0.25)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_separable_distributions_are_told_apart(objective):
    prior, figures = train(walk, lambda num: walk(num) + 3.0, objective=objective)
    assert figures["accuracy"] > 0.97
    assert realness(objective, prior.model(walk(500))).mean() > 0.7
    assert realness(objective, prior.model(walk(500) + 3.0)).mean() < 0.2


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_identical_distributions_are_guessed(objective):
    prior, figures = train(walk, walk, objective=objective)
    assert 0.4 < figures["accuracy"] < 0.6
    assert realness(objective, prior.model(walk(500))).mean().item() == pytest.approx(0.5, abs=0.1)
    assert not figures["saturated"]


@pytest.mark.parametrize(
    ("objective", "frames", "penalty"),
    # the penalty bounds how much a small difference can count: BCE tells least from two frames under the papers' 5
    [("bce", 2, 1.0), ("bce", 10, 5.0), ("lsgan", 2, 5.0), ("hinge", 2, 5.0)],
)
def test_frozen_pose_scores_low_against_a_walk(objective, frames, penalty):
    prior, _ = train(
        lambda num: walk(num, frames),
        lambda num: frozen(num, frames),
        objective=objective,
        gradient_penalty=penalty,
    )
    assert realness(objective, prior.model(frozen(500, frames))).mean() < 0.2
    assert realness(objective, prior.model(walk(500, frames))).mean() > 0.8


def test_standstill_shows_in_poses_alone():
    # without velocities only the frames of a window together tell that nothing moves
    def poses(source):
        return lambda num: source(num, 10)[..., :JOINTS]

    prior, _ = train(poses(walk), poses(frozen), gradient_penalty=1.0)
    assert realness("bce", prior.model(poses(frozen)(500))).mean() < 0.2
    assert realness("bce", prior.model(poses(walk)(500))).mean() > 0.8


def test_saturation_is_flagged():
    _, without = train(walk, lambda num: walk(num) + 5.0, gradient_penalty=0.0, logit_regularization=0.0)
    assert without["saturated"] == pytest.approx(1.0)
    figures = discriminator_figures("bce", torch.full((9, 1), 0.3), torch.full((9, 1), -0.3))
    assert figures["saturated"] == 0.0  # right every time, but the rewards still differ


def test_collapse_is_flagged():
    same = discriminator_figures("bce", torch.full((9, 1), 0.2), torch.full((9, 1), 0.2))
    apart = discriminator_figures("bce", torch.full((9, 1), 0.3), torch.full((9, 1), -0.3))
    assert same["collapsed"] == 1.0
    assert apart["collapsed"] == 0.0


def test_variety_tells_a_policy_that_does_one_thing():
    pose = walk(1)
    _, figures = train(walk, lambda num: pose + 0.05 * torch.randn(num, 2, 2 * JOINTS), 2)
    assert figures["variety"] < 0.2
    assert train(walk, walk, 2)[1]["variety"] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("latent_dim", [0, 3])
def test_gradient_penalty_equals_a_finite_difference(latent_dim):
    torch.manual_seed(1)
    model = Discriminator(4, 2, [16, 8], "lsgan", outputs=2, latent_dim=latent_dim, style_dims=[5]).double()
    windows = torch.randn(6, 2, 4, dtype=torch.double)
    latents = torch.randn(6, latent_dim, dtype=torch.double) if latent_dim else None
    penalty = model.losses(windows, windows, latents, latents)["penalty"]
    inputs, step, squares = model.normalize(windows), 1e-6, 0.0
    for column in range(inputs.shape[1]):
        shift = torch.zeros_like(inputs)
        shift[:, column] = step
        above, below = (model.score_normalized(inputs + sign * shift, latents).mean(-1) for sign in (1, -1))
        squares = squares + ((above - below) / (2 * step)).square()
    assert penalty.item() == pytest.approx(squares.mean().item(), rel=1e-6)  # type: ignore[union-attr]


def test_gradient_penalty_is_zero_centred_and_can_be_learned():
    weight = torch.tensor([3.0, 4.0], requires_grad=True)
    inputs = torch.randn(7, 2, requires_grad=True)
    penalty = gradient_penalty((inputs @ weight).unsqueeze(-1), inputs)
    assert penalty.item() == pytest.approx(25.0)  # |w|^2; a penalty to norm 1 would say 16
    penalty.backward()
    assert torch.allclose(weight.grad, 2 * weight.detach())  # type: ignore[arg-type]


def test_penalty_keeps_the_scores_of_the_reference_flat():
    steep, _ = train(walk, lambda num: walk(num) + 1.0, gradient_penalty=0.0)
    flat, _ = train(walk, lambda num: walk(num) + 1.0, gradient_penalty=10.0)
    sizes = [prior.model.losses(walk(500), walk(500))["penalty"].item() for prior in (steep, flat)]
    assert sizes[1] < 0.2 * sizes[0]


def test_input_statistics_are_shared_by_the_frames():
    prior, _ = train(walk, walk, 3)
    assert prior.model.normalizer.mean.shape == (2 * JOINTS,)
    assert torch.allclose(prior.model.normalizer.std[:JOINTS], torch.full((JOINTS,), 0.707), atol=0.05)
    # two windows that differ by a shift of time only are the same rows, shifted
    window = walk(1, 3)
    rows = (
        prior.model.normalize(window[:, :2]).view(2, 2 * JOINTS),
        prior.model.normalize(window[:, 1:]).view(2, 2 * JOINTS),
    )
    assert torch.allclose(rows[0][1], rows[1][0])


def test_only_the_chosen_columns_count():
    cfg = DiscriminatorCfg(hidden_dims=[16])
    prior = AdversarialPrior(cfg, 2 * JOINTS, 2, 0, [0, 5], "cpu")
    windows = walk(20).unsqueeze(0)
    rollout = Rollout(windows, torch.ones(1, 20, dtype=torch.bool))
    changed = windows.clone()
    changed[..., 6:] = 7.0
    assert torch.equal(prior.rewards(rollout), prior.rewards(Rollout(changed, rollout.valid)))
    changed[..., 5] = 7.0
    assert not torch.equal(prior.rewards(rollout), prior.rewards(Rollout(changed, rollout.valid)))


def test_conditional_scores_depend_on_the_latent():
    model = Discriminator(3, 2, [8], latent_dim=4, style_dims=[6, 5])
    windows, latents = torch.randn(5, 2, 3), torch.randn(5, 4)
    assert not torch.allclose(model(windows, latents), model(windows, -latents))
    assert model(windows, latents).shape == (5, 1)


def test_steps_without_a_window_get_the_mean():
    prior = AdversarialPrior(DiscriminatorCfg(hidden_dims=[8]), 2 * JOINTS, 2, 0, None, "cpu")
    windows, valid = walk(4).unsqueeze(0), torch.tensor([[True, True, False, True]])
    reward = prior.rewards(Rollout(windows, valid))
    assert reward[0, 2].item() == pytest.approx(reward[0, [0, 1, 3]].mean().item())


def test_replay_keeps_old_windows_in_the_batch():
    prior, _ = train(walk, lambda num: torch.zeros(num, 2, 2 * JOINTS), 1, replay_size=600, replay_keep=10)
    rollout = Rollout(torch.ones(4, 8, 2, 2 * JOINTS), torch.ones(4, 8, dtype=torch.bool))
    prior._remember(rollout)
    fake, _ = prior._fake(rollout)
    assert (fake == 0).flatten(1).all(1).float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_unknown_objective_names_the_nearest():
    with pytest.raises(BadInputError, match="did you mean 'hinge'"):
        Discriminator(3, 2, [8], "hings")  # type: ignore[arg-type]


def test_state_round_trip_is_bit_equal_and_plain():
    prior, _ = train(walk, frozen, 3)
    state = prior.state(with_replay=True)
    twin = AdversarialPrior(prior.cfg, 2 * JOINTS, 2, 0, None, "cpu")
    twin.load_state(state)
    assert torch.equal(twin.model(walk(5) * 0 + 0.3), prior.model(walk(5) * 0 + 0.3))
    assert torch.equal(twin.replay.rows, prior.replay.rows)
    moments = [p.optimizer.state_dict()["state"][0]["exp_avg"] for p in (prior, twin)]
    assert torch.equal(*moments)
