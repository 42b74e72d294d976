"""Models shared by the tests of native stepping: building and converting them takes seconds."""

from __future__ import annotations

from pathlib import Path

import newton
import pytest
import warp as wp

from tests.physics.mujoco_cpu import scenes

WORLDS = 4


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("characters")


@pytest.fixture(scope="package")
def model(folder: Path) -> newton.Model:
    """Four football worlds that report accelerations and joint reactions; tests must leave it as it is."""
    with wp.ScopedDevice("cpu"):
        return scenes.football_model(folder, WORLDS, ("body_qdd", "body_parent_f"))


@pytest.fixture(scope="package")
def lean_model(folder: Path) -> newton.Model:
    """Four football worlds that report no more than is needed."""
    with wp.ScopedDevice("cpu"):
        return scenes.football_model(folder, WORLDS)
