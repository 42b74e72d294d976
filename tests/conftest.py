"""Shared fixtures. One environment per process at a time: the ``make`` fixture closes the last one before the next."""

from __future__ import annotations

import os

# before any import that starts a thread pool: spinning OpenMP threads beside the physics threads slow both down
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc  # noqa: E402
import random  # noqa: E402

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402


@pytest.fixture(autouse=True)
def _seeds():
    """The same draws in every run and whatever ran before: a test that passes here passes elsewhere."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def _environments():
    """The one open environment, with what it was made from."""
    held: dict = {}

    def close() -> None:
        if "env" in held:
            held.pop("env").close()
            held.pop("key", None)
            # the first environment leaves a large permanent heap; freezing it makes every later close() quick
            if not held.get("frozen"):
                gc.collect()
                gc.freeze()
                held["frozen"] = True

    held["close"] = close
    yield held
    close()


@pytest.fixture
def make(_environments):
    """``gym.make`` that closes the previous environment first and hands out an equal one again."""
    import gymnasium as gym

    import sportsuite  # noqa: F401

    def factory(task: str, *, fresh: bool = False, **options):
        key = (task, repr(sorted(options.items(), key=str)))
        if fresh or _environments.get("key") != key:
            _environments["close"]()
            _environments["env"] = gym.make(task, **options).unwrapped
            _environments["key"] = key
        return _environments["env"]

    factory.close = _environments["close"]
    return factory
