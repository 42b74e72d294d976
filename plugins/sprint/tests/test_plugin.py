"""The declaration, and what the distribution may use of sportsuite."""

import ast
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

import sportsuite  # noqa: F401  (registers the ids)
import sportsuite_sprint
from sportsuite_sprint.plugin import DASH, PLUGIN

PACKAGE = Path(sportsuite_sprint.__file__).parent


def test_the_sport_is_installed() -> None:
    assert gymnasium.spec(DASH.id).kwargs["sport"] == PLUGIN.name == "sprint"


def test_declaring_it_is_cheap() -> None:
    code = "import sys, sportsuite_sprint.plugin; sys.exit(bool({'torch', 'warp', 'isaaclab'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def imported_names(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_public_names_of_sportsuite_are_used(path: Path) -> None:
    for name in imported_names(path):
        parts = name.split(".")
        assert parts[0] != "sportsuite_tasks", f"{name}: sports don't import each other"
        if parts[0] == "sportsuite":
            assert not any(part.startswith("_") for part in parts if part != "__future__"), name
