"""Parts of the networks that rsl_rl doesn't have."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.models import MLPModel
from rsl_rl.modules.distribution import GaussianDistribution
from tensordict import TensorDict

from sportsuite.errors import BadInputError
from sportsuite.priors.discriminator import style_net
from sportsuite.priors.encoder import SphereEncoder

__all__ = ["LatentActor", "MultiHeadCritic", "SmallOutputGaussian"]


class MultiHeadCritic(MLPModel):
    """Critic with one output per objective; rsl_rl asks for one whatever the algorithm needs.

    Args:
        obs: Observations, groups of shape (num_envs, dim).
        obs_groups: Observation groups by set.
        obs_set: The set this network sees.
        output_dim: Ignored where ``num_values`` is given.
        num_values: Number of outputs.
        **kwargs: Passed on to :class:`~rsl_rl.models.MLPModel`.
    """

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        num_values: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(obs, obs_groups, obs_set, num_values or output_dim, **kwargs)


class SmallOutputGaussian(GaussianDistribution):
    """Gaussian whose mean starts near zero: the last layer is scaled down once, when the network is built.

    A fresh network then asks for the action zero, which for joint targets is the default pose, instead of a random
    pose that throws the character over before it has learned anything.

    Args:
        output_dim: Number of actions.
        output_scale: Factor on the last layer's initial weights; its bias starts at zero.
        **kwargs: Passed on to :class:`~rsl_rl.modules.distribution.GaussianDistribution`.
    """

    def __init__(self, output_dim: int, output_scale: float = 1.0, **kwargs: object) -> None:
        super().__init__(output_dim, **kwargs)  # type: ignore[arg-type]
        self.output_scale = output_scale

    def init_mlp_weights(self, mlp: torch.nn.Module) -> None:
        """Scale the last linear layer of a freshly built network, in place."""
        last = [module for module in mlp.modules() if isinstance(module, torch.nn.Linear)][-1]
        with torch.no_grad():
            last.weight.mul_(self.output_scale)
            last.bias.zero_()


class LatentActor(MLPModel):
    """Policy that is told what to do by a latent, its last observation group.

    The latent isn't normalised; it goes through a small network of its own first (CALM's style network).

    Args:
        obs: Observations, groups of shape (num_envs, dim).
        obs_groups: Observation groups by set; the set's last one is the latent.
        obs_set: The set this network sees.
        output_dim: Number of actions.
        latent_group: Observation group of the latent.
        style_dims: Layers of the style network, the last one tanh; empty for none.
        encoder: ``frames`` and ``hidden_dims`` of an encoder of reference windows that is trained with the policy, and
            ``dim``, its features per frame; None for none.
        **kwargs: Passed on to :class:`~rsl_rl.models.MLPModel`.

    Raises:
        BadInputError: If the latent is not the last observation group.
    """

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        latent_group: str = "latent",
        style_dims: list[int] | None = None,
        encoder: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if obs_groups[obs_set][-1] != latent_group:
            raise BadInputError(f"obs_groups.{obs_set}: {latent_group!r} must come last, got {obs_groups[obs_set]}")
        # plain numbers, which the base class needs while it builds the network
        self._latent_dim = obs[latent_group].shape[-1]
        self._style_dims = list(style_dims or [])
        super().__init__(obs, obs_groups, obs_set, output_dim, **kwargs)
        # rsl_rl's export copies the normaliser and the network: what happens to the latent belongs to the former
        body = type(self.obs_normalizer)(self.obs_dim - self._latent_dim)  # type: ignore[call-arg]
        self.obs_normalizer = _LatentInput(body, style_net(self._latent_dim, self._style_dims), self._latent_dim)
        self.encoder = None if encoder is None else SphereEncoder(**encoder, latent_dim=self._latent_dim)

    def _get_latent_dim(self) -> int:
        """Return the number of inputs of the network."""
        return self.obs_dim - self._latent_dim + (self._style_dims or [self._latent_dim])[-1]


class _LatentInput(torch.nn.Module):
    """Normalises all but the latent, and puts the latent through the style network."""

    def __init__(self, body: torch.nn.Module, style: torch.nn.Module, latent_dim: int) -> None:
        super().__init__()
        self.body, self.style, self.latent_dim = body, style, latent_dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map observations (..., obs_dim) to network inputs."""
        return torch.cat([self.body(x[..., : -self.latent_dim]), self.style(x[..., -self.latent_dim :])], dim=-1)

    @torch.jit.unused
    def update(self, x: torch.Tensor) -> None:
        """Learn the statistics of all but the latent from observations (n, obs_dim)."""
        self.body.update(x[..., : -self.latent_dim])  # type: ignore[operator]
