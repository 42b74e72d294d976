import json

import pytest

from tests.cli.story import TASK, story, story_folder

__all__ = ["story", "story_folder"]


@pytest.fixture
def document(story):
    done = story["evaluate"]
    assert done["code"] == 0, done["err"]
    return json.loads(done["out"])  # and nothing else on stdout


def test_json_has_what_scripts_rely_on(document):
    assert document["task"] == TASK and document["episodes"] == 4
    for metric in document["metrics"].values():
        assert {"value", "unit", "reference", "definition"} <= set(metric)
    assert document["metrics"]["TSR"]["reference"] == pytest.approx(78.3)
    assert document["physics"] == "mujoco_cpu" and document["protocol"] == "trap"


def test_policy_is_described(document):
    policy = document["policy"]
    assert policy["kind"] == "checkpoint" and policy["task"] == TASK
    assert policy["iteration"] == 3 and policy["samples"] == 512
    assert len(policy["sha256"]) == 64


def test_several_seeds(document):
    assert document["seeds"] == [1, 2]
    metric = document["metrics"]["touched"]
    assert metric["value"] == pytest.approx(sum(metric["by_seed"]) / 2)


def test_untrained_policy_as_a_table(story):
    done = story["untrained"]
    assert done["code"] == 0, done["err"]
    assert done["out"].startswith("FIGURE\tHERE\tTEXT\tUNIT\tWHAT\n")
    assert "RBSPT" in done["out"] and "3.69" in done["out"]


def test_wrong_override_names_the_nearest(story):
    done = story["wrong override"]
    assert done["code"] == 2 and "nearest: weight" in done["err"] and done["out"] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", TASK, "--checkpoint", "nowhere.pt"], "checkpoint nowhere.pt: no such file"),
        (["evaluate", TASK, "--checkpoint", "junk.pt"], "checkpoint junk.pt: not a whole checkpoint file"),
        (["evaluate", TASK, "--checkpoint", "latest"], f"no run of {TASK} with a checkpoint below"),
        (["evaluate", TASK, "--untrained", "--seeds", "1,1"], "--seeds 1,1: expected different ones"),
        (["evaluate", TASK, "--untrained", "--seeds", "1,2", "--seed", "3"], "expected one of them"),
        (["evaluate", TASK, "--untrained", "protocol.lobs=3"], "the config has no field 'lobs'"),
        (["evaluate", "SportSuite-Dribble-v0", "--untrained", "protocol.match.relativ=1"], "nearest: relative"),
        (["evaluate", "SportSuite-Football-v0", "--untrained"], "SportSuite-Football-v0 is not trained"),
        (["evaluate", TASK, "--untrained", "--device", "gpu"], "device 'gpu': expected 'cpu' or 'cuda:N'"),
    ],
)
def test_bad_input(cli, arguments, message, tmp_path, monkeypatch):
    (tmp_path / "junk.pt").write_bytes(b"PK\x03\x04 cut off")
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1 and done.out == ""
