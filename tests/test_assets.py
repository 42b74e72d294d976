"""Shipped files: found, recorded, and rebuilt to the same bytes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sportsuite import assets
from sportsuite.errors import BadInputError

REPOSITORY = Path(__file__).resolve().parent.parent


def build_assets():
    module_spec = importlib.util.spec_from_file_location("build_assets", REPOSITORY / "scripts" / "build_assets.py")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


def test_path_of_a_known_file():
    path = assets.asset_path("characters/humanoid28_football_boot.usda")
    assert path.is_absolute() and path.is_file()


def test_unknown_file_names_the_nearest():
    with pytest.raises(FileNotFoundError, match="'characters/humanoid28_football_boot.usda'") as error:
        assets.asset_path("characters/humanoid28_footbal_boot.usda")
    assert isinstance(error.value, BadInputError)


@pytest.mark.parametrize("name", ["../pyproject.toml", "", "characters"])
def test_only_files_inside_the_folder_are_given(name):
    with pytest.raises(FileNotFoundError):
        assets.asset_path(name)


def test_installed_package_uses_its_own_copy(tmp_path, monkeypatch):
    package = tmp_path / "sportsuite"
    (package / "_assets" / "characters").mkdir(parents=True)
    (package / "_assets" / "characters" / "x.usda").write_text("x")
    monkeypatch.setattr(assets, "__file__", str(package / "assets.py"))
    assert assets.asset_path("characters/x.usda") == package / "_assets" / "characters" / "x.usda"


def test_missing_folder_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "__file__", str(tmp_path / "sportsuite" / "assets.py"))
    with pytest.raises(FileNotFoundError, match="reinstall"):
        assets.asset_path("characters/x.usda")


def test_manifest_lists_every_file_with_its_hash():
    root = assets.assets_root()
    manifest = assets.read_manifest(root)
    assert sorted(manifest) == assets.asset_names(root)
    for name, record in manifest.items():
        assert record.sha256 == assets.file_sha256(root / name), name
        assert record.licence and record.origin


def test_rebuilding_gives_the_shipped_bytes(tmp_path):
    names = build_assets().build(tmp_path)
    shipped = assets.read_manifest(assets.assets_root())
    assert len(names) >= 4
    for name in names:
        assert assets.file_sha256(tmp_path / name) == shipped[name].sha256, name
    assert sorted(assets.read_manifest(tmp_path)) == sorted(names)


def test_recording_keeps_other_entries_and_drops_lost_files(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    assets.record_assets(tmp_path, {"a.txt": ("ours", "MIT"), "b.txt": ("ours", "MIT")})
    (tmp_path / "a.txt").unlink()
    (tmp_path / "c.txt").write_text("c")
    assets.record_assets(tmp_path, {"c.txt": ("theirs", "BSD-3-Clause")})
    manifest = assets.read_manifest(tmp_path)
    assert sorted(manifest) == ["b.txt", "c.txt"]
    assert manifest["c.txt"] == assets.AssetRecord("theirs", "BSD-3-Clause", assets.file_sha256(tmp_path / "c.txt"))


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    assets.write_text_atomic(path, "old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(assets.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        assets.write_text_atomic(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]
