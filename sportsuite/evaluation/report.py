"""An evaluation's result as a JSON document and as a table beside the texts' figures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from sportsuite.evaluation.protocol import Metric

__all__ = ["evaluation_document", "over_seeds", "table_rows"]

COLUMNS = ("FIGURE", "HERE", "TEXT", "UNIT", "WHAT")
"""Heads of :func:`table_rows`."""


def over_seeds(results: Sequence[Mapping[str, Metric]]) -> dict[str, dict[str, Any]]:
    """Combine the figures of several seeds.

    Args:
        results: The figures of each seed, the same names in each.

    Returns:
        By name ``value`` (mean over the seeds that have one), ``unit``, ``reference``, ``definition``, ``better`` and
        ``ci``. With several seeds ``ci`` is None, and ``by_seed`` and ``std`` say how far they lie apart.
    """
    combined = {}
    for name, first in results[0].items():
        values = [result[name].value for result in results]
        # a seed without a single success has no speed of successes, say
        known = [value for value in values if not math.isnan(value)]
        entry: dict[str, Any] = {
            "value": statistics.fmean(known) if known else math.nan,
            "unit": first.unit,
            "reference": first.reference,
            "definition": first.definition,
            "better": first.better,
            "ci": list(first.ci) if first.ci is not None and len(results) == 1 else None,
        }
        if len(results) > 1:
            entry |= {"by_seed": values, "std": statistics.stdev(known) if len(known) > 1 else math.nan}
        combined[name] = entry
    return combined


def evaluation_document(
    task_id: str, episodes: int, metrics: Mapping[str, Mapping[str, Any]], policy: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """Build the document that ``sportsuite evaluate --json`` prints.

    Args:
        task_id: The task.
        episodes: Episodes per seed.
        metrics: Result of :func:`over_seeds`.
        policy: What is known of the policy.
        **more: Further entries.

    Returns:
        ``{"task", "episodes", "metrics": {NAME: {"value", "unit", "reference", "definition", ...}}, "policy", ...}``.
    """
    return {"task": task_id, "episodes": episodes, "metrics": dict(metrics), "policy": dict(policy), **more}


def table_rows(document: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Lay a document's figures out as rows under :data:`COLUMNS`.

    Args:
        document: Result of :func:`evaluation_document`.
    """
    return [
        (
            name,
            _number(metric["value"]) + _spread(metric),
            "-" if metric["reference"] is None else _number(metric["reference"]),
            "" if metric["unit"] == "1" else metric["unit"],
            metric["definition"],
        )
        for name, metric in document["metrics"].items()
    ]


def _spread(metric: Mapping[str, Any]) -> str:
    if "std" in metric:
        return f" ± {_number(metric['std'])}"
    if metric.get("ci") is None:
        return ""
    low, high = metric["ci"]
    return f" [{_number(low)}, {_number(high)}]"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
