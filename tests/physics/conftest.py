"""Runs the experiments of ``measure.py`` once per backend, each in a process of its own, two at a time."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BACKENDS = ("newton_mjwarp", "mujoco_cpu", "ovphysx")
TIMEOUT = 900
"""A cold cache compiles kernels for minutes on two cores [s]."""


@pytest.fixture(scope="session")
def measurements(request, tmp_path_factory):
    """``measurements(backend)`` gives what the backend's experiments showed."""
    chosen = {item.callspec.params.get("measured") for item in request.session.items if hasattr(item, "callspec")}
    if importlib.util.find_spec("ovphysx") is None:
        chosen.discard("ovphysx")
    pool = ThreadPoolExecutor(max_workers=2)
    runs = {}

    def start(backend: str) -> None:
        runs[backend] = pool.submit(_measure, backend, tmp_path_factory.mktemp(backend) / "result.json")

    for backend in BACKENDS:
        if backend in chosen:
            start(backend)

    def of(backend: str) -> dict:
        if backend not in runs:
            start(backend)
        return runs[backend].result()

    yield of
    pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session", params=BACKENDS)
def measured(request, measurements) -> dict:
    """What the experiments of one backend showed."""
    if request.param == "ovphysx" and importlib.util.find_spec("ovphysx") is None:
        pytest.skip("the ovphysx extra is not installed")
    return measurements(request.param)


def _measure(backend: str, output: Path) -> dict:
    paths = [str(HERE.parent.parent), str(HERE), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, str(HERE / "measure.py"), backend, str(output)]
    done = subprocess.run(command, env=env, cwd=output.parent, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0 and output.is_file(), f"{backend}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(output.read_text())
