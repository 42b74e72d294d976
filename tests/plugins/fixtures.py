"""Site folders as fixtures; the conftests of the folders that use them import these."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins import sites


@pytest.fixture(scope="session")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site folder with sportsuite's own entry points, read from pyproject.toml."""
    site = tmp_path_factory.mktemp("own_site")
    sites.add_project(site, sites.REPOSITORY)
    return site


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A fresh site folder with sportsuite's own entry points, to add strangers to."""
    sites.add_project(tmp_path / "site", sites.REPOSITORY)
    return tmp_path / "site"
