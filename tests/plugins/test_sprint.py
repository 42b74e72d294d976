"""The sprint, a distribution of its own, works beside sportsuite's sports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugins.sites import REPOSITORY, add_editable, run_cli, run_python

SPRINT = REPOSITORY / "plugins" / "sprint"


@pytest.fixture
def with_sprint(site: Path) -> Path:
    add_editable(site, SPRINT)
    return site


def test_it_is_listed_with_its_terms(with_sprint: Path) -> None:
    document = json.loads(run_cli(with_sprint, "list", "--terms", "--sport", "sprint", "--json").stdout)
    assert document["failures"] == [] and document["unreadable_modules"] == []
    task = next(task for task in document["tasks"] if task["id"] == "Sprint-60m-v0")
    assert task["distribution"] == "sportsuite-sprint"
    kinds = {term["kind"] for term in document["terms"]}
    assert kinds == {"observations", "rewards", "terminations", "events"}
    assert all(term["summary"] for term in document["terms"])


def test_all_its_files_are_found(with_sprint: Path) -> None:
    done = run_cli(with_sprint, "info", "Sprint-60m-v0")
    assert done.returncode == 0, done.stdout


def test_its_own_tests_pass(with_sprint: Path) -> None:
    done = run_python(with_sprint, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SPRINT), OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout + done.stderr
