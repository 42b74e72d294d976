"""Importing sportsuite is cheap and has no effect beyond registering ids."""

from __future__ import annotations

import json
from pathlib import Path

from tests.plugins.sites import run_python

HEAVY = (
    "torch",
    "warp",
    "isaaclab",
    "isaaclab_tasks",
    "newton",
    "mujoco",
    "numba",
    "omegaconf",
    "rsl_rl",
    "rich",
    "yaml",
)


def test_import_loads_nothing_heavy(own_site: Path) -> None:
    code = f"import json, sys, sportsuite; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    assert json.loads(run_python(own_site, "-c", code).stdout) == []


def test_import_adds_less_than_0_3_s_of_work_to_gymnasiums(own_site: Path) -> None:
    code = "import gymnasium, time; start = time.process_time(); import sportsuite; print(time.process_time() - start)"
    assert min(float(run_python(own_site, "-c", code).stdout) for _ in range(3)) < 0.3


def test_import_works_from_a_plain_checkout_without_installation(tmp_path: Path) -> None:
    # -S: no site-packages, so gymnasium is put back by hand; there is no metadata of sportsuite then
    code = """
import sys, importlib.metadata
importlib.metadata.distributions = lambda *a, **k: iter(())
importlib.metadata.entry_points = lambda **k: importlib.metadata.EntryPoints()
def absent(name): raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.version = absent
import sportsuite
print(sportsuite.__version__)
"""
    done = run_python(tmp_path, "-c", code)
    assert (done.stdout.strip(), done.stderr) == ("0+not.installed", "")
