"""Start a sport of your own: write a small working plugin, with a task, tests and packaging.

Then: pip install -e FOLDER, and 'sportsuite list' shows its task.
"""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import os
import re
import shutil
import tempfile
from pathlib import Path

from sportsuite.cli import _output
from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.plugins.manager import inventory

_TEMPLATE_NAME = "mysport"
_TEMPLATE_TITLE = "MySport"
_SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*_cache", "*.egg-info", "build", "dist")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="name of the sport: lower case letters, digits and '_'")
    parser.add_argument(
        "--output", metavar="DIR", type=Path, default=Path(), help="folder to write into (default: here)"
    )


def run(args: argparse.Namespace) -> None:
    """Write the plugin's folder."""
    folder = create(args.name, args.output)
    _output.write_line(f"wrote {folder}")
    _output.write_line(f"next: pip install -e {folder}, then 'sportsuite list' and 'python -m pytest {folder}'")


def create(name: str, output: Path) -> Path:
    """Copy the template, with its name replaced in files and paths.

    Args:
        name: Name of the sport.
        output: Folder to write into; made if missing.

    Returns:
        The new folder ``sportsuite-NAME``. It appears complete or not at all.

    Raises:
        BadInputError: If the name is unusable or taken, or the folder exists or can't be written.
        SportSuiteError: If the template is missing from the installation.
    """
    check_name(name)
    target = output / f"sportsuite-{name.replace('_', '-')}"
    if target.exists():
        raise BadInputError(f"{target} exists already: remove it, or choose another NAME or --output")
    try:
        output.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".new-plugin-", dir=output))
    except OSError as error:
        raise BadInputError(f"--output {output}: {error.strerror or error}") from error
    try:
        filled = staging / target.name
        shutil.copytree(template_folder(), filled, ignore=_SKIPPED)
        _fill_in(filled, name)
        os.replace(filled, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target


def check_name(name: str) -> None:
    """Refuse names that can't be a package, an entry point and a part of a task id.

    Raises:
        BadInputError: With the nearest usable name, where there is one.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        usable = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        hint = (
            f"; nearest: {usable!r}"
            if re.fullmatch(r"[a-z][a-z0-9_]*", usable) and not keyword.iskeyword(usable)
            else ""
        )
        raise BadInputError(f"NAME {name!r}: expected lower case letters, digits and '_', starting with a letter{hint}")
    if name in inventory().plugins or name == "sportsuite":
        raise BadInputError(f"NAME {name!r}: there is a sport of that name already; choose another")
    if importlib.util.find_spec(f"sportsuite_{name}") is not None:
        raise BadInputError(f"NAME {name!r}: there is a package sportsuite_{name} already; choose another")


def template_folder() -> Path:
    """Find the template: in a wheel beside the package, in a checkout in ``plugins/template``.

    Raises:
        SportSuiteError: If neither exists.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_template", package.parent / "plugins" / "template"):
        if folder.is_dir():
            return folder
    raise SportSuiteError("the plugin template is missing: reinstall sportsuite, or run from a full checkout")


def _fill_in(folder: Path, name: str) -> None:
    title = "".join(part.capitalize() for part in name.split("_"))
    # deepest first, so that a renamed folder doesn't change paths that are still to come
    for path in sorted(folder.rglob("*"), key=lambda path: len(path.parts), reverse=True):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(_TEMPLATE_TITLE, title).replace(_TEMPLATE_NAME, name), encoding="utf-8")
        if _TEMPLATE_NAME in path.name:
            path.rename(path.with_name(path.name.replace(_TEMPLATE_NAME, name)))
