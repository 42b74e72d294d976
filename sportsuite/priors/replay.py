"""A ring buffer of past windows, so that a discriminator doesn't forget what the policy did some updates ago."""

from __future__ import annotations

import torch

__all__ = ["Replay"]


class Replay:
    """Ring buffer of rows; the oldest are overwritten.

    Args:
        size: Number of rows it holds.
        width: Numbers per row.
        device: Torch device.
    """

    def __init__(self, size: int, width: int, device: str = "cpu") -> None:
        self.rows = torch.zeros(size, width, device=device)
        """Shape (size, width); rows from :attr:`filled` on are unused."""
        self.filled = 0
        self._next = 0

    def add(self, rows: torch.Tensor) -> None:
        """Store rows, shape (n, width); of more than fit, the first are kept."""
        rows = rows[: len(self.rows)]
        at = (self._next + torch.arange(len(rows), device=self.rows.device)) % len(self.rows)
        self.rows[at] = rows
        self._next = (self._next + len(rows)) % len(self.rows)
        self.filled = min(self.filled + len(rows), len(self.rows))

    def sample(self, count: int) -> torch.Tensor:
        """Draw rows with replacement, shape (count, width); the buffer must not be empty."""
        return self.rows[torch.randint(self.filled, (count,), device=self.rows.device)]

    def state(self) -> dict[str, torch.Tensor | int]:
        """Return the content, as tensors and plain types."""
        return {"rows": self.rows[: self.filled].clone(), "next": self._next}

    def load_state(self, state: dict[str, torch.Tensor | int]) -> None:
        """Take over what :meth:`state` returned, also from a buffer of another size."""
        rows = state["rows"]
        assert isinstance(rows, torch.Tensor)
        self.filled = self._next = 0
        self.add(rows.to(self.rows.device))
        if len(rows) == len(self.rows):
            self._next = int(state["next"])
