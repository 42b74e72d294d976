"""Checkpoints as files: which there are and whether they are whole. Needs no torch, so that a command can say at once
what is wrong with a path.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sportsuite.errors import BadInputError

__all__ = ["check_file", "check_path", "checkpoints", "latest_run"]

_NAME = re.compile(r"model_(\d+)\.pt")


def check_path(path: Path, folder: bool = False) -> None:
    """Refuse what is neither a checkpoint file nor a run folder with some.

    Args:
        path: File or folder.
        folder: Whether only a folder will do.

    Raises:
        BadInputError: Says what is wrong.
    """
    if not (folder or path.is_dir()):
        check_file(path)
    elif not checkpoints(path):
        raise BadInputError(f"run folder {path}: it holds no model_<iteration>.pt")


def checkpoints(run_dir: str | Path) -> list[Path]:
    """List a run's ``model_<iteration>.pt`` files, newest iteration first."""
    names = ((_NAME.fullmatch(path.name), path) for path in Path(run_dir).glob("model_*.pt"))
    found = [(int(match[1]), path) for match, path in names if match]
    return [path for _, path in sorted(found, reverse=True)]


def latest_run(log_root: str | Path, task_id: str) -> Path:
    """Return the newest run of a task below a folder that has a checkpoint, by the manifests that training writes.

    Raises:
        BadInputError: If there is none.
    """
    runs = [(created, run_dir) for created, run_dir in _runs(Path(log_root), task_id) if checkpoints(run_dir)]
    if not runs:
        raise BadInputError(f"no run of {task_id} with a checkpoint below {log_root}")
    return max(runs)[1]


def check_file(path: Path) -> None:
    """Refuse what can't be a whole checkpoint. torch itself doesn't compare the checksums in the archive.

    Raises:
        BadInputError: If there is no such file, or it is cut off or damaged.
    """
    if not path.is_file():
        beside = checkpoints(path if path.is_dir() else path.parent)
        hint = f"; the newest there is {beside[0]}" if beside else ""
        raise BadInputError(f"checkpoint {path}: {'this is a folder' if path.is_dir() else 'no such file'}{hint}")
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        size = path.stat().st_size
        raise BadInputError(f"checkpoint {path}: not a whole checkpoint file ({size:,} bytes)") from error
    if damaged is not None:
        raise BadInputError(f"checkpoint {path}: damaged, the checksum of {damaged} is wrong")


def _runs(log_root: Path, task_id: str) -> Iterator[tuple[str, Path]]:
    for manifest in log_root.glob("*/*/run.json"):
        try:
            content = json.loads(manifest.read_text(encoding="utf-8"))
            if content["task"] == task_id:
                yield content["created_at"], manifest.parent
        except (OSError, ValueError, KeyError, TypeError):
            continue
