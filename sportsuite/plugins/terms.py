"""The manager terms that sports offer to each other, by names like ``football:ball_velocity_match``.

Listing reads the modules' source text: neither torch nor a simulator is loaded for it. Only :func:`resolve_term`
imports, and only the module of the term that is asked for.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.plugins.api import TERM_KINDS
from sportsuite.plugins.errors import PluginError
from sportsuite.plugins.manager import find_sport, inventory

__all__ = ["NEUTRAL", "Term", "list_terms", "module_file", "resolve_term"]

NEUTRAL = "sportsuite"
"""Prefix of the terms that belong to no sport, from ``sportsuite.mdp``."""

_NEUTRAL_MODULES = {kind: f"sportsuite.mdp.{kind}" for kind in TERM_KINDS}
_TERM_BASES = ("ManagerTermBase", "CommandTerm")


@dataclass(frozen=True)
class Term:
    """A function or class that can be the ``func`` (or, for commands, the ``class_type``) of a manager term."""

    name: str
    """``"sport:attribute"``."""
    kind: str
    """One of :data:`~sportsuite.plugins.api.TERM_KINDS`."""
    module: str
    attribute: str
    summary: str
    """First line of its docstring."""
    line: int
    """Line of its definition."""


def list_terms(sport: str | None = None, kind: str | None = None) -> tuple[list[Term], list[PluginError]]:
    """List the terms that sports offer.

    Args:
        sport: Only those of this sport, or :data:`NEUTRAL`; all if None.
        kind: Only those of this kind; all if None.

    Returns:
        The terms, by sport, kind and position in the file, and one error for each module that can't be read.

    Raises:
        BadInputError: If there is no such sport or kind.
        PluginError: If that sport is disabled because it failed.
    """
    if kind is not None and kind not in TERM_KINDS:
        raise unknown_name("kind of terms", kind, TERM_KINDS)
    terms: list[Term] = []
    failures: list[PluginError] = []
    for owner in [NEUTRAL, *inventory().plugins] if sport is None else [sport]:
        for module_kind, module in _modules(owner).items():
            if kind in (None, module_kind):
                try:
                    terms += _read(owner, module_kind, module)
                except PluginError as error:
                    failures.append(error)
    return terms, failures


def resolve_term(name: str, kind: str | None = None) -> Callable:
    """Import the term of a name.

    Args:
        name: ``"sport:attribute"``, such as ``"football:ball_velocity_match"``.
        kind: The kind it has to be of; only needed where a sport uses the same name in two kinds.

    Returns:
        The function or class.

    Raises:
        BadInputError: If the name is malformed, unknown or found in several kinds; the text gives the nearest names.
        PluginError: If the sport or the module can't be loaded; the text gives the cause.
    """
    sport, colon, attribute = name.partition(":")
    if not (sport and colon and attribute):
        raise BadInputError(f"term {name!r}: expected 'sport:term', such as 'football:ball_velocity_match'")
    terms, failures = list_terms(sport, kind)
    found = [term for term in terms if term.attribute == attribute]
    if not found:
        if failures:
            raise PluginError(
                f"term {name!r} not found; a module of the sport can't be read: {failures[0]}"
            ) from failures[0]
        raise unknown_name("term" if kind is None else f"term of {kind}", name, (term.name for term in terms))
    if len(found) > 1:
        raise BadInputError(f"term {name!r} is among {' and '.join(term.kind for term in found)}: say which kind")
    return _import(found[0])


def module_file(module: str) -> Path:
    """Find a module's file; imports the packages above it, not the module.

    Args:
        module: Dotted name.

    Returns:
        The path of its source file.

    Raises:
        PluginError: If there is no such module or it has no Python source.
    """
    try:
        found = importlib.util.find_spec(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"module {module}: {type(error).__name__}: {error}") from error
    if found is None:
        raise PluginError(f"module {module}: not found")
    if found.origin is None or not found.origin.endswith(".py"):
        raise PluginError(f"module {module}: has no Python source file")
    return Path(found.origin)


def _modules(sport: str) -> Mapping[str, str]:
    if sport != NEUTRAL:
        return find_sport(sport).plugin.terms
    return {kind: module for kind, module in _NEUTRAL_MODULES.items() if importlib.util.find_spec(module) is not None}


def _read(sport: str, kind: str, module: str) -> list[Term]:
    path = module_file(module)
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise PluginError(f"{kind} of sport {sport}: module {module}: {type(error).__name__}: {error}") from error
    return [
        Term(f"{sport}:{node.name}", kind, module, node.name, _summary(node), node.lineno)
        for node in _definitions(tree.body)
    ]


def _definitions(body: Iterable[ast.stmt]) -> list[ast.FunctionDef | ast.ClassDef]:
    """Pick the public terms among a module's definitions: functions of an env, classes that managers instantiate."""
    found: list[ast.FunctionDef | ast.ClassDef] = []
    term_bases: set[str] = set(_TERM_BASES)
    for node in body:
        if isinstance(node, ast.FunctionDef) and _takes_env(node):
            found.append(node)
        elif isinstance(node, ast.ClassDef) and any(_is_term_base(_last_name(base), term_bases) for base in node.bases):
            term_bases.add(node.name)
            found.append(node)
    return [node for node in found if not node.name.startswith("_")]


def _is_term_base(name: str, known: set[str]) -> bool:
    # a command's base may be defined in a module beside this one
    return name in known or name.endswith("Command")


def _takes_env(node: ast.FunctionDef) -> bool:
    """Tell a term from the pure helpers beside it: managers call terms with the env first."""
    first = [*node.args.posonlyargs, *node.args.args][:1]
    return bool(first) and first[0].arg == "env"


def _last_name(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


def _summary(node: ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0].strip()


def _import(term: Term) -> Callable:
    try:
        return getattr(importlib.import_module(term.module), term.attribute)
    except (Exception, SystemExit) as error:
        raise PluginError(f"term {term.name}: {term.module}: {type(error).__name__}: {error}") from error
