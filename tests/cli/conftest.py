"""Runs verbs in this process with sportsuite's own sports installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sportsuite.cli.main import main
from sportsuite.plugins.manager import inventory
from tests.plugins.fixtures import own_site, site

__all__ = ["Outcome", "cli", "own_site", "site"]


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(own_site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run ``sportsuite`` with arguments and return its exit code and output."""
    monkeypatch.syspath_prepend(str(own_site))
    for name in ("SPORTSUITE_PLUGINS", "SPORTSUITE_DISABLE_PLUGINS", "SPORTSUITE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    importlib.invalidate_caches()
    inventory.cache_clear()

    def run(*arguments: str) -> Outcome:
        try:
            code = main(list(arguments))
        except SystemExit as stop:  # argparse ends --help so
            code = int(stop.code or 0)
        return Outcome(code, *capsys.readouterr())

    yield run
    inventory.cache_clear()
