"""``sportsuite buffer``: bad input before anything is loaded, and one small recording."""

import json

import numpy as np
import pytest

from tests.cli.conftest import cli, own_site, site

__all__ = ["cli", "own_site", "site"]

TASK = "SportSuite-Trap-v0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "SportSuite-Trp-v0", "--out", "a.npz"], "did you mean"),
        (["record", TASK, "--out", "a.txt"], "expected a name that ends in .npz"),
        (["record", TASK, "--out", "a.npz", "--states", "0"], "--states 0: expected a number above 0"),
        (["record", TASK, "--out", "old.npz"], "exists already; --force replaces it"),
        (["record", TASK, "env.x", "--out", "a.npz"], "override 'env.x': expected"),
        (["record", TASK, "--out", "a.npz", "--when", "tuch"], "unknown moment 'tuch': did you mean 'touch'"),
        (["info", "nothing.npz"], "state buffer nothing.npz: there is none"),
        (["info", "old.npz"], "state buffer old.npz: expected an array 'format'"),
    ],
)
def test_bad_input(cli, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "old.npz", x=np.zeros(1))
    done = cli("buffer", *arguments)
    assert done.code == 2 and message in done.err, done.err
    assert done.err.count("\n") == 1 and done.out == ""


def test_record_and_describe(cli, tmp_path, _environments):
    _environments["close"]()
    path = tmp_path / "trap.npz"
    options = ("--pretrained", "--states", "20", "--num-envs", "4", "--seed", "2", "--centre", "--json")
    done = cli("buffer", "record", TASK, "env.physics_hz=240", *options, "--out", str(path))
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["states"] == 20 and document["ball"] is True and document["task"] == TASK
    assert document["policy"]["kind"] == "checkpoint" and len(document["policy"]["sha256"]) == 64
    assert document["seed"] == 2 and document["physics_hz"] == 240 and document["centred"] is True
    again = cli("buffer", "info", str(path), "--json")
    assert json.loads(again.out) == document
