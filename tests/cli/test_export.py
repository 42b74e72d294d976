"""Exported policies act like the originals and say what they see."""

from __future__ import annotations

import json

import onnx
import pytest

from sportsuite.assets import asset_path


def test_the_shipped_policy_becomes_an_onnx_file(cli, tmp_path):
    target = tmp_path / "trap.onnx"
    outcome = cli("export", str(asset_path("policies/trap.pt")), "--output", str(target), "--json")
    assert outcome.code == 0, outcome.err
    said = json.loads(outcome.out)
    assert said["task"] == "SportSuite-Trap-v0" and said["difference"] < 1e-4
    assert [group["size"] for group in said["observations"]] == [242]
    model = onnx.load(str(target))
    (entry,) = model.metadata_props
    assert json.loads(entry.value)["control_hz"] == 30.0
    assert [i.name for i in model.graph.input] == ["obs"] and [o.name for o in model.graph.output] == ["actions"]
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_acts_differently_is_noticed(tmp_path):
    from sportsuite.export.onnx import export_onnx, largest_difference
    from sportsuite.learning.policy import load_actor

    target = tmp_path / "trap.onnx"
    export_onnx(asset_path("policies/trap.pt"), target)
    model = onnx.load(str(target))
    weights = [tensor for tensor in model.graph.initializer if len(tensor.dims) == 2]
    changed = onnx.numpy_helper.to_array(weights[-1]) * 1.1
    weights[-1].CopyFrom(onnx.numpy_helper.from_array(changed, weights[-1].name))
    onnx.save(model, str(target))
    actor, _ = load_actor(asset_path("policies/trap.pt"))
    assert largest_difference(actor, target) > 1e-3


@pytest.mark.parametrize("content", [b"", b"no checkpoint"])
def test_a_file_that_is_no_checkpoint_is_bad_input(cli, tmp_path, content):
    source = tmp_path / "model.pt"
    source.write_bytes(content)
    outcome = cli("export", str(source), "--output", str(tmp_path / "x.onnx"))
    assert outcome.code == 2 and "model.pt" in outcome.err
    assert not (tmp_path / "x.onnx").exists()
