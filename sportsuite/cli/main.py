"""The command ``sportsuite``: finds the verb, reads its arguments, runs it and turns errors into exit codes.

A verb is a module of this folder. ``sportsuite new-plugin`` is ``new_plugin.py``; adding a file adds a verb. It has:

* a docstring, whose first line is the verb's help. It is read from the source, so that ``sportsuite --help`` and other
  verbs don't import it;
* ``add_arguments(parser: argparse.ArgumentParser) -> None``, which must not import anything heavy;
* ``run(args: argparse.Namespace) -> int | None``, which does the work and imports what it needs. None counts as 0;
* if it hands arguments on to another program, ``PASS_UNKNOWN = True``: what the parser doesn't know is then in
  ``args.rest``, a list in the order given.

Modules whose name starts with ``_`` are helpers. ``nargs="*"`` for overrides such as ``env.rewards.track.weight=2`` may
be mixed with options freely. A verb with verbs of its own (``motion import``) uses ``parser.add_subparsers``.

Exit codes: 0 done; 2 bad input (:class:`~sportsuite.errors.BadInputError`: one line on stderr); 1 a fault of ours or of
a plugin. ``--debug`` or ``SPORTSUITE_DEBUG=1`` shows the traceback and debug messages.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import logging
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import sportsuite
from sportsuite.errors import BadInputError, SportSuiteError, nearest, unknown_name
from sportsuite.plugins.manager import inventory

__all__ = ["main", "verbs"]

_DONE, _FAULT, _BAD_INPUT = 0, 1, 2
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_DEBUG_VARIABLE = "SPORTSUITE_DEBUG"
_LOG = logging.getLogger(__name__)


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments without the program's name; those of the process if None.

    Returns:
        The exit code.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    debug = "--debug" in argv or os.environ.get(_DEBUG_VARIABLE, "0") not in ("", "0")
    argv = [argument for argument in argv if argument != "--debug"]
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG if debug else logging.WARNING, format="%(message)s")
    try:
        for failure in inventory().failures:
            # logged before the level was known: importing the package has already loaded the plugins
            _LOG.debug("sport %s failed here:\n%s", failure.origin, failure.details)
        return _dispatch(argv)
    except BadInputError as error:
        return _complain(str(error), _BAD_INPUT, debug)
    except SportSuiteError as error:
        return _complain(str(error), _FAULT, debug)
    except BrokenPipeError:
        # the reader (head, less) has closed; keep the interpreter from complaining while it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _DONE
    except KeyboardInterrupt:
        return _complain("interrupted", _INTERRUPTED, debug)
    except Exception as error:
        text = " ".join(str(error).split())
        hint = "" if debug else f" (a fault in sportsuite or below; {_DEBUG_VARIABLE}=1 or --debug shows where)"
        return _complain(f"{type(error).__name__}: {text}{hint}", _FAULT, debug)


def verbs() -> dict[str, Path]:
    """Return the verbs in alphabetical order with their files."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"))
    return {path.stem.replace("_", "-"): path for path in files if path.stem != "main"}


def _dispatch(argv: list[str]) -> int:
    known = verbs()
    if not argv or argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(_overview(known))
        return _DONE
    if argv[0] == "--version":
        sys.stdout.write(f"sportsuite {sportsuite.__version__}\n")
        return _DONE
    verb, *rest = argv
    if verb not in known:
        raise unknown_name(
            "option" if verb.startswith("-") else "command", verb, [*known, "--help", "--version", "--debug"]
        )
    module = importlib.import_module(f"sportsuite.cli.{known[verb].stem}")
    result = module.run(_parse(verb, module, rest))
    sys.stdout.flush()
    return _DONE if result is None else result


def _overview(known: dict[str, Path]) -> str:
    width = max(map(len, known))
    lines = [f"  {verb:<{width}}  {_help_line(path)}" for verb, path in known.items()]
    head = ["usage: sportsuite COMMAND [ARGUMENTS] [--debug]", "", "commands:"]
    return "\n".join([*head, *lines, "", "'sportsuite COMMAND --help' tells what a command takes."]) + "\n"


def _help_line(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line with the nearest valid name."""

    def error(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("sportsuite ")
        raise BadInputError(f"{verb}: {_with_nearest_option(message, list(self._option_string_actions))}")


def _parse(verb: str, module: ModuleType, arguments: list[str]) -> argparse.Namespace:
    # no abbreviations: a script that uses one would break when an option is added
    parser = _Parser(
        prog=f"sportsuite {verb}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    has_verbs = any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)
    if has_verbs:
        return parser.parse_args(arguments)
    args, rest = parser.parse_known_intermixed_args(arguments)
    if rest and not getattr(module, "PASS_UNKNOWN", False):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    args.rest = rest
    return args


def _with_nearest_option(message: str, options: list[str]) -> str:
    wrong = re.search(r"unrecognized arguments: (-[^\s=]+)", message)
    near = nearest(wrong[1], options, count=1) if wrong else []
    return f"{message}; did you mean {near[0]}?" if near else message


def _complain(message: str, code: int, debug: bool) -> int:
    if debug and code != _INTERRUPTED:
        traceback.print_exc()
    sys.stderr.write(f"sportsuite: {message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
