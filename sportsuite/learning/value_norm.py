"""PopArt: value targets of unit scale without a change of what the critic says.

van Hasselt et al., "Learning values across many orders of magnitude", NeurIPS 2016; per output and with a momentum of
0.1 as in "Learning to Ball" (the ``basketball`` code of Xu et al.).
"""

from __future__ import annotations

import torch

__all__ = ["PopArt"]

_MIN_STD = 1e-2
"""Smallest standard deviation divided by (ours: a channel that pays nothing must not be blown up)."""


class PopArt(torch.nn.Module):
    """Running mean and scale of the value targets, one per critic head.

    Args:
        heads: Number of critic heads.
        momentum: Weight of a new batch, 0 to 1.
    """

    def __init__(self, heads: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.mean: torch.Tensor
        self.std: torch.Tensor
        for name, value in (("mean", 0.0), ("std", 1.0), ("_first", 0.0), ("_second", 0.0)):
            self.register_buffer(name, torch.full((heads,), value))
        self.register_buffer("_seen", torch.zeros(()))

    def normalize(self, values: torch.Tensor) -> torch.Tensor:
        """Scale values (..., heads) for the critic."""
        return (values - self.mean) / self.std

    def denormalize(self, values: torch.Tensor) -> torch.Tensor:
        """Turn what the critic says (..., heads) into values."""
        return values * self.std + self.mean

    @torch.no_grad()
    def update(self, returns: torch.Tensor, head: torch.nn.Linear) -> None:
        """Learn from a batch of targets and change the critic's last layer so that its values stay what they were.

        Args:
            returns: Targets, not normalised, shape (..., heads).
            head: The critic's last layer, changed in place.
        """
        flat = returns.reshape(-1, returns.shape[-1])
        moments = torch.stack([flat.mean(0), flat.square().mean(0), torch.ones_like(flat[0])])
        if torch.distributed.is_initialized():
            torch.distributed.all_reduce(moments)
            moments /= torch.distributed.get_world_size()
        old_mean, old_std = self.mean.clone(), self.std.clone()
        for moment, batch in (("_first", moments[0]), ("_second", moments[1]), ("_seen", moments[2, 0])):
            getattr(self, moment).lerp_(batch, self.momentum)
        # dividing by what was seen undoes the pull towards the zeros that the running moments started from
        first, second = self._first / self._seen, self._second / self._seen  # type: ignore[operator]
        self.mean.copy_(first)
        self.std.copy_((second - first.square()).clamp(min=_MIN_STD**2).sqrt())
        head.weight.mul_((old_std / self.std).unsqueeze(-1))
        head.bias.mul_(old_std / self.std).add_((old_mean - self.mean) / self.std)
