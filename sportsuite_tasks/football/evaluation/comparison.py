"""Dribble -> Kick with a policy that was trained from Dribble's states (STI), and with one that wasn't."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sportsuite_tasks.football.evaluation.transitions import TEXT, TEXT_WITHOUT_STI

__all__ = ["COLUMNS", "compare", "comparison_rows"]

COLUMNS = ("FIGURE", "WITH STI", "WITHOUT", "TEXT WITH", "TEXT WITHOUT", "UNIT", "AS IN THE TEXT")
"""Heads of :func:`comparison_rows`."""

_SCENARIO = "dribble_to_kick"


def compare(with_sti: Mapping[str, Any], without: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Put figures of two evaluations of SportSuite-Kick-v0 beside the text's.

    Args:
        with_sti: Document of the policy that was trained from Dribble's states, see
            :func:`sportsuite.evaluation.report.evaluation_document`.
        without: Document of the other one.

    Returns:
        By metric ``with``, ``without``, ``text_with``, ``text_without``, ``unit``, ``definition`` and ``same_sign``:
        whether the two differ in the direction in which they do in the text; None where a figure is missing.
    """
    compared = {}
    for name, text in TEXT[_SCENARIO].items():
        first, second = with_sti["metrics"][name], without["metrics"][name]
        other = TEXT_WITHOUT_STI[_SCENARIO][name]
        difference = first["value"] - second["value"]
        compared[name] = {
            "with": first["value"],
            "without": second["value"],
            "text_with": text,
            "text_without": other,
            "unit": first["unit"],
            "definition": first["definition"],
            "same_sign": None if math.isnan(difference) else difference * (text - other) > 0.0,
        }
    return compared


def comparison_rows(compared: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Lay a comparison out as rows under :data:`COLUMNS`."""
    words = {True: "yes", False: "no", None: "-"}
    return [
        (
            name,
            *(_number(entry[key]) for key in ("with", "without", "text_with", "text_without")),
            entry["unit"],
            words[entry["same_sign"]],
        )
        for name, entry in compared.items()
    ]


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
