"""Encoders from windows of motion to latents on the unit sphere, and the losses that give those latents a meaning.

ASE (Peng et al., ACM TOG 41(4), 2022) draws latents first and rewards motion that an encoder can tell them from. CALM
(Tessler et al., SIGGRAPH 2023) encodes reference windows, so that every latent stands for a motion.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from isaaclab.utils import configclass
from rsl_rl.modules import MLP, EmpiricalNormalization

from sportsuite.priors.adversarial import Reference, Sync, mean_where_invalid
from sportsuite.priors.windows import Rollout

__all__ = [
    "SkillEncoderCfg",
    "SkillPrior",
    "SphereEncoder",
    "alignment_loss",
    "diversity_loss",
    "encoder_loss",
    "encoder_reward",
    "uniformity_loss",
]

_LAST_LAYER_RANGE = 0.1
"""The last layer starts uniform in plus and minus this (ASE, CALM): latents begin close together, not at random."""

_INPUT_LIMIT = 10.0
"""Normalised inputs are clipped to this many standard deviations (ours, as in the discriminator)."""

_NORMALIZER_SAMPLES = 2_000_000
"""Frames after which the input statistics stay as they are (ours, as in the discriminator)."""


def encoder_reward(latents: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
    """Return ASE's reward max(0, z . e), shape (...), for unit vectors (..., latent_dim)."""
    return (latents * encoded).sum(-1).clamp(min=0.0)


def encoder_loss(latents: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
    """Return ASE's encoder loss -E[z . e], a scalar, for unit vectors (..., latent_dim)."""
    return -(latents * encoded).sum(-1).mean()


def diversity_loss(
    actions: torch.Tensor, other_actions: torch.Tensor, latents: torch.Tensor, other_latents: torch.Tensor
) -> torch.Tensor:
    """Return ASE's diversity loss: other latents must change the action, the more the further they are.

    ``E[(1 - mean((a - a')^2) / (0.5 - 0.5 z . z'))^2]``

    Args:
        actions: Mean actions for ``latents``, shape (n, num_actions).
        other_actions: Mean actions in the same states for ``other_latents``, shape (n, num_actions).
        latents: Unit vectors, shape (n, latent_dim).
        other_latents: Unit vectors, shape (n, latent_dim).
    """
    difference = (actions - other_actions).square().mean(-1)
    distance = 0.5 - 0.5 * (latents * other_latents).sum(-1)
    return (1.0 - difference / (distance + 1e-5)).square().mean()


def alignment_loss(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return CALM's E||e(w0) - e(w1)||^2 of overlapping windows, a scalar, for latents (n, latent_dim)."""
    return (first - second).square().sum(-1).mean()


def uniformity_loss(encoded: torch.Tensor) -> torch.Tensor:
    """Return CALM's log mean over pairs i < j of exp(-2 ||e_i - e_j||^2), a scalar, for latents (n, latent_dim).

    Source: Wang and Isola, "Understanding contrastive representation learning through alignment and uniformity", 2020.
    """
    return F.pdist(encoded).square().mul(-2.0).exp().mean().log()


class SphereEncoder(torch.nn.Module):
    """MLP from a window to a unit vector.

    Args:
        dim: Features per frame.
        frames: Frames per window.
        hidden_dims: Sizes of the hidden layers.
        latent_dim: Size of the latent.
    """

    def __init__(self, dim: int, frames: int, hidden_dims: list[int], latent_dim: int) -> None:
        super().__init__()
        self.dim, self.frames = dim, frames
        self.normalizer = EmpiricalNormalization(dim, until=_NORMALIZER_SAMPLES)
        self.mlp = MLP(dim * frames, latent_dim, hidden_dims, "relu")
        last = [layer for layer in self.mlp if isinstance(layer, torch.nn.Linear)][-1]
        torch.nn.init.uniform_(last.weight, -_LAST_LAYER_RANGE, _LAST_LAYER_RANGE)
        torch.nn.init.zeros_(last.bias)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        """Encode windows (..., frames, dim), or flat ones (..., frames * dim), as unit vectors (..., latent_dim)."""
        if windows.shape[-1] != self.dim:
            windows = windows.unflatten(-1, (self.frames, self.dim))
        inputs = self.normalizer(windows).clamp(-_INPUT_LIMIT, _INPUT_LIMIT).flatten(-2)
        return F.normalize(self.mlp(inputs), dim=-1)


@configclass
class SkillEncoderCfg:
    """Numbers of ASE's skill encoder."""

    hidden_dims: list[int] = [256, 128]
    """Hidden layers; ASE uses [1024, 512]."""

    learning_rate: float = 1e-4
    """As the discriminator's (ours; ASE has one optimizer for all networks, at 2e-5)."""

    max_grad_norm: float = 1.0
    """Limit on the gradient's norm (ours)."""

    steps: int = 8
    """Steps per policy update, as the discriminator's."""

    batch_size: int = 512
    """Windows per step."""


class SkillPrior:
    """Rewards motion from which an encoder can tell the latent that was in force, and trains that encoder (ASE).

    Args:
        cfg: Its numbers.
        dim: Features per frame.
        frames: Frames per window.
        latent_dim: Size of the latent.
        device: Torch device.
    """

    def __init__(self, cfg: SkillEncoderCfg, dim: int, frames: int, latent_dim: int, device: str) -> None:
        self.cfg = cfg
        self.model = SphereEncoder(dim, frames, cfg.hidden_dims, latent_dim).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.learning_rate)

    @torch.no_grad()
    def rewards(self, rollout: Rollout) -> torch.Tensor:
        """Return :func:`encoder_reward` of every step, shape (steps, num_envs); the mean where there is no window."""
        assert rollout.latents is not None
        reward = encoder_reward(rollout.latents, self.model(rollout.windows))
        return mean_where_invalid(reward, rollout.valid)

    def update(self, rollout: Rollout, reference: Reference, sync: Sync) -> dict[str, float]:
        """Train on a rollout.

        Args:
            rollout: At least one valid window, with latents.
            reference: Not used: the encoder learns from the policy's motion alone.
            sync: Called between backward and the optimizer's step.

        Returns:
            ``loss``, and ``agreement``, the mean of z . e, -1 to 1.
        """
        self.model.normalizer.update(rollout.sample(self.cfg.batch_size)[0].flatten(0, 1))
        losses = [self._step(rollout, sync) for _ in range(self.cfg.steps)]
        mean = torch.stack(losses).mean().item()
        return {"loss": mean, "agreement": -mean}

    def state(self, with_replay: bool) -> dict[str, Any]:
        """Return everything that resuming needs, as tensors and plain types."""
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])

    def _step(self, rollout: Rollout, sync: Sync) -> torch.Tensor:
        windows, latents = rollout.sample(self.cfg.batch_size)
        assert latents is not None
        loss = encoder_loss(latents, self.model(windows))
        self.optimizer.zero_grad()
        loss.backward()
        sync(self.model.parameters())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.max_grad_norm)
        self.optimizer.step()
        return loss.detach()
