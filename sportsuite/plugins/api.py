"""Everything a sport says about itself: the one file a plugin's author has to know.

A distribution offers a sport under the entry-point group ``sportsuite.sports``; the value names a :class:`SportPlugin`
or a function without arguments that returns one. All references are strings of the form ``"module:attribute"``, so that
declaring a sport imports neither torch nor a simulator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sportsuite.errors import nearest
from sportsuite.plugins.errors import PluginError

__all__ = [
    "AGENT_SIZES",
    "API_VERSION",
    "ENTRY_POINT_GROUP",
    "OLDEST_API_VERSION",
    "TERM_KINDS",
    "SportPlugin",
    "TaskSpec",
]

API_VERSION = 1
"""Version of this file's contract. It grows when a field is added or changes its meaning."""

OLDEST_API_VERSION = 1
"""Plugins that were written for this version or a later one, up to :data:`API_VERSION`, still load."""

ENTRY_POINT_GROUP = "sportsuite.sports"
"""Entry-point group that distributions offer their sports in. The entry point is called like the sport."""

TERM_KINDS = ("observations", "rewards", "terminations", "events", "commands")
"""The kinds of manager terms a sport can offer to others."""

AGENT_SIZES = ("smoke", "cpu", "gpu")
"""Agent configurations that a trainable task has: a run of seconds for tests, one for a laptop, one for a GPU."""

_RESERVED_NAMES = frozenset({"sportsuite"})
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TASK_ID = re.compile(r"[A-Za-z]\w*(-\w+)*-v\d+")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_REFERENCE = re.compile(rf"{_MODULE.pattern}:[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """One task of a sport: what Gymnasium, the trainer and the evaluation need to find it.

    Raises:
        PluginError: If a field is malformed; the text names the task, the field and what was expected.
    """

    id: str
    """Gymnasium id with a version, such as ``"SportSuite-Trap-v0"``."""

    env_cfg: str
    """``"module:attribute"`` of the env cfg class, or of a function that builds a fresh cfg."""

    description: str
    """One line for ``sportsuite list``."""

    agent_cfgs: Mapping[str, str] = field(default_factory=dict)
    """``"module:attribute"`` of the rsl_rl runner cfg by name; :data:`AGENT_SIZES` and, if wanted, further variants.

    Empty for a task that is not trained, such as one that only plays skills.
    """

    default_size: str = "cpu"
    """The entry of :attr:`agent_cfgs` that is used when none is asked for."""

    evaluation: str | None = None
    """``"module:attribute"`` of the evaluation protocol."""

    policy: str | None = None
    """Shipped policy: a path ending in ``.pt``, relative to the folder of the package that declares the plugin.

    The policies of sportsuite's own sports lie in its asset folder instead. A card ``NAME.card.json`` beside
    ``NAME.pt`` tells how the policy came to be.
    """

    def __post_init__(self) -> None:
        """Check every field and freeze the mapping."""
        object.__setattr__(self, "agent_cfgs", MappingProxyType(dict(self.agent_cfgs)))
        _require(
            _matches(_TASK_ID, self.id),
            f"task id {self.id!r}: expected words, '-' and a version, as in 'Sport-Task-v0'",
        )
        _check_reference(f"task {self.id}: env_cfg", self.env_cfg)
        _check_line(f"task {self.id}: description", self.description)
        for size, reference in self.agent_cfgs.items():
            _require(
                _matches(_NAME, size),
                f"task {self.id}: agent cfg name {size!r}: expected lower case letters, digits, '_'",
            )
            _check_reference(f"task {self.id}: agent_cfgs[{size!r}]", reference)
        _check_default_size(self)
        if self.evaluation is not None:
            _check_reference(f"task {self.id}: evaluation", self.evaluation)
        if self.policy is not None:
            _require(
                _is_policy_path(self.policy),
                f"task {self.id}: policy {self.policy!r}: expected a relative path to a .pt file",
            )


@dataclass(frozen=True, kw_only=True)
class SportPlugin:
    """A sport: its tasks and the modules with the terms it offers to others.

    Raises:
        PluginError: If a field is malformed; the text names the sport, the field and what was expected.
    """

    name: str
    """Short name, equal to the name of the entry point; prefixes the terms, as in ``football:ball_velocity_match``."""

    api_version: int
    """The :data:`API_VERSION` that the plugin was written for, as a literal number."""

    description: str
    """One line for ``sportsuite list``."""

    tasks: tuple[TaskSpec, ...] = ()
    """The tasks; none for a sport that only offers terms."""

    terms: Mapping[str, str] = field(default_factory=dict)
    """Module by kind of term, of :data:`TERM_KINDS`."""

    def __post_init__(self) -> None:
        """Check every field and freeze the containers."""
        object.__setattr__(self, "tasks", tuple(self.tasks))
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))
        _require(_matches(_NAME, self.name), f"sport name {self.name!r}: expected lower case letters, digits and '_'")
        _require(self.name not in _RESERVED_NAMES, f"sport name {self.name!r} is reserved")
        _require(
            type(self.api_version) is int, f"sport {self.name}: api_version {self.api_version!r}: expected an integer"
        )
        _check_line(f"sport {self.name}: description", self.description)
        _check_tasks(self)
        for kind, module in self.terms.items():
            _require(kind in TERM_KINDS, f"sport {self.name}: kind of terms {kind!r}: {_expected(kind, TERM_KINDS)}")
            _require(
                _matches(_MODULE, module), f"sport {self.name}: terms[{kind!r}] = {module!r}: expected a module name"
            )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise PluginError(message)


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _check_reference(what: str, value: object) -> None:
    _require(_matches(_REFERENCE, value), f"{what} = {value!r}: expected 'package.module:attribute'")


def _check_line(what: str, value: object) -> None:
    _require(
        isinstance(value, str) and bool(value.strip()) and "\n" not in value, f"{what} = {value!r}: expected one line"
    )


def _check_default_size(task: TaskSpec) -> None:
    if not task.agent_cfgs:
        return
    hint = _expected(task.default_size, tuple(task.agent_cfgs))
    wrong = f"task {task.id}: default_size {task.default_size!r} is no entry of agent_cfgs: {hint}"
    _require(task.default_size in task.agent_cfgs, wrong)


def _check_tasks(plugin: SportPlugin) -> None:
    seen: set[str] = set()
    for task in plugin.tasks:
        _require(isinstance(task, TaskSpec), f"sport {plugin.name}: task {task!r}: expected a TaskSpec")
        _require(task.id not in seen, f"sport {plugin.name}: task id {task.id} is declared twice")
        seen.add(task.id)


def _is_policy_path(value: object) -> bool:
    return (
        isinstance(value, str) and value.endswith(".pt") and not value.startswith("/") and ".." not in value.split("/")
    )


def _expected(value: object, known: tuple[str, ...]) -> str:
    near = nearest(str(value), known, count=1)
    return f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
