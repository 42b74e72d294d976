"""What several of football's protocols share: when a goal counts as reached, bins by target speed, shares in percent.

PhysicsFC names the metrics; the thresholds behind them are in none of the texts at hand. They are fields of
:class:`MatchRule` (ours), and every result says which were used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from sportsuite.evaluation.protocol import Metric, rate_metric

__all__ = [
    "Hold",
    "MatchRule",
    "angle_deg",
    "by_speed",
    "edges_within",
    "facing_matched",
    "percent",
    "share",
    "velocity_matched",
]


@dataclass
class MatchRule:
    """When a velocity, and a facing, count as matched."""

    relative: float = 0.2
    """Largest error of a velocity as a share of the target speed (ours)."""
    absolute: float = 0.5
    """Errors up to this count as matched at any speed [m/s] (ours): below 2.5 m/s a fifth would be less."""
    facing_deg: float = 15.0
    """Largest angle between facing and target [deg] (ours)."""
    hold_steps: int = 5
    """Control steps in a row in which the error has to stay within this (ours): 1/6 s at 30 Hz."""

    def described(self) -> str:
        """Say what a match of the velocity is, for definitions."""
        limit = f"{100 * self.relative:g} % of the target speed or {self.absolute:g} m/s, the larger one"
        return f"error within {limit}, in {self.hold_steps} steps in a row"


def velocity_matched(target: torch.Tensor, actual: torch.Tensor, rule: MatchRule) -> torch.Tensor:
    """Whether velocities are within the rule's error.

    Args:
        target: Target velocities [m/s]. Shape is (N, D).
        actual: Velocities [m/s]. Shape is (N, D).
        rule: The thresholds.

    Returns:
        Shape is (N,), bool.
    """
    limit = (rule.relative * target.norm(dim=1)).clamp_min(rule.absolute)
    return (target - actual).norm(dim=1) <= limit


def angle_deg(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Angle between vectors of shape (N, D) [deg]. Shape is (N,)."""
    return torch.nn.functional.cosine_similarity(first, second, dim=1).clamp(-1.0, 1.0).acos().rad2deg()


def facing_matched(target: torch.Tensor, heading: torch.Tensor, rule: MatchRule) -> torch.Tensor:
    """Whether facings, vectors of shape (N, 2), are within the rule's angle. Shape is (N,), bool."""
    return angle_deg(target, heading) <= rule.facing_deg


class Hold:
    """Notices when something has been true for some steps in a row, in every world on its own.

    Args:
        num_envs: Number of worlds.
        steps: How many in a row.
        device: Torch device.

    Attributes:
        reached_at: Steps seen when it had first been true that long, -1 before. Shape is (num_envs,), long.
        seen: Steps seen. Shape is (num_envs,), long.
    """

    def __init__(self, num_envs: int, steps: int, device: str | torch.device = "cpu"):
        self._needed = max(1, steps)
        self.seen = torch.zeros(num_envs, dtype=torch.long, device=device)
        self._row = torch.zeros_like(self.seen)
        self.reached_at = torch.full_like(self.seen, -1)

    @property
    def reached(self) -> torch.Tensor:
        """Worlds in which it has happened. Shape is (num_envs,), bool."""
        return self.reached_at >= 0

    def see(self, ids: torch.Tensor, now: torch.Tensor) -> None:
        """Take in one step.

        Args:
            ids: Worlds, shape (n,), long.
            now: Whether it is true in them, shape (n,), bool.
        """
        self.seen[ids] += 1
        self._row[ids] = torch.where(now, self._row[ids] + 1, 0)
        first = ids[(self._row[ids] >= self._needed) & ~self.reached[ids]]
        self.reached_at[first] = self.seen[first]

    def seconds(self, ids: torch.Tensor, step_dt: float) -> torch.Tensor:
        """Time until it had happened [s], NaN where it hasn't. Shape is (n,)."""
        steps = self.reached_at[ids].float()
        return torch.where(self.reached[ids], steps * step_dt, torch.full_like(steps, torch.nan))

    def forget(self, ids: torch.Tensor) -> None:
        """Begin anew in the given worlds."""
        self.seen[ids], self._row[ids], self.reached_at[ids] = 0, 0, -1


def percent(metric: Metric) -> Metric:
    """Express a share, and its reference and interval, in percent."""
    scale = None if metric.reference is None else 100.0 * metric.reference
    interval = None if metric.ci is None else (100.0 * metric.ci[0], 100.0 * metric.ci[1])
    return Metric(100.0 * metric.value, "%", scale, metric.definition, metric.better, interval)


def share(
    happened: torch.Tensor,
    reference: float | None,
    definition: str,
    better: Literal["higher", "lower"] | None = "higher",
) -> Metric:
    """Share of rows in which something happened, in percent.

    Args:
        happened: Shape (rows,), 0 or 1.
        reference: The text's share in percent.
        definition: What happened.
        better: Which direction is better.
    """
    return percent(rate_metric(happened > 0.5, None if reference is None else reference / 100.0, definition, better))


def by_speed(
    table: Mapping[str, torch.Tensor],
    edges: Sequence[float],
    figures: Callable[[Mapping[str, torch.Tensor]], Mapping[str, Metric]],
) -> dict[str, Metric]:
    """Compute figures for each range of target speeds.

    Args:
        table: Columns of shape (rows,), among them ``target_speed`` [m/s].
        edges: Limits of the ranges [m/s], rising; the last range includes its upper limit.
        figures: Computes the figures of some rows.

    Returns:
        By ``"NAME LOW-HIGH m/s"``, range by range, also of those without rows.
    """
    speed = table["target_speed"]
    found = {}
    for number, (low, high) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        last = number == len(edges) - 2
        inside = (speed >= low) & ((speed <= high) if last else (speed < high))
        rows = {name: column[inside] for name, column in table.items()}
        for name, metric in figures(rows).items():
            definition = f"{name}, target speeds {low:g} to {high:g} m/s"
            found[f"{name} {low:g}-{high:g} m/s"] = Metric(
                metric.value, metric.unit, None, definition, metric.better, metric.ci
            )
    return found


def edges_within(edges: Sequence[float], bounds: Sequence[float]) -> list[float]:
    """Limits of those ranges that some target speed of a task can lie in.

    Args:
        edges: Limits of all ranges [m/s], rising.
        bounds: Lowest and highest target speed [m/s].
    """
    pairs = list(zip(edges[:-1], edges[1:], strict=True))
    kept = [pair for pair in pairs if pair[0] < bounds[1] and pair[1] > bounds[0]]
    return [kept[0][0], *(high for _, high in kept)] if kept else []
