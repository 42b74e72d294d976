"""``sportsuite new-plugin`` writes a sport that works, from a template that is one itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sportsuite.cli.new_plugin import template_folder
from tests.plugins.sites import add_editable, run_cli, run_python


@pytest.fixture(scope="module")
def created(tmp_path_factory: pytest.TempPathFactory, own_site: Path) -> Path:
    """A new plugin called ``tug_of_war``."""
    output = tmp_path_factory.mktemp("new") / "made" / "here"
    done = run_cli(own_site, "new-plugin", "tug_of_war", "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in output.iterdir()] == ["sportsuite-tug-of-war"]
    return output / "sportsuite-tug-of-war"


def test_nothing_of_the_templates_name_is_left(created: Path) -> None:
    for path in created.rglob("*"):
        assert "mysport" not in path.name.lower()
        if path.is_file():
            assert "mysport" not in path.read_text(encoding="utf-8").lower()


def test_every_file_of_the_template_is_there(created: Path) -> None:
    def files(folder: Path, name: str) -> set[str]:
        found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        return {path.replace(name, "NAME") for path in found if "__pycache__" not in path}

    assert files(created, "tug_of_war") == files(template_folder(), "mysport")


def test_the_new_sport_is_listed_and_complete(created: Path, site: Path) -> None:
    add_editable(site, created)
    document = json.loads(run_cli(site, "list", "--terms", "--json").stdout)
    assert document["failures"] == [] and document["unreadable_modules"] == []
    assert "TugOfWar-Stand-v0" in [task["id"] for task in document["tasks"]]
    assert "tug_of_war:root_height_w_exp" in [term["name"] for term in document["terms"]]
    assert run_cli(site, "info", "TugOfWar-Stand-v0").returncode == 0


def test_the_new_sports_own_tests_pass(created: Path, site: Path) -> None:
    add_editable(site, created)
    done = run_python(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(created), OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_second_one_of_that_name_is_refused(created: Path, own_site: Path, site: Path) -> None:
    done = run_cli(own_site, "new-plugin", "tug_of_war", "--output", str(created.parent))
    assert done.returncode == 2 and "exists already" in done.stderr
    add_editable(site, created)
    done = run_cli(site, "new-plugin", "tug_of_war", "--output", str(created.parent / "elsewhere"))
    assert done.returncode == 2 and "there is a sport of that name already" in done.stderr
