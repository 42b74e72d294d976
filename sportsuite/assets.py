"""Files that ship with sportsuite: characters, equipment, motions and policies.

In a checkout they lie in the top-level ``assets`` folder; a wheel carries the same folder as ``sportsuite/_assets``.
``manifest.yaml`` in it names the origin, the licence and the SHA-256 of every other file.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from sportsuite.errors import BadInputError, nearest

MANIFEST_NAME = "manifest.yaml"


class AssetNotFoundError(BadInputError, FileNotFoundError):
    """A file that is not among the shipped ones was asked for."""


@dataclass(frozen=True)
class AssetRecord:
    """One line of the manifest: where a file comes from, its SPDX licence id and its SHA-256 in hex digits."""

    origin: str
    licence: str
    sha256: str


def assets_root() -> Path:
    """Folder that holds the shipped files, in a wheel or in a checkout.

    Raises:
        AssetNotFoundError: If neither place exists.
    """
    package = Path(__file__).resolve().parent
    for root in (package / "_assets", package.parent / "assets"):
        if root.is_dir():
            return root
    raise AssetNotFoundError("sportsuite's asset folder is missing: reinstall sportsuite, or run from a full checkout")


def asset_path(name: str) -> Path:
    """Absolute path of a shipped file.

    Args:
        name: Path below the asset folder with forward slashes, e.g. ``"characters/humanoid28_football_boot.usda"``.

    Raises:
        AssetNotFoundError: If there is no such file; it is both a ``FileNotFoundError`` and a ``BadInputError``, and
            names the nearest files.
    """
    root = assets_root()
    path = root / name
    if path.is_file() and path.resolve().is_relative_to(root.resolve()):
        return path
    near = nearest(name, asset_names(root))
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"nothing near it in {root.name}/"
    raise AssetNotFoundError(f"unknown asset file {name!r}: {hint}")


def asset_names(root: Path) -> list[str]:
    """Names of all files below ``root`` except the manifest, sorted, with forward slashes."""
    files = (path for path in root.rglob("*") if path.is_file())
    return sorted(name for path in files if (name := path.relative_to(root).as_posix()) != MANIFEST_NAME)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_manifest(root: Path) -> dict[str, AssetRecord]:
    """Manifest of an asset folder, by file name; empty if the folder has none."""
    path = root / MANIFEST_NAME
    if not path.is_file():
        return {}
    entries = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return {name: AssetRecord(**entry) for name, entry in entries.items()}


def record_assets(root: Path, sources: Mapping[str, tuple[str, str]]) -> None:
    """Add files to an asset folder's manifest, or refresh their hashes; other entries stay as they are.

    Entries of files that no longer exist are dropped.

    Args:
        root: Asset folder.
        sources: For each file name below ``root`` its origin and its SPDX licence id.
    """
    manifest = {name: record for name, record in read_manifest(root).items() if (root / name).is_file()}
    for name, (origin, licence) in sources.items():
        manifest[name] = AssetRecord(origin, licence, file_sha256(root / name))
    entries = {name: vars(manifest[name]) for name in sorted(manifest)}
    text = yaml.safe_dump(entries, sort_keys=True, allow_unicode=True, width=120)
    write_text_atomic(root / MANIFEST_NAME, text)


def write_text_atomic(path: Path, text: str) -> None:
    """Write a UTF-8 text file so that readers see either the old or the new content, never a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
