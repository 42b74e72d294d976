"""Reward kernels that several sports share: pure tensor arithmetic, values in [0, 1] unless said otherwise."""

from __future__ import annotations

import torch


def exp_squared_distance(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    """``exp(-scale * |a - b|^2)``.

    Args:
        a: Points or velocities. Shape is (N, D).
        b: Their targets. Shape is (N, D).
        scale: Sharpness [1/unit^2].

    Returns:
        One where both agree, towards zero where they are apart. Shape is (N,).
    """
    return torch.exp(-scale * (a - b).square().sum(dim=-1))
