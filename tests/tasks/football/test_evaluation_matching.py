import math

import pytest
import torch

from sportsuite.evaluation.protocol import mean_metric
from sportsuite_tasks.football.evaluation.matching import (
    Hold,
    MatchRule,
    by_speed,
    edges_within,
    facing_matched,
    share,
    velocity_matched,
)


def test_a_fifth_of_the_target_speed_or_half_a_metre_per_second():
    target = torch.tensor([[5.0, 0.0], [5.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 5.0]])
    actual = torch.tensor([[4.1, 0.3], [3.9, 0.0], [0.6, 0.2], [0.4, 0.0], [0.3, 0.3], [5.0, 0.0]])
    # errors 0.95 of 1.0, 1.1 of 1.0, 0.45 of 0.5, 0.6 of 0.5, 0.42 of 0.5, and the right speed the wrong way
    assert velocity_matched(target, actual, MatchRule()).tolist() == [True, False, True, False, True, False]
    assert velocity_matched(target, actual, MatchRule(relative=0.25))[1]


def test_facing_within_15_degrees():
    target = torch.tensor([[1.0, 0.0]]).repeat(3, 1)
    angles = [math.radians(angle) for angle in (14.0, -14.0, 16.0)]
    heading = torch.tensor([[math.cos(angle), math.sin(angle)] for angle in angles])
    assert facing_matched(target, heading, MatchRule()).tolist() == [True, True, False]


def test_a_match_has_to_last():
    hold = Hold(2, steps=3)
    both = torch.arange(2)
    for now in ([1, 1], [1, 1], [0, 1], [1, 0], [1, 1], [1, 1]):
        hold.see(both, torch.tensor(now).bool())
    # world 0: broken at step 3, then steps 4 to 6; world 1: steps 1 to 3, and what follows changes nothing
    assert hold.reached_at.tolist() == [6, 3]
    assert hold.seconds(both, 0.5).tolist() == [3.0, 1.5]
    hold.forget(torch.tensor([1]))
    assert hold.reached.tolist() == [True, False] and math.isnan(hold.seconds(both, 0.5)[1])
    hold.see(torch.tensor([1]), torch.tensor([True]))
    assert hold.seen.tolist() == [6, 1]


def test_share_is_in_percent():
    metric = share(torch.tensor([1.0, 0.0, 1.0, 1.0]), 90.3, "x")
    assert metric.value == 75.0 and metric.unit == "%" and metric.reference == pytest.approx(90.3)
    # Wilson: 0.75 and 4 rows
    assert metric.ci == pytest.approx((30.06, 95.44), abs=0.01)


def test_figures_by_target_speed():
    table = {"target_speed": torch.tensor([0.0, 0.9, 1.0, 2.0]), "error": torch.tensor([1.0, 3.0, 10.0, 20.0])}
    found = by_speed(table, [0.0, 1.0, 2.0], lambda rows: {"e": mean_metric(rows["error"], "m/s", 9.0, "x")})
    assert list(found) == ["e 0-1 m/s", "e 1-2 m/s"]
    # 2 m/s is the upper end of the last range
    assert [metric.value for metric in found.values()] == [2.0, 15.0]
    assert all(metric.reference is None for metric in found.values())


def test_ranges_that_a_task_cannot_ask_for_are_left_out():
    assert edges_within((0.0, 1.0, 2.0, 3.0), (0.0, 2.0)) == [0.0, 1.0, 2.0]
    assert edges_within((5.0, 10.0, 15.0), (7.0, 8.0)) == [5.0, 10.0]
    assert edges_within((0.0, 1.0), (3.0, 4.0)) == []
