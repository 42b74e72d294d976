"""Discriminators: networks that tell windows of a policy's motion from windows of reference motion.

Three objectives, each with the reward it was published with. ``D`` is the network's output ("score"), high for
reference motion:

=========  ==========================================================  ==================================  ============
objective  loss                                                        reward per step                     source
=========  ==========================================================  ==================================  ============
``bce``    (softplus(-D(real)) + softplus(D(fake))) / 2                -log(max(1 - sigmoid(D), 1e-4))     ASE, CALM
``lsgan``  ((D(real) - 1)^2 + (D(fake) + 1)^2) / 2                     max(0, 1 - (D - 1)^2 / 4)           AMP
``hinge``  max(0, 1 - D(real)) + max(0, 1 + D(fake))                   clip(D, -1, 1)                      ICCGAN
=========  ==========================================================  ==================================  ============

ASE and AMP multiply their rewards by 2; here that factor is part of the channel's weight.
AMP: Peng et al., ACM TOG 40(4), 2021. ASE: Peng et al., ACM TOG 41(4), 2022. CALM: Tessler et al., SIGGRAPH 2023.
ICCGAN: Xu and Karamouzas, PACM CGIT 4(3), 2021.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from rsl_rl.modules import MLP, EmpiricalNormalization

from sportsuite.errors import unknown_name

__all__ = [
    "OBJECTIVES",
    "Discriminator",
    "Objective",
    "discriminator_loss",
    "gradient_penalty",
    "realness",
    "style_net",
    "style_reward",
]

Objective = Literal["bce", "lsgan", "hinge"]

OBJECTIVES = ("bce", "lsgan", "hinge")

_BCE_REWARD_LIMIT = -math.log(1e-4)
"""The published bound on 1 - sigmoid(D), as the reward it stands for."""

_INPUT_LIMIT = 10.0
"""Normalised inputs are clipped to this many standard deviations (ours: one wild joint must not decide a score)."""

_NORMALIZER_SAMPLES = 2_000_000
"""Frames after which the input statistics stay as they are (ours: about a thousand updates with two frames per window;
a moving input scale would keep the scores moving)."""


def discriminator_loss(objective: Objective, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    """Return the classification loss, a scalar.

    Args:
        objective: One of :data:`OBJECTIVES`.
        real: Scores of reference windows, any shape.
        fake: Scores of the policy's windows, any shape.
    """
    if objective == "bce":
        return 0.5 * (F.softplus(-real).mean() + F.softplus(fake).mean())
    if objective == "lsgan":
        return 0.5 * ((real - 1.0).square().mean() + (fake + 1.0).square().mean())
    return F.relu(1.0 - real).mean() + F.relu(1.0 + fake).mean()


def style_reward(objective: Objective, scores: torch.Tensor) -> torch.Tensor:
    """Return the published reward for scores (..., outputs): the mean over the outputs, shape (...)."""
    if objective == "bce":
        reward = F.softplus(scores).clamp(max=_BCE_REWARD_LIMIT)
    elif objective == "lsgan":
        reward = (1.0 - 0.25 * (scores - 1.0).square()).clamp(min=0.0)
    else:
        reward = scores.clamp(-1.0, 1.0)
    return reward.mean(-1)


def realness(objective: Objective, scores: torch.Tensor) -> torch.Tensor:
    """Map scores (..., outputs) to 0 (the policy's) to 1 (reference), whatever the objective. Shape (...)."""
    share = torch.sigmoid(scores) if objective == "bce" else ((scores + 1.0) / 2.0).clamp(0.0, 1.0)
    return share.mean(-1)


def gradient_penalty(scores: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """Return the zero-centred gradient penalty E[||d score / d input||^2], a scalar that can be differentiated.

    It is taken at reference samples, as in AMP; the penalty that pulls the norm to 1 between real and fake samples
    belongs to another method (WGAN-GP).

    Args:
        scores: Scores of the inputs, shape (n, outputs).
        inputs: Where to take it, shape (n, dim); they require gradients.
    """
    (slope,) = torch.autograd.grad(scores.mean(-1).sum(), inputs, create_graph=True)
    return slope.square().sum(-1).mean()


class Discriminator(torch.nn.Module):
    """Scores windows of features, optionally for a given latent (CALM).

    The frames of a window share one input normaliser, so that it can't blur the differences between them.

    Args:
        dim: Features per frame.
        frames: Frames per window.
        hidden_dims: Sizes of the hidden layers.
        objective: One of :data:`OBJECTIVES`.
        outputs: Scores per window; their rewards are averaged (an ensemble on one trunk).
        latent_dim: Size of the latent that the scores depend on; 0 for none.
        style_dims: Layers between the latent and the window's features, the last one tanh; used with a latent only.

    Raises:
        BadInputError: If the objective is unknown.
    """

    def __init__(
        self,
        dim: int,
        frames: int,
        hidden_dims: list[int],
        objective: Objective = "bce",
        outputs: int = 1,
        latent_dim: int = 0,
        style_dims: list[int] | None = None,
    ) -> None:
        super().__init__()
        if objective not in OBJECTIVES:
            raise unknown_name("discriminator objective", objective, OBJECTIVES)
        self.objective: Objective = objective
        self.dim, self.frames, self.latent_dim = dim, frames, latent_dim
        self.normalizer = EmpiricalNormalization(dim, until=_NORMALIZER_SAMPLES)
        self.style = style_net(latent_dim, style_dims or []) if latent_dim else torch.nn.Identity()
        style_size = (style_dims or [latent_dim])[-1] if latent_dim else 0
        self.mlp = MLP(dim * frames + style_size, outputs, hidden_dims, "relu")

    def forward(self, windows: torch.Tensor, latents: torch.Tensor | None = None) -> torch.Tensor:
        """Score windows.

        Args:
            windows: Shape (..., frames, dim).
            latents: Shape (..., latent_dim), for a discriminator with a latent.

        Returns:
            Scores, shape (..., outputs).
        """
        return self.score_normalized(self.normalize(windows), latents)

    def normalize(self, windows: torch.Tensor) -> torch.Tensor:
        """Normalise and flatten windows (..., frames, dim) to (..., frames * dim)."""
        return self.normalizer(windows).clamp(-_INPUT_LIMIT, _INPUT_LIMIT).flatten(-2)

    def score_normalized(self, inputs: torch.Tensor, latents: torch.Tensor | None = None) -> torch.Tensor:
        """Score what :meth:`normalize` returned, shape (..., frames * dim), as (..., outputs)."""
        if self.latent_dim:
            assert latents is not None, "this discriminator scores windows for a latent"
            inputs = torch.cat([inputs, self.style(latents)], dim=-1)
        return self.mlp(inputs)

    def losses(
        self,
        real: torch.Tensor,
        fake: torch.Tensor,
        real_latents: torch.Tensor | None = None,
        fake_latents: torch.Tensor | None = None,
    ) -> dict[str, torch.Tensor]:
        """Compute the parts of the loss and the scores they come from.

        Args:
            real: Reference windows, shape (n, frames, dim).
            fake: The policy's windows, shape (m, frames, dim).
            real_latents: Shape (n, latent_dim).
            fake_latents: Shape (m, latent_dim).

        Returns:
            ``classification``, ``penalty`` (zero-centred, of the inputs, not of the latents), ``logit_weight`` (squared
            norm of the last layer), all scalars, and the scores ``real`` (n, outputs) and ``fake`` (m, outputs).
        """
        inputs = self.normalize(real).detach().requires_grad_(True)
        real_scores, fake_scores = self.score_normalized(inputs, real_latents), self(fake, fake_latents)
        last = [layer for layer in self.mlp if isinstance(layer, torch.nn.Linear)][-1]
        return {
            "classification": discriminator_loss(self.objective, real_scores, fake_scores),
            "penalty": gradient_penalty(real_scores, inputs),
            "logit_weight": last.weight.square().sum(),
            "real": real_scores,
            "fake": fake_scores,
        }


def style_net(latent_dim: int, dims: list[int]) -> torch.nn.Module:
    """Build CALM's style network, tanh at the end; with no layers the latent passes as it is.

    Args:
        latent_dim: Size of the latent.
        dims: Sizes of the layers.
    """
    if not dims:
        return torch.nn.Identity()
    *hidden, size = dims
    if not hidden:
        return torch.nn.Sequential(torch.nn.Linear(latent_dim, size), torch.nn.Tanh())
    return MLP(latent_dim, size, hidden, "relu", last_activation="tanh")
