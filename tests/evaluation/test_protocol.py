import math
from types import SimpleNamespace

import pytest
import torch

from sportsuite.evaluation.protocol import GenericProtocol, mean_metric, protocol_of, rate_metric
from sportsuite.learning.policy import Policy
from sportsuite.plugins.errors import PluginError
from tests.evaluation.clock_env import ClockEnv


def task(evaluation):
    return SimpleNamespace(spec=SimpleNamespace(id="Toy-v0", evaluation=evaluation))


def test_mean_with_its_interval():
    metric = mean_metric(torch.tensor([1.0, 2.0, 3.0, math.nan]), "m/s", 2.5, "speed", "lower")
    assert (metric.value, metric.unit, metric.reference, metric.better) == (2.0, "m/s", 2.5, "lower")
    # standard deviation 1, three values: 1.96 / sqrt(3)
    assert metric.ci == pytest.approx((2 - 1.13159, 2 + 1.13159), abs=1e-4)


def test_mean_of_nothing_and_of_one():
    assert math.isnan(mean_metric(torch.tensor([math.nan]), "m", None, "x").value)
    assert mean_metric(torch.tensor([4.0]), "m", None, "x").ci is None


def test_rate_has_wilsons_interval():
    # 8 of 10, worked out by hand from Wilson's formula with z = 1.96
    metric = rate_metric(torch.tensor([1] * 8 + [0] * 2), 0.9, "success", "higher")
    assert metric.value == pytest.approx(0.8) and metric.unit == "1"
    assert metric.ci == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_rate_of_always_stays_within_one():
    low, high = rate_metric(torch.ones(20, dtype=torch.bool), None, "x").ci  # type: ignore[misc]
    assert low == pytest.approx(0.8389, abs=1e-4) and high == 1.0


def test_generic_protocol_names_the_ways_episodes_end():
    metrics = GenericProtocol().run(
        ClockEnv([1, 10]), Policy(lambda obs: obs["policy"]), 4, 0, lambda done, wanted: None
    )
    assert metrics["return"].value == 5.5
    assert metrics["length"].value == 2.75 and metrics["length"].unit == "s"
    assert metrics["ended_by_short"].value == metrics["ended_by_time_out"].value == 0.5


def test_protocols_are_found_as_object_class_or_function(monkeypatch):
    here = f"{__name__}:"
    assert isinstance(protocol_of(task(None)), GenericProtocol)  # type: ignore[arg-type]
    for name in ("AN_OBJECT", "GenericProtocol", "make_protocol"):
        assert protocol_of(task(here + name)).name == "generic"  # type: ignore[arg-type]


@pytest.mark.parametrize("reference", ["no.such.module:x", f"{__name__}:missing", f"{__name__}:NOT_A_PROTOCOL"])
def test_broken_protocols_are_named(reference):
    with pytest.raises(PluginError, match=r"evaluation .* of Toy-v0"):
        protocol_of(task(reference))  # type: ignore[arg-type]


AN_OBJECT = GenericProtocol()
NOT_A_PROTOCOL = SimpleNamespace(run=print)


def make_protocol():
    return GenericProtocol()
