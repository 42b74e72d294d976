import math
import signal

import pytest

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.learning import training
from sportsuite.learning.checkpoint import read_checkpoint
from sportsuite.learning.training import TrainRequest
from tests.learning.toy_env import toy_cfg, toy_runner

PER_ITERATION = 8 * 16


def learn(folder, on_progress=lambda progress: None, runner=None, **budget):
    runner = runner or toy_runner(log_dir=folder)
    request = TrainRequest(task=None, size="smoke", **budget)  # type: ignore[arg-type]
    return training._learn(runner, request, toy_cfg(), folder, on_progress)


@pytest.mark.parametrize(
    ("budget", "iterations"),
    [({"iterations": 3}, 3), ({"samples": 2 * PER_ITERATION + 1}, 3), ({"samples": 2 * PER_ITERATION}, 2), ({}, 5)],
)
def test_budgets(tmp_path, budget, iterations):
    seen = []
    outcome = learn(tmp_path, seen.append, **budget)
    assert [progress.iteration for progress in seen] == list(range(iterations))
    assert seen[-1].done == 1.0 and seen[-1].samples == outcome.samples == iterations * PER_ITERATION
    assert seen[-1].eta_s == 0.0 and seen[0].eta_s >= 0.0
    assert read_checkpoint(outcome.checkpoint)["iter"] == iterations - 1
    assert outcome.stopped_by == "budget"


def test_minutes_end_after_the_iteration_in_which_they_are_over(tmp_path):
    outcome = learn(tmp_path, minutes=0.5 / 60)
    assert 0.5 <= outcome.seconds < 5.0
    assert outcome.samples % PER_ITERATION == 0


def test_progress_carries_the_figures(tmp_path):
    seen = []
    learn(tmp_path, seen.append, iterations=3)
    last = seen[-1]
    assert last.samples_per_s > 0 and 0.0 <= last.success_rate <= 1.0
    assert 1.0 <= last.episode_length <= 20.0 and math.isfinite(last.reward)
    assert "Loss/value" in last.scalars


@pytest.mark.parametrize("how", ["keyboard", "sigterm"])
def test_asked_to_stop_it_leaves_a_checkpoint(tmp_path, how):
    before = signal.getsignal(signal.SIGTERM)

    def stop(progress):
        if progress.iteration == 1:
            if how == "keyboard":
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGTERM)

    outcome = learn(tmp_path, stop, iterations=100)
    assert outcome.stopped_by == "interrupt"
    assert read_checkpoint(outcome.checkpoint)["sportsuite"]["samples"] == 2 * PER_ITERATION
    assert signal.getsignal(signal.SIGTERM) == before


def test_budgets_count_from_the_beginning_of_a_resumed_run(tmp_path):
    first = learn(tmp_path, iterations=2)
    runner = toy_runner(log_dir=tmp_path)
    training._resume(runner, first.checkpoint)
    assert learn(tmp_path, runner=runner, iterations=3).samples == 3 * PER_ITERATION
    runner = toy_runner(log_dir=tmp_path)
    training._resume(runner, first.checkpoint)
    with pytest.raises(BadInputError, match="nothing left to train: the checkpoint is at iteration 1 and 256 samples"):
        learn(tmp_path, runner=runner, samples=2 * PER_ITERATION)


def test_standard_output_stays_the_commands(tmp_path, capsys):
    runner = toy_runner(log_dir=tmp_path)
    capsys.readouterr()
    learn(tmp_path, runner=runner, iterations=2)
    assert capsys.readouterr().out == ""


def test_unknown_size_of_a_task():
    class Spec:
        id, agent_cfgs = "Toy-v0", {"cpu": "x:y"}

    class Task:
        spec = Spec

    with pytest.raises(BadInputError) as caught:
        training.agent_cfg_of(Task, "cpuu")  # type: ignore[arg-type]
    assert str(caught.value) == str(unknown_name("agent size of Toy-v0", "cpuu", ["cpu"]))
    Spec.agent_cfgs = {}
    with pytest.raises(BadInputError, match="not trained"):
        training.agent_cfg_of(Task, "cpu")  # type: ignore[arg-type]
