import json

import torch

from sportsuite.learning.run_log import RunLogWriter, read_metrics, writer_cfg
from tests.learning.toy_env import toy_runner


def test_training_writes_a_line_per_iteration_and_events(tmp_path):
    toy_runner(log_dir=tmp_path).learn(3)
    rows = read_metrics(tmp_path)
    assert [row["iteration"] for row in rows] == [0, 1, 2]
    assert {"Loss/value", "Loss/skipped_updates", "Perf/total_fps", "Metrics/success_rate"} <= set(rows[-1])
    assert list(tmp_path.glob("events.out.tfevents.*"))


def test_only_the_plain_logger_is_replaced():
    assert writer_cfg("tensorboard")["class_name"] == "sportsuite.learning.run_log:RunLogWriter"  # type: ignore[index]
    assert writer_cfg("wandb") == "wandb"


def test_resumed_iterations_and_cut_off_lines(tmp_path):
    lines = [{"iteration": 0, "a": 1.0}, {"iteration": 1, "a": 2.0}, {"iteration": 1, "a": 3.0}]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"iteration": 2, "a')
    assert read_metrics(tmp_path) == [lines[0], lines[2]]
    assert read_metrics(tmp_path / "missing") == []


def test_scalars_against_seconds_are_not_mixed_in(tmp_path):
    writer = RunLogWriter(str(tmp_path))
    writer.add_scalar("Train/mean_reward", torch.tensor(2.5), 7)
    writer.add_scalar("Train/mean_reward/time", 2.5, 1234)
    writer.stop()
    assert read_metrics(tmp_path) == [{"iteration": 7, "Train/mean_reward": 2.5}]
