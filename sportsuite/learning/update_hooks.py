"""Changes to rsl_rl's PPO update through its symmetry slot: mirrored samples, and further losses of the policy.

rsl_rl calls the slot twice per minibatch: ``augment_batch`` before the networks see the batch, ``compute_loss`` after.
Its own class would also run the policy a second time, to log how asymmetric it is; this one doesn't.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from rsl_rl.storage import RolloutStorage

__all__ = ["ActionBound", "UpdateHooks"]

Batch = RolloutStorage.Batch

BatchChange = Callable[[Batch], None]
"""Changes a batch in place; called with gradients on, before the networks see it."""

BatchLoss = Callable[[Any, Batch, int], torch.Tensor]
"""Loss from the policy (whose distribution is that of the batch), the batch and its size without mirrored samples."""


class UpdateHooks:
    """What rsl_rl's PPO takes for its symmetry extension.

    Args:
        env: The wrapped environment, passed to ``mirror``.
        mirror: ``(env, obs, actions)`` to both, with mirrored samples appended; None for none.
        changes: Called on every batch.
        losses: Added to PPO's loss.
    """

    use_mirror_loss = True
    mirror_loss_coeff = 1.0

    def __init__(
        self,
        env: Any,
        mirror: Callable[..., tuple[Any, Any]] | None,
        changes: list[BatchChange],
        losses: list[BatchLoss],
    ) -> None:
        self._env, self._mirror, self._changes, self._losses = env, mirror, changes, losses

    def augment_batch(self, batch: Batch, original_batch_size: int) -> None:
        """Apply the changes and append the mirrored samples, in place."""
        for change in self._changes:
            change(batch)
        if self._mirror is None:
            return
        batch.observations, batch.actions = self._mirror(env=self._env, obs=batch.observations, actions=batch.actions)
        times = batch.observations.batch_size[0] // original_batch_size  # type: ignore[union-attr]
        for name in ("old_actions_log_prob", "values", "advantages", "returns"):
            setattr(batch, name, getattr(batch, name).repeat(times, 1))

    def compute_loss(self, actor: Any, batch: Batch, original_batch_size: int) -> torch.Tensor:
        """Return the sum of the further losses, a scalar."""
        total = torch.zeros((), device=batch.actions.device)  # type: ignore[union-attr]
        for loss in self._losses:
            total = total + loss(actor, batch, original_batch_size)
        return total


class ActionBound:
    """Keeps the policy's mean actions in [-1, 1]: ``coefficient * mean(sum(relu(|mean| - 1)^2))``, ASE's and CALM's.

    Args:
        coefficient: Weight of the loss.
    """

    def __init__(self, coefficient: float) -> None:
        self._coefficient = coefficient

    def __call__(self, actor: Any, batch: Batch, original_batch_size: int) -> torch.Tensor:
        """Return the loss of a batch, a scalar."""
        excess = torch.relu(actor.output_mean[:original_batch_size].abs() - 1.0)
        return self._coefficient * excess.square().sum(-1).mean()
