"""The sprint's figures, computed by hand."""

import math

import pytest
import torch

from sportsuite.evaluation.protocol import protocol_of
from sportsuite.plugins.manager import find_task
from sportsuite_sprint.evaluation import dash_metrics
from sportsuite_sprint.plugin import DASH


def table(finished: list[int], seconds: list[float], metres: list[float]) -> dict[str, torch.Tensor]:
    columns = {"end:finished": finished, "length_s": seconds, "distance": metres}
    return {name: torch.tensor(values, dtype=torch.float32) for name, values in columns.items()}


def test_only_those_that_finish_have_a_time() -> None:
    metrics = dash_metrics(table([1, 0, 1, 0], [10.0, 2.0, 12.0, 20.0], [60.0, 4.0, 60.2, 31.8]))
    assert metrics["finish_rate"].value == 0.5
    assert metrics["finish_time"].value == pytest.approx(11.0) and metrics["finish_time"].unit == "s"
    assert metrics["distance"].value == pytest.approx(39.0)


def test_without_a_finisher_there_is_no_time() -> None:
    metrics = dash_metrics(table([0], [1.0], [0.5]))
    assert metrics["finish_rate"].value == 0.0 and math.isnan(metrics["finish_time"].value)


def test_the_task_names_the_protocol() -> None:
    assert protocol_of(find_task(DASH.id)).name == "dash"
