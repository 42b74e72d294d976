"""What a training run writes while it goes: TensorBoard events and one JSON line per iteration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rsl_rl.utils.log_writer import LogWriter

__all__ = ["METRICS_NAME", "RunLogWriter", "read_metrics", "writer_cfg"]

METRICS_NAME = "metrics.jsonl"
"""File in a run's folder: one JSON object per iteration, scalars by tag, the iteration under ``"iteration"``."""

_TIME_SUFFIX = "/time"
"""Tags that rsl_rl logs a second time against wall seconds instead of iterations."""


def writer_cfg(logger: str | dict[str, Any]) -> str | dict[str, Any]:
    """Return the runner's logger config, with our writer where the plain TensorBoard one was asked for."""
    if logger == "tensorboard":
        return {"class_name": f"{RunLogWriter.__module__}:{RunLogWriter.__name__}"}
    return logger


class RunLogWriter(LogWriter):
    """Writes TensorBoard events and ``metrics.jsonl``.

    Args:
        log_dir: The run's folder.
    """

    def __init__(self, log_dir: str) -> None:
        from torch.utils.tensorboard import SummaryWriter  # takes a second to import, and only runs that log need it

        self._events = SummaryWriter(log_dir=log_dir, flush_secs=10)
        self._path = Path(log_dir) / METRICS_NAME
        self._row: dict[str, float] = {}
        self._iteration: int | None = None

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Record one scalar.

        Args:
            tag: Name, such as ``"Loss/value"``.
            scalar_value: Number or tensor with one element.
            global_step: The iteration, or seconds for the tags that end in ``"/time"``.
        """
        value = float(scalar_value)
        self._events.add_scalar(tag, value, global_step)
        if tag.endswith(_TIME_SUFFIX):
            return
        if global_step != self._iteration:
            self.flush_row()
            self._iteration = global_step
        self._row[tag] = value

    def flush_row(self) -> dict[str, float]:
        """Append the current iteration's scalars to the file, if there are any.

        Returns:
            The scalars by tag.
        """
        row, self._row = self._row, {}
        if row:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"iteration": self._iteration, **row}) + "\n")
        return row

    def save_model(self, model_path: str, it: int) -> None:
        """Bring the logs up to date with a checkpoint that was just written."""
        self.flush_row()
        self._events.flush()

    def stop(self) -> None:
        """Write what is left and close the files."""
        self.flush_row()
        self._events.close()


def read_metrics(run_dir: str | Path) -> list[dict[str, float]]:
    """Read a run's rows; of iterations that a resumed run repeated, the last.

    Args:
        run_dir: The run's folder.

    Returns:
        Rows in the order of their iterations; empty if there is no file. A last line that was cut off is left out.
    """
    path = Path(run_dir) / METRICS_NAME
    rows: dict[float, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        rows[row["iteration"]] = row
    return [rows[iteration] for iteration in sorted(rows)]
