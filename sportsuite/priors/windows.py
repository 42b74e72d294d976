"""Windows of consecutive frames, cut from a rollout while it is made; none of them spans a reset."""

from __future__ import annotations

from dataclasses import dataclass

import torch

__all__ = ["Rollout", "WindowRecorder"]


@dataclass(frozen=True)
class Rollout:
    """What priors learn from and score: the windows that end with each step of a rollout."""

    windows: torch.Tensor
    """Shape (steps, num_envs, frames, dim)."""
    valid: torch.Tensor
    """Whether the window lies within one episode and is finite. Shape (steps, num_envs), bool."""
    latents: torch.Tensor | None = None
    """Latent that was in force in each step. Shape (steps, num_envs, latent_dim)."""

    def sample(self, count: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Draw valid windows with replacement.

        Args:
            count: How many.

        Returns:
            Windows (count, frames, dim) and their latents (count, latent_dim) or None.
        """
        ids = self.valid.flatten().nonzero().squeeze(-1)
        chosen = ids[torch.randint(len(ids), (count,), device=ids.device)]
        latents = None if self.latents is None else self.latents.flatten(0, 1)[chosen]
        return self.windows.flatten(0, 1)[chosen], latents


class WindowRecorder:
    """Keeps the last frames of every world and the windows of the current rollout.

    Args:
        steps: Steps per rollout.
        num_envs: Number of worlds.
        frames: Frames per window.
        dim: Features per frame.
        device: Torch device.
    """

    def __init__(self, steps: int, num_envs: int, frames: int, dim: int, device: str) -> None:
        self.frames = frames
        self.windows = torch.zeros(steps, num_envs, frames, dim, device=device)
        self.valid = torch.zeros(steps, num_envs, dtype=torch.bool, device=device)
        self._history = torch.zeros(num_envs, frames, dim, device=device)
        self._age = torch.zeros(num_envs, dtype=torch.long, device=device)

    def record(
        self, step: int, before: torch.Tensor, reached: torch.Tensor, done: torch.Tensor, known: torch.Tensor
    ) -> None:
        """Add one step of all worlds. Safe under ``torch.inference_mode``.

        Args:
            step: Index of the step in the rollout.
            before: Frame that the action was chosen in, shape (num_envs, dim).
            reached: Frame that it led to: of a world that ended, its last one. Shape (num_envs, dim).
            done: Whether the episode ended with this step, shape (num_envs,), bool.
            known: Whether ``reached`` belongs to the same episode as ``before``, shape (num_envs,), bool.
        """
        self._push(before, self._age == 0)
        self._age.clamp_(min=1)
        self._push(reached, torch.ones_like(done))
        self._age += 1
        finite = torch.isfinite(reached).all(-1) & torch.isfinite(before).all(-1)
        self.windows[step].copy_(self._history)
        self.valid[step].copy_((self._age >= self.frames) & known & finite)
        self._age.masked_fill_(done | ~finite, 0)

    def _push(self, frame: torch.Tensor, where: torch.Tensor) -> None:
        moved = torch.cat([self._history[:, 1:], frame.unsqueeze(1)], dim=1)
        self._history.copy_(torch.where(where.view(-1, 1, 1), moved, self._history))
