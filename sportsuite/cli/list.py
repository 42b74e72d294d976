"""List the installed sports, their tasks and what is wrong with plugins.

Exit code 0 even where a plugin failed: the others work.
"""

from __future__ import annotations

import argparse

from sportsuite.cli import _output
from sportsuite.plugins.api import TERM_KINDS
from sportsuite.plugins.errors import PluginError
from sportsuite.plugins.manager import Inventory, Origin, inventory
from sportsuite.plugins.terms import Term, list_terms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--terms", action="store_true", help="list the manager terms that sports offer to each other")
    parser.add_argument("--sport", metavar="NAME", help="with --terms: only this sport's ('sportsuite': of no sport)")
    parser.add_argument("--kind", metavar="KIND", help=f"with --terms: only {', '.join(TERM_KINDS)}")
    _output.add_json_option(parser)


def run(args: argparse.Namespace) -> None:
    """List tasks or terms."""
    if (args.sport or args.kind) and not args.terms:
        _output.bad_input("list: --sport and --kind belong to --terms")
    found = inventory()
    terms, unread = list_terms(args.sport, args.kind) if args.terms else ([], [])
    if args.json:
        _output.print_json(_document(found, terms if args.terms else None, unread))
    elif args.terms:
        _output.print_rows(("TERM", "KIND", "WHAT"), [(term.name, term.kind, term.summary) for term in terms])
        _print_problems(found, unread)
    else:
        _print_tasks(found)
        _print_problems(found, [])


def _print_tasks(found: Inventory) -> None:
    rows = [
        (task.spec.id, task.sport, task.origin.distribution, task.spec.description) for task in found.tasks.values()
    ]
    _output.print_rows(("TASK", "SPORT", "FROM", "WHAT"), rows)
    for name, loaded in found.plugins.items():
        if not loaded.plugin.tasks:
            _output.write_line(f"{name} ({loaded.origin.distribution}) has no tasks: {loaded.plugin.description}")
    if not (found.plugins or found.failures or found.switched_off):
        _output.write_line(
            "no sport is installed: not even sportsuite's own; install the package, e.g. with 'make setup'"
        )


def _print_problems(found: Inventory, unread: list[PluginError]) -> None:
    for failure in found.failures:
        _output.write_line(f"FAILED: sport {failure.origin} is disabled: {failure.cause}")
    for error in unread:
        _output.write_line(f"FAILED: {error}")
    for origin in found.switched_off:
        _output.write_line(f"off: sport {origin} is switched off by the environment")


def _document(found: Inventory, terms: list[Term] | None, unread: list[PluginError]) -> dict[str, object]:
    document: dict[str, object] = {
        "sports": [
            {"name": name, "description": loaded.plugin.description, **_from(loaded.origin)}
            for name, loaded in found.plugins.items()
        ],
        "tasks": [
            {"id": task.spec.id, "sport": task.sport, "description": task.spec.description, **_from(task.origin)}
            for task in found.tasks.values()
        ],
        "failures": [
            {"name": failure.origin.name, "cause": failure.cause, "tasks": failure.task_ids, **_from(failure.origin)}
            for failure in found.failures
        ],
        "switched_off": [{"name": origin.name, **_from(origin)} for origin in found.switched_off],
    }
    if terms is not None:
        document["terms"] = [vars(term) for term in terms]
        document["unreadable_modules"] = [str(error) for error in unread]
    return document


def _from(origin: Origin) -> dict[str, object]:
    return {"distribution": origin.distribution, "version": origin.version, "entry_point": origin.value}
