import math

import pytest
import torch

from sportsuite_tasks.football.evaluation.trap import trap_metrics


def test_trap_metrics_by_hand():
    table = {
        "touched": torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0]),
        "success": torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0]),
        # a handball after a bounce is no successful trap and must not count
        "hand": torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0]),
        "relative_speed": torch.tensor([2.0, 4.0, 6.0, 100.0, math.nan]),
    }
    metrics = trap_metrics(table)
    assert metrics["TSR"].value == pytest.approx(60.0) and metrics["TSR"].reference == pytest.approx(78.3)
    assert metrics["HRTS"].value == pytest.approx(100 / 3)
    assert metrics["RBSPT"].value == pytest.approx(4.0) and metrics["RBSPT"].unit == "m/s"
    assert metrics["touched"].value == pytest.approx(80.0)


def test_no_success_leaves_the_speed_undefined():
    table = {name: torch.zeros(4) for name in ("touched", "success", "hand")} | {
        "relative_speed": torch.full((4,), math.nan)
    }
    metrics = trap_metrics(table)
    assert metrics["TSR"].value == 0.0 and math.isnan(metrics["RBSPT"].value) and math.isnan(metrics["HRTS"].value)
