import json

import pytest

from sportsuite.cli._run_options import split_overrides
from sportsuite.cli.train import progress_line
from sportsuite.errors import BadInputError
from sportsuite.learning.training import Progress
from tests.cli.story import TASK, story, story_folder

__all__ = ["story", "story_folder"]


@pytest.fixture
def run_dir(story, story_folder):
    (folder,) = (story_folder / "logs" / "rsl_rl" / "trap").iterdir()
    return folder


def test_training_shows_weights_progress_and_result(story):
    done = story["train"]
    assert done["code"] == 0, done["err"]
    assert "reward weights: before 2.5, after 30" in done["err"]
    assert "samples/s" in done["err"] and "left 00:00:00" in done["err"]
    # 300 samples of 8 worlds x 16 steps are three iterations
    assert "iteration 2, 384 samples" in done["out"]
    assert "checkpoint" in done["out"] and done["out"].count("\n") == 2


def test_run_folder_is_what_isaaclab_writes_and_more(story, run_dir):
    manifest = json.loads((run_dir / "run.json").read_text())
    assert manifest["library"] == "rsl_rl" and manifest["task"] == TASK
    assert manifest["metadata"] == {"agent": "rsl_rl_smoke_cfg_entry_point"}
    for name in ("params/env.yaml", "params/agent.yaml", "metrics.jsonl", "model_0.pt", "model_2.pt"):
        assert (run_dir / name).is_file(), name
    assert not list(run_dir.glob(".*.tmp"))


def test_resuming_goes_on_in_the_same_folder_and_counts_on(story, run_dir):
    done = story["resume"]
    assert done["code"] == 0, done["err"]
    assert "iteration 3, 512 samples" in done["out"]
    rows = [json.loads(line)["iteration"] for line in (run_dir / "metrics.jsonl").read_text().splitlines()]
    assert rows == [0, 1, 2, 3]


def test_checkpoint_holds_the_overrides(story, run_dir):
    import yaml

    from sportsuite.learning.checkpoint import read_checkpoint

    about = read_checkpoint(run_dir / "model_2.pt")["sportsuite"]
    assert about["task"] == TASK and about["seed"] == 3
    assert yaml.safe_load(about["env_cfg"])["rewards"]["before"]["weight"] == 2.5
    assert yaml.safe_load(about["agent_cfg"])["save_interval"] == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("wrong type", "override algorithm.gamma=high: expected a number"),
    ],
)
def test_what_cannot_be_trained_is_one_line_and_code_2(story, command, message):
    done = story[command]
    assert done["code"] == 2, done["err"]
    assert message in done["err"] and "Traceback" not in done["err"]


def test_overrides_are_sorted_by_config():
    assert split_overrides(["env.a.b=1", "agent.c=[1, 2]"]) == (("a.b=1",), ("c=[1, 2]",))
    with pytest.raises(BadInputError, match="did you mean 'agent.c=1'"):
        split_overrides(["agnet.c=1"])
    for wrong in ("env.a", "a=1", "env=1", "env.=1"):
        with pytest.raises(BadInputError, match="expected"):
            split_overrides([wrong])


def test_progress_line_leaves_out_what_is_not_known():
    nan = float("nan")
    line = progress_line(Progress(7, 1234567, 4321.4, nan, 12.34, 0.5, 3725.0, 0.1))
    assert line == "iteration 7  samples 1,234,567  samples/s 4,321  length 12.3  success 0.500  left 01:02:05"
    assert progress_line(Progress(7, 1, nan, nan, nan, nan, 100_000.0, 0.1)).endswith("left 28 h")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", TASK, "--resume", "nowhere.pt"], "checkpoint nowhere.pt: no such file"),
        (["train", TASK, "--minutes", "-1"], "--minutes -1.0: expected a number above 0"),
        (["train", TASK, "--log-dir", "nowhere", "--resume"], "run folder nowhere: it holds no model_<iteration>.pt"),
    ],
)
def test_bad_input(cli, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1
