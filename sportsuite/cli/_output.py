"""What the verbs share: where results go, and how tables and JSON look.

Results go to stdout; everything about how they came to be goes to stderr through logging. With ``--json``, stdout holds
one JSON document and nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sportsuite.errors import BadInputError

__all__ = ["add_json_option", "bad_input", "print_json", "print_rows", "write_line"]


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json`` to a verb; its ``run`` reads ``args.json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def bad_input(message: str) -> NoReturn:
    """End the command with exit code 2 and one line on stderr.

    Args:
        message: Names the thing, the value, what was expected and the nearest valid one.

    Raises:
        BadInputError: Always; :func:`sportsuite.cli.main.main` turns it into the exit code.
    """
    raise BadInputError(message)


def write_line(text: str = "") -> None:
    """Write a line of results to stdout."""
    sys.stdout.write(text + "\n")


def print_json(document: Any) -> None:
    """Write one JSON document to stdout.

    Args:
        document: Mappings, sequences, numbers, strings, None and paths. Not a number and infinity become null, since
            JSON has neither.
    """
    write_line(json.dumps(_plain(document), indent=2, allow_nan=False))


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None) -> None:
    """Write a table to stdout: aligned and folded to the width of a terminal, tab-separated when piped.

    Args:
        columns: Heads.
        rows: One sequence of cells per row; None becomes ``-``.
        title: Heading above the table.
    """
    cells = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_table(columns, cells, title)
        return
    for row in [columns, *cells]:
        write_line("\t".join(" ".join(cell.split()) for cell in row))


def _print_table(columns: Sequence[str], cells: list[list[str]], title: str | None) -> None:
    # rich costs a tenth of a second, which a piped command doesn't need to pay
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in cells:
        # plain text: square brackets in units must not be taken for markup
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _plain(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return str(value) if isinstance(value, Path) else value
