"""Imports go downwards only, and no sport knows another."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = [
    {"errors"},
    {"assets", "plugins", "characters", "physics", "mdp", "envs"},
    {"motion"},
    {"priors"},
    {"learning"},
    {"skills"},
    {"composition"},
    {"evaluation", "viewer", "export"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

FILES = sorted(path for package in ("sportsuite", "sportsuite_tasks") for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> list[str]:
    """Modules that a file imports, wherever in it the statement stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    for module in imports(path):
        target = module.split(".")
        if target[0] == "sportsuite_tasks":
            assert parts[0] == "sportsuite_tasks", f"sportsuite knows no sport, but imports {module}"
            same_sport = len(target) < 2 or len(parts) < 2 or target[1] == parts[1]
            assert same_sport, f"sports never import each other: {module}"
        if target[0] == "sportsuite" and parts[0] == "sportsuite" and len(target) > 1 and target[1] in LEVEL:
            own = LEVEL.get(parts[1], len(LAYERS))
            assert LEVEL[target[1]] <= own, f"{parts[1]} is below {target[1]}, but imports {module}"


def test_every_part_of_the_package_has_its_layer():
    parts = {
        path.relative_to(ROOT / "sportsuite").parts[0].removesuffix(".py")
        for path in FILES
        if path.is_relative_to(ROOT / "sportsuite")
    }
    assert parts - {"__init__", "_template", "_assets"} <= set(LEVEL), "give the new part a layer in this test"
