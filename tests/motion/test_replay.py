"""Features of the simulator equal those of the clip it replays, on every backend that runs on a CPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.motion import replay

ROOT = Path(__file__).resolve().parents[2]
OTHERS = ("newton_mjwarp", "ovphysx")
TIMEOUT = 900
"""A cold cache compiles kernels for minutes on two cores [s]."""


def missing(backend: str) -> bool:
    return backend == "ovphysx" and importlib.util.find_spec("ovphysx") is None


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], dict]]:
    """``others(backend)`` gives what its process found; they run beside this one."""
    folder = tmp_path_factory.mktemp("replay")
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    runs = {}
    for backend in OTHERS:
        if not missing(backend):
            command = [sys.executable, "-m", "tests.motion.replay", backend, str(folder / f"{backend}.json")]
            with (folder / f"{backend}.log").open("wb") as log:
                runs[backend] = subprocess.Popen(command, env=env, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)

    def of(backend: str) -> dict:
        code = runs[backend].wait(timeout=TIMEOUT)
        assert code == 0, (folder / f"{backend}.log").read_text()[-4000:]
        return json.loads((folder / f"{backend}.json").read_text())

    yield of
    for run in runs.values():
        run.kill()
        run.wait()


@pytest.mark.parametrize("backend", ["mujoco_cpu", *OTHERS])
def test_features_are_those_of_the_clip(backend: str, others: Callable, make: Callable) -> None:
    if missing(backend):
        pytest.skip("the ovphysx extra is not installed")
    if backend == "mujoco_cpu":
        options = {"num_envs": replay.NUM_ENVS, "seed": 1, "physics": backend, **replay.EXACT}
        found = replay.measured(make(replay.TASK, fresh=True, **options))
    else:
        found = others(backend)
    assert found["replay"] < 1e-4
    for reset in ("first_reset", "reset_in_step", "later_reset"):
        assert found[reset] < 1e-4, reset
    # the old episode's last frame would have been another one
    assert found["change_by_reset"] > 0.1
