"""Runs commands one after the other and remembers which are done, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sportsuite.assets import write_text_atomic
from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.learning.training import sigterm_as_interrupt

__all__ = ["Stage", "read_stages", "run_stages", "sportsuite_command"]

_DONE, _RUNNING = "done", "running"


def _nothing() -> tuple[str, ...]:
    return ()


def _unknown() -> bool:
    return False


@dataclass(frozen=True)
class Stage:
    """One command."""

    name: str
    command: tuple[str, ...]
    output: Path
    """File or folder that it makes; a stage counts as done only while this exists."""
    resume: Callable[[], tuple[str, ...]] = field(default=_nothing, compare=False)
    """Further arguments, asked for when the stage begins: how to go on from what an earlier attempt left."""
    finished: Callable[[], bool] = field(default=_unknown, compare=False)
    """Whether an earlier attempt came to its end, though it was killed before that was noted."""


def sportsuite_command(*arguments: str) -> tuple[str, ...]:
    """Return the command that runs ``sportsuite`` with this interpreter."""
    return (sys.executable, "-m", "sportsuite.cli.main", *arguments)


def run_stages(
    stages: Sequence[Stage],
    file: Path,
    start: Callable[[Sequence[str]], int] | None = None,
    notify: Callable[[str], None] = lambda text: None,
) -> None:
    """Run what isn't done yet, in order.

    Args:
        stages: The stages, with different names.
        file: JSON file that remembers them; it is written in one step after every change.
        start: Runs a command and returns its exit code; by default as a process, which is ended with this one.
        notify: Told what happens, in a line each.

    Raises:
        BadInputError: If the file can't be read, or a stage was done with another command.
        SportSuiteError: If a command fails; the stages before it stay done.
    """
    record = read_stages(file)
    for stage in stages:
        known = record.get(stage.name, {})
        if known.get("status") == _DONE and stage.output.exists():
            _check_same(stage, known, file)
            notify(f"{stage.name}: done")
            continue
        record[stage.name] = _attempt(stage, known, file, record, start or _run, notify)
        _write(file, record)


def read_stages(file: Path) -> dict[str, dict[str, Any]]:
    """Read what is remembered; empty if there is no file.

    Raises:
        BadInputError: If it isn't a file of stages.
    """
    if not file.exists():
        return {}
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(f"stages {file}: can't be read ({error})") from None
    if not isinstance(record, dict) or not all(isinstance(entry, dict) for entry in record.values()):
        raise BadInputError(f"stages {file}: expected an object with an entry per stage")
    return record


def _attempt(
    stage: Stage,
    known: dict[str, Any],
    file: Path,
    record: dict[str, dict[str, Any]],
    start: Callable[[Sequence[str]], int],
    notify: Callable[[str], None],
) -> dict[str, Any]:
    """Run a stage and return what is to be remembered of it."""
    entry = {"status": _RUNNING, "command": list(stage.command[1:]), "started": _now()}
    if known.get("status") == _RUNNING and known.get("command") == entry["command"] and stage.finished():
        notify(f"{stage.name}: had come to its end")
        return known | {"status": _DONE}
    command = (*stage.command, *stage.resume())
    record[stage.name] = entry
    _write(file, record)
    notify(f"{stage.name}: {' '.join(command[1:])}")
    begin = time.monotonic()
    code = start(command)
    if code != 0:
        raise SportSuiteError(f"stage {stage.name} ended with exit code {code}; the same command goes on from here")
    return entry | {"status": _DONE, "finished": _now(), "seconds": round(time.monotonic() - begin, 1)}


def _check_same(stage: Stage, known: dict[str, Any], file: Path) -> None:
    # the interpreter may have moved
    before, now = known.get("command", []), list(stage.command[1:])
    if before != now:
        changed = [text for text in now if text not in before] or [text for text in before if text not in now]
        raise BadInputError(
            f"stage {stage.name} was done with another command ({' '.join(changed[:4])} differs): use another folder, "
            f"or take its entry out of {file}"
        )


def _write(file: Path, record: dict[str, Any]) -> None:
    write_text_atomic(file, json.dumps(record, indent=2) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _run(command: Sequence[str]) -> int:
    with sigterm_as_interrupt(), subprocess.Popen(command) as process:
        try:
            return process.wait()
        except BaseException:
            # a training ends with a checkpoint when it is asked to stop; a second signal would be lost on it
            if process.poll() is None:
                process.terminate()
            process.wait()
            raise
