"""Makes folders that look like site-packages, with chosen distributions, and runs Python with them on its path."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

GOOD = """
from sportsuite.plugins import SportPlugin, TaskSpec
PLUGIN = SportPlugin(name="{name}", api_version=1, description="A sport.", tasks=(
    TaskSpec(id="{task}", env_cfg="{name}_pkg.cfg:EnvCfg", description="A task."),))
"""
"""Source of a plugin that works; to be formatted with its name and its task's id."""


def add_distribution(
    site: Path,
    name: str,
    entry_points: Mapping[str, Mapping[str, str]],
    modules: Mapping[str, str],
    version: str = "1.2.3",
) -> None:
    """Put a distribution into a folder: its metadata and its modules, by path relative to the folder."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in pairs.items())
        for group, pairs in entry_points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for path, source in modules.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(source)


def add_sport(site: Path, distribution: str, name: str, source: str) -> None:
    """Put a distribution with one sport into a folder; it is called ``name`` and declared in ``<name>_plugin``."""
    points = {"sportsuite.sports": {name: f"{name}_plugin:PLUGIN"}}
    add_distribution(site, distribution, points, {f"{name}_plugin.py": source})


def add_project(site: Path, folder: Path) -> None:
    """Put the metadata of a source project into a folder, as an editable installation would."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    points = {**project.get("entry-points", {}), "console_scripts": project.get("scripts", {})}
    add_distribution(site, project["name"], points, {}, project["version"])
    (metadata,) = site.glob(f"{project['name'].replace('-', '_')}-*.dist-info/METADATA")
    with metadata.open("a") as file:
        file.writelines(f"Requires-Dist: {requirement}\n" for requirement in project.get("dependencies", []))


def add_editable(site: Path, folder: Path) -> None:
    """Put a source project with one package into a folder, as an editable installation would."""
    add_project(site, folder)
    (package,) = (path.parent for path in folder.glob("*/__init__.py"))
    (site / package.name).symlink_to(package)


def run_python(site: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter with the site folder and the checkout on its path, and fail on nothing."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SPORTSUITE_")}
    path = os.pathsep.join([str(site), str(REPOSITORY)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**clean, "PYTHONPATH": path, "COLUMNS": "200", **environ},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_cli(site: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``sportsuite``."""
    return run_python(site, "-m", "sportsuite.cli.main", *arguments, **environ)
