import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from sportsuite.errors import BadInputError
from sportsuite.learning import checkpoint as ck
from tests.learning.toy_env import ToyEnv, toy_runner


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    toy_runner(log_dir=folder).learn(3)
    return folder


@pytest.fixture
def broken_run(run_dir, tmp_path):
    """A run whose newest checkpoint was cut off."""
    for path in ck.checkpoints(run_dir):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole = (tmp_path / "model_2.pt").read_bytes()
    (tmp_path / "model_10.pt").write_bytes(whole[: len(whole) // 2])
    return tmp_path


def test_checkpoint_describes_its_run(run_dir):
    content = ck.read_checkpoint(run_dir / "model_2.pt")
    about = content["sportsuite"]
    assert about["task"] == "Toy-v0"
    assert about["samples"] == 3 * 8 * 16
    assert about["observations"] == {"policy": [2], "critic": [2]}
    assert about["seed"] == 42
    assert about["versions"]["rsl-rl-lib"] == "5.5.1"
    assert yaml.safe_load(about["env_cfg"]) == {"task": "Toy-v0", "decimation": 4, "scale": [1.0, 2.0]}
    assert yaml.safe_load(about["agent_cfg"])["actor"]["hidden_dims"] == [16]
    assert content["iter"] == 2


def test_resuming_brings_everything_back(run_dir, tmp_path):
    content = ck.read_checkpoint(run_dir / "model_2.pt")
    runner = toy_runner(log_dir=tmp_path)
    runner.load(str(run_dir / "model_2.pt"))
    assert runner.current_learning_iteration == 2
    assert runner.alg.samples == 3 * 8 * 16
    for name, value in runner.alg.save()["actor_state_dict"].items():
        assert torch.equal(value, content["actor_state_dict"][name]), name
    saved = content["optimizer_state_dict"]["state"][0]["exp_avg"]
    assert torch.equal(runner.alg.optimizer.state_dict()["state"][0]["exp_avg"], saved)
    # the random numbers go on where the file was written
    assert torch.equal(torch.get_rng_state(), content["rng"]["torch"])


def test_playing_leaves_the_random_generators_alone(run_dir):
    runner = toy_runner()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    runner.load(str(run_dir / "model_2.pt"))
    assert torch.equal(torch.get_rng_state(), before)


def test_random_states_round_trip():
    state = ck.rng_state()
    drawn = torch.rand(3), np.random.rand(3), random.random()
    ck.restore_rng(state)
    again = torch.rand(3), np.random.rand(3), random.random()
    assert torch.equal(drawn[0], again[0])
    assert np.array_equal(drawn[1], again[1])
    assert drawn[2] == again[2]


def test_newest_broken_checkpoint_is_skipped(broken_run, caplog):
    assert ck.latest_valid(broken_run).name == "model_2.pt"
    assert "model_10.pt" in caplog.text


def test_iterations_sort_by_number(broken_run):
    assert [path.name for path in ck.checkpoints(broken_run)] == ["model_10.pt", "model_2.pt", "model_0.pt"]


def test_cut_off_file(broken_run):
    with pytest.raises(BadInputError, match="not a whole checkpoint"):
        ck.read_checkpoint(broken_run / "model_10.pt")


def test_flipped_bits(run_dir, tmp_path):
    content = bytearray((run_dir / "model_2.pt").read_bytes())
    weights = ck.read_checkpoint(run_dir / "model_2.pt")["critic_state_dict"]["mlp.0.weight"]
    at = bytes(content).find(weights.numpy().tobytes())
    content[at + 8] ^= 0xFF
    (tmp_path / "model_0.pt").write_bytes(content)
    with pytest.raises(BadInputError, match="damaged"):
        ck.read_checkpoint(tmp_path / "model_0.pt")


class Dangerous:
    def __reduce__(self):
        return (os.mkdir, (self.folder,))


def test_file_with_code_is_refused_and_not_run(tmp_path):
    payload = Dangerous()
    payload.folder = str(tmp_path / "ran")
    torch.save({"actor_state_dict": payload}, tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(pickle.dumps(payload))
    for name in ("a.pt", "b.pt"):
        with pytest.raises(BadInputError):
            ck.read_checkpoint(tmp_path / name)
        with pytest.raises(BadInputError):
            toy_runner().load(str(tmp_path / name))
    assert not (tmp_path / "ran").exists()


def test_foreign_checkpoint(tmp_path):
    torch.save({"model_state_dict": {}}, tmp_path / "x.pt")
    with pytest.raises(BadInputError, match="not written by sportsuite"):
        ck.read_checkpoint(tmp_path / "x.pt")


def test_missing_file_names_the_nearest(run_dir):
    with pytest.raises(BadInputError, match=r"no such file; the newest there is .*model_2\.pt"):
        ck.read_checkpoint(run_dir / "model_99.pt")


def test_wrong_task(run_dir):
    with pytest.raises(BadInputError, match="was trained on Toy-v0, not on Other-v0"):
        toy_runner(ToyEnv(task="Other-v0")).load(str(run_dir / "model_2.pt"))


def test_wrong_shapes(run_dir):
    with pytest.raises(BadInputError, match=r"\(1, 2\) in the file, \(1, 3\) here"):
        toy_runner(ToyEnv(extra_obs=1)).load(str(run_dir / "model_2.pt"))
    with pytest.raises(BadInputError, match="another agent size"):
        toy_runner(**{"actor.hidden_dims": [32]}).load(str(run_dir / "model_2.pt"))


def test_stripped_checkpoint_is_smaller_and_still_loads(run_dir, tmp_path):
    ck.strip_checkpoint(run_dir / "model_2.pt", tmp_path / "policy.pt")
    content = ck.read_checkpoint(tmp_path / "policy.pt")
    assert set(content) == {"actor_state_dict", "iter", "sportsuite", "infos"}
    runner = toy_runner()
    runner.load(str(tmp_path / "policy.pt"))
    for name, value in runner.alg.actor.state_dict().items():
        assert torch.equal(value, content["actor_state_dict"][name])
    assert runner.current_learning_iteration == 0


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "model_0.pt"
    ck.write_checkpoint(path, {"a": torch.ones(2)})
    before = path.read_bytes()
    with pytest.raises(Exception, match="pickle"):
        ck.write_checkpoint(path, {"a": torch.ones(1000), "b": lambda: None})
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model_0.pt"]


def test_latest_run_goes_by_manifest(run_dir, tmp_path):
    runs = [("a", "2026-01-02", "Toy-v0"), ("b", "2026-01-01", "Toy-v0"), ("c", "2026-01-03", "Other-v0")]
    for name, created, task in runs:
        folder = tmp_path / "exp" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"task": task, "created_at": created}))
        (folder / "model_0.pt").write_bytes((run_dir / "model_0.pt").read_bytes())
    assert ck.latest_run(tmp_path, "Toy-v0").name == "a"
    with pytest.raises(BadInputError, match="no run of Nothing-v0"):
        ck.latest_run(tmp_path, "Nothing-v0")


LONG_RUN = """
from tests.learning.toy_env import toy_runner
runner = toy_runner(log_dir={folder!r}, save_interval=3)
runner.learn(100000)
"""


def test_killed_training_loses_at_most_one_interval(tmp_path):
    command = [sys.executable, "-c", LONG_RUN.format(folder=str(tmp_path))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 60
    while not (tmp_path / "model_9.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = max(row["iteration"] for row in map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines()))
    newest = ck.latest_valid(tmp_path)
    content = ck.read_checkpoint(newest)
    assert done - content["iter"] <= 3
    runner = toy_runner(log_dir=tmp_path)
    runner.load(str(newest))
    runner.learn(2)
    assert runner.alg.samples == content["sportsuite"]["samples"] + 2 * 8 * 16


def test_shipped_configs_name_no_folder_of_the_machine():
    from sportsuite.learning.checkpoint import without_local_paths

    text = (
        "usd_path: /home/someone/code/assets/characters/a.usda\nlog_dir: /data/runs/7\n"
        "save_logs_to_file: /var/logs\nprim_path: /World/envs/env_.*/Robot\nother: site/sportsuite/_assets/b.npz\n"
    )
    clean = without_local_paths(text)
    assert "/home" not in clean and "/data" not in clean and "/var" not in clean
    assert "usd_path: assets/characters/a.usda" in clean and "prim_path: /World/envs/env_.*/Robot" in clean
