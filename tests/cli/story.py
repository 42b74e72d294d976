"""One process that trains, resumes, evaluates, films and plays a small task, for the tests of those verbs to look at.

Starting the simulator is what takes the time, so it is started once for all of them.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.sites import run_python

TASK = "SportSuite-Trap-v0"

SMOKE = ["train", TASK, "--size", "smoke", "--num-envs", "8", "--device", "cpu"]
LATEST = [TASK, "--checkpoint", "latest"]

COMMANDS = {
    "train": [*SMOKE, "--samples", "300", "--seed", "3", "env.rewards.before.weight=2.5", "agent.save_interval=1"],
    "resume": [*SMOKE, "--iterations", "4", "--resume"],
    "evaluate": ["evaluate", *LATEST, "--episodes", "4", "--num-envs", "4", "--seeds", "1,2", "--json"],
    "untrained": ["evaluate", TASK, "--untrained", "--episodes", "2", "--num-envs", "2"],
    "video": ["play", *LATEST, "--video", "films/trap.mp4", "--steps", "8"],
    "play": ["play", *LATEST, "--steps", "3", "--num-envs", "2"],
    "zero": ["zero", TASK, "--steps", "3", "--num-envs", "2", "--json"],
    "wrong physics": ["zero", TASK, "--physics", "newton_mjwrap"],
    "wrong override": ["evaluate", TASK, "--untrained", "env.rewards.before.weights=1"],
    "wrong type": ["train", TASK, "agent.algorithm.gamma=high"],
}

SCRIPT = """
import contextlib, io, json, sys
from sportsuite.cli.main import main
results = {}
for name, arguments in json.loads(sys.argv[1]).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    results[name] = {"code": code, "out": out.getvalue(), "err": err.getvalue()}
with open("results.json", "w") as stream:
    json.dump(results, stream)
"""


@functools.cache
def tell(site: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Run all commands in a folder and return what each left behind."""
    script = f"import os; os.chdir({str(folder)!r})\n{SCRIPT}"
    done = run_python(site, "-c", script, json.dumps(COMMANDS))
    results = folder / "results.json"
    assert results.is_file(), done.stderr[-3000:]
    return json.loads(results.read_text())


@pytest.fixture(scope="session")
def story(own_site: Path) -> dict[str, dict[str, Any]]:
    """Results by command: exit code, stdout, stderr."""
    return tell(own_site, folder_of(own_site))


@pytest.fixture(scope="session")
def story_folder(own_site: Path) -> Path:
    """The folder that the commands ran in."""
    return folder_of(own_site)


def folder_of(own_site: Path) -> Path:
    folder = own_site.parent / "story"
    folder.mkdir(exist_ok=True)
    return folder


__all__ = ["COMMANDS", "TASK", "story", "story_folder"]
