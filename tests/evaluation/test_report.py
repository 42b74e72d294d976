import math

import pytest

from sportsuite.evaluation.protocol import Metric
from sportsuite.evaluation.report import COLUMNS, evaluation_document, over_seeds, table_rows

ONE = {"speed": Metric(3.0, "m/s", 3.69, "ball speed", "lower", (2.5, 3.5))}
TWO = {"speed": Metric(5.0, "m/s", 3.69, "ball speed", "lower", (4.5, 5.5))}


def test_document_has_what_scripts_rely_on():
    document = evaluation_document("Toy-v0", 10, over_seeds([ONE]), {"kind": "checkpoint"}, seeds=[0])
    assert {"task", "episodes", "metrics", "policy"} <= set(document)
    metric = document["metrics"]["speed"]
    assert {"value", "unit", "reference", "definition"} <= set(metric)
    assert metric["value"] == 3.0 and metric["ci"] == [2.5, 3.5] and "by_seed" not in metric


def test_several_seeds_are_averaged_with_their_spread():
    metric = over_seeds([ONE, TWO])["speed"]
    assert metric["value"] == 4.0 and metric["by_seed"] == [3.0, 5.0]
    assert metric["std"] == pytest.approx(math.sqrt(2))
    assert metric["ci"] is None


def test_seeds_without_a_figure_are_left_out():
    nothing = {"speed": Metric(math.nan, "m/s", 3.69, "ball speed", "lower")}
    assert over_seeds([ONE, nothing, TWO])["speed"]["value"] == 4.0
    assert math.isnan(over_seeds([nothing, nothing])["speed"]["value"])
    assert math.isnan(over_seeds([ONE, nothing])["speed"]["std"])


def test_table_shows_our_figure_beside_the_texts():
    metrics = over_seeds([ONE | {"share": Metric(math.nan, "1", None, "some share")}])
    rows = table_rows(evaluation_document("Toy-v0", 10, metrics, {}))
    assert rows[0] == ("speed", "3 [2.5, 3.5]", "3.69", "m/s", "ball speed")
    assert rows[1] == ("share", "-", "-", "", "some share")
    assert len(rows[0]) == len(COLUMNS)
