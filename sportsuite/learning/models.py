"""Parts of the networks that rsl_rl doesn't have."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.models import MLPModel
from rsl_rl.modules.distribution import GaussianDistribution
from tensordict import TensorDict

__all__ = ["MultiHeadCritic", "SmallOutputGaussian"]


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
