"""Finds the installed sports, loads their declarations and registers their tasks with Gymnasium.

Loading is guarded and loud: a plugin that fails is recorded with its distribution, entry point and cause, logged in one
line and left out; the others work. Asking for one of its tasks raises that cause. Our own sports come through the same
door, only earlier: of two plugins that clash, the one of the distribution that sorts later is left out.

Two environment variables choose among the installed sports by name, separated by commas:
``SPORTSUITE_PLUGINS`` (only these) and ``SPORTSUITE_DISABLE_PLUGINS`` (all but these).
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import logging
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gymnasium.envs import registration

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.plugins.api import API_VERSION, ENTRY_POINT_GROUP, OLDEST_API_VERSION, SportPlugin, TaskSpec
from sportsuite.plugins.errors import PluginError

__all__ = [
    "DISABLE_VARIABLE",
    "ONLY_VARIABLE",
    "Inventory",
    "LoadedPlugin",
    "Origin",
    "PluginFailure",
    "Task",
    "find_sport",
    "find_task",
    "inventory",
    "policy_path",
    "register_all",
]

ONLY_VARIABLE = "SPORTSUITE_PLUGINS"
"""Environment variable: load only the sports named in it."""

DISABLE_VARIABLE = "SPORTSUITE_DISABLE_PLUGINS"
"""Environment variable: load all sports but those named in it."""

_ENV_ENTRY_POINT = "sportsuite.envs.make_env:make_env"
_OWN_DISTRIBUTION = "sportsuite"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from."""

    distribution: str
    version: str
    name: str
    """Name of the entry point, which is the sport's."""
    value: str
    """Value of the entry point, ``"module:attribute"``."""

    def __str__(self) -> str:
        return f"{self.name!r} of {self.distribution} {self.version} ({self.value})"

    @property
    def module(self) -> str:
        """The module that the entry point names."""
        return self.value.partition(":")[0].strip()


@dataclass(frozen=True)
class LoadedPlugin:
    """A plugin that works."""

    plugin: SportPlugin
    origin: Origin


@dataclass(frozen=True)
class PluginFailure:
    """A plugin that was left out."""

    origin: Origin
    cause: str
    """One line."""
    details: str
    """The traceback."""
    task_ids: tuple[str, ...] = ()
    """Ids of its tasks; empty where it failed before they were known."""


@dataclass(frozen=True)
class Task:
    """A registered task with its sport and the plugin's origin."""

    spec: TaskSpec
    sport: str
    origin: Origin


@dataclass(frozen=True)
class Inventory:
    """All installed sports: those that work, those that failed and those that were switched off."""

    plugins: Mapping[str, LoadedPlugin]
    failures: tuple[PluginFailure, ...]
    switched_off: tuple[Origin, ...]

    @property
    def tasks(self) -> dict[str, Task]:
        """Every working task by id, in the order of the plugins."""
        return {
            spec.id: Task(spec, sport, loaded.origin)
            for sport, loaded in self.plugins.items()
            for spec in loaded.plugin.tasks
        }


@functools.cache
def inventory() -> Inventory:
    """Load the declarations of all installed sports, once per process.

    Returns:
        What was found. Plugins that fail are in it with their cause and are logged as warnings.
    """
    chosen, switched_off = _choose(_discover(), os.environ)
    return _load_all(chosen, switched_off, _foreign_ids())


def register_all() -> None:
    """Register every working task with Gymnasium, as strings. May be called again; never raises."""
    try:
        for task in inventory().tasks.values():
            if task.spec.id not in registration.registry:
                _register(task)
    except Exception:
        _LOG.exception("the installed sports could not be registered")


def find_task(task_id: str) -> Task:
    """Look up a task by its id.

    Args:
        task_id: Gymnasium id, with or without the prefix ``"sportsuite:"``.

    Returns:
        The task.

    Raises:
        PluginError: If the task belongs to a plugin that failed; the text gives the cause.
        BadInputError: If nobody declares the id; the text gives the nearest ids and the plugins that might have it.
    """
    found = inventory()
    task_id = task_id.removeprefix("sportsuite:")
    if task_id in found.tasks:
        return found.tasks[task_id]
    for failure in found.failures:
        if task_id in failure.task_ids:
            raise PluginError(f"task {task_id} belongs to sport {failure.origin}, which is disabled: {failure.cause}")
    raise BadInputError(f"{unknown_name('task', task_id, found.tasks)}{_other_causes(found)}")


def find_sport(name: str) -> LoadedPlugin:
    """Look up a sport by its name.

    Args:
        name: Name of the sport.

    Returns:
        The plugin.

    Raises:
        PluginError: If the plugin of that name failed; the text gives the cause.
        BadInputError: If there is no such sport or it is switched off.
    """
    found = inventory()
    if name in found.plugins:
        return found.plugins[name]
    for failure in found.failures:
        if failure.origin.name == name:
            raise PluginError(f"sport {failure.origin} is disabled: {failure.cause}")
    if any(origin.name == name for origin in found.switched_off):
        raise BadInputError(f"sport {name!r} is switched off by {ONLY_VARIABLE} or {DISABLE_VARIABLE}")
    raise unknown_name("sport", name, found.plugins)


def policy_path(task: Task) -> Path | None:
    """Return where a task's shipped policy should lie.

    Args:
        task: The task.

    Returns:
        The path below the folder of the package that declares the plugin, or below sportsuite's asset folder for our
        own sports, whether or not the file exists; None for a task without a shipped policy.

    Raises:
        PluginError: If that package has no folder.
        BadInputError: If sportsuite's asset folder is missing.
    """
    if task.spec.policy is None:
        return None
    if task.origin.distribution == _OWN_DISTRIBUTION:
        # reading the assets' manifest needs YAML, which registering ids doesn't
        from sportsuite.assets import assets_root

        return assets_root() / task.spec.policy
    found = importlib.util.find_spec(task.origin.module)
    if found is None or found.origin is None:
        raise PluginError(f"sport {task.origin}: the module {task.origin.module} has no file")
    return Path(found.origin).parent / task.spec.policy


def _discover() -> list[importlib.metadata.EntryPoint]:
    """Return the sports' entry points: our own first, then by distribution and name, so that clashes end alike."""
    found = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    return sorted(
        found, key=lambda entry: (_distribution(entry) != _OWN_DISTRIBUTION, _distribution(entry), entry.name)
    )


def _distribution(entry: importlib.metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""


def _origin(entry: importlib.metadata.EntryPoint) -> Origin:
    version = entry.dist.version if entry.dist is not None else "unknown"
    return Origin(_distribution(entry) or "unknown", version, entry.name, entry.value)


def _choose(
    entries: list[importlib.metadata.EntryPoint], environ: Mapping[str, str]
) -> tuple[list[importlib.metadata.EntryPoint], tuple[Origin, ...]]:
    """Split the entry points into those to load and those that the environment variables switch off."""
    known = {entry.name for entry in entries}
    only = _names(environ, ONLY_VARIABLE, known)
    without = _names(environ, DISABLE_VARIABLE, known) or set()
    chosen = [entry for entry in entries if (only is None or entry.name in only) and entry.name not in without]
    return chosen, tuple(_origin(entry) for entry in entries if entry not in chosen)


def _names(environ: Mapping[str, str], variable: str, known: set[str]) -> set[str] | None:
    """Read a list of sports from an environment variable; None where it is unset or empty. Warns of unknown names."""
    names = {name.strip() for name in environ.get(variable, "").split(",") if name.strip()}
    for name in sorted(names - known):
        _LOG.warning("%s: %s", variable, unknown_name("sport", name, known))
    return names or None


def _foreign_ids() -> dict[str, str]:
    """Return who owns the ids that others registered with Gymnasium; a sport must not take them over."""
    return {
        task_id: f"the Gymnasium environment {spec.entry_point}"
        for task_id, spec in registration.registry.items()
        if "sport" not in spec.kwargs
    }


def _load_all(
    entries: Iterable[importlib.metadata.EntryPoint], switched_off: tuple[Origin, ...], foreign_ids: Mapping[str, str]
) -> Inventory:
    plugins: dict[str, LoadedPlugin] = {}
    failures: list[PluginFailure] = []
    id_owners = dict(foreign_ids)
    for entry in entries:
        origin = _origin(entry)
        outcome = _load(entry, origin, plugins, id_owners)
        if isinstance(outcome, PluginFailure):
            failures.append(outcome)
        else:
            plugins[outcome.plugin.name] = outcome
            id_owners.update({task.id: f"sport {origin}" for task in outcome.plugin.tasks})
    return Inventory(MappingProxyType(plugins), tuple(failures), switched_off)


def _load(
    entry: importlib.metadata.EntryPoint,
    origin: Origin,
    earlier: Mapping[str, LoadedPlugin],
    id_owners: Mapping[str, str],
) -> LoadedPlugin | PluginFailure:
    """Load one declaration; whatever a stranger's module does while it is imported, the others must still load."""
    task_ids: tuple[str, ...] = ()
    try:
        if entry.name in earlier:
            raise PluginError(f"sport {earlier[entry.name].origin} already has that name")
        plugin = _declaration(entry)
        task_ids = tuple(task.id for task in plugin.tasks)
        _check(plugin, entry.name, id_owners)
    except (Exception, SystemExit) as error:
        failure = PluginFailure(origin, _one_line(error), traceback.format_exc(), task_ids)
        _LOG.warning("sport %s is disabled: %s", origin, failure.cause)
        _LOG.debug("sport %s failed here", origin, exc_info=True)
        return failure
    return LoadedPlugin(plugin, origin)


def _declaration(entry: importlib.metadata.EntryPoint) -> SportPlugin:
    declared = _load_attribute(entry)
    if callable(declared):
        declared = declared()
    if not isinstance(declared, SportPlugin):
        kind = type(declared).__name__
        raise PluginError(f"{entry.value} is a {kind}; expected a SportPlugin or a function that returns one")
    return declared


def _load_attribute(entry: importlib.metadata.EntryPoint) -> object:
    running = sys.modules.get(entry.module)
    spec = running.__spec__ if running is not None else None
    if spec is None or spec.loader is None or not getattr(spec, "_initializing", False):
        return entry.load()
    # Somebody imported the plugin's own module first, and its import of sportsuite led here: so far that module has no
    # attributes. It only holds declarations, so reading them from a second, private copy gives the same.
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return functools.reduce(getattr, entry.attr.split("."), copy)


def _check(plugin: SportPlugin, entry_name: str, id_owners: Mapping[str, str]) -> None:
    if not OLDEST_API_VERSION <= plugin.api_version <= API_VERSION:
        span = f"{OLDEST_API_VERSION} to {API_VERSION}" if OLDEST_API_VERSION < API_VERSION else str(API_VERSION)
        newer = "sportsuite" if plugin.api_version > API_VERSION else "the plugin"
        raise PluginError(
            f"it is written for api version {plugin.api_version}, this sportsuite has {span}: update {newer}"
        )
    if plugin.name != entry_name:
        raise PluginError(
            f"the entry point is called {entry_name!r}, the sport in it {plugin.name!r}; both must be equal"
        )
    for task in plugin.tasks:
        if task.id in id_owners:
            raise PluginError(f"task id {task.id} already belongs to {id_owners[task.id]}")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (
        text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}" if text else type(error).__name__
    )


def _register(task: Task) -> None:
    spec = task.spec
    agents = {f"rsl_rl_{size}_cfg_entry_point": reference for size, reference in spec.agent_cfgs.items()}
    if agents:
        # the key without a size is the one that Isaac Lab's commands take when no --agent is given
        agents |= {"rsl_rl_cfg_entry_point": spec.agent_cfgs[spec.default_size], "default_agent": "rsl_rl"}
    registration.register(
        id=spec.id,
        entry_point=_ENV_ENTRY_POINT,
        disable_env_checker=True,
        order_enforce=False,
        kwargs={"env_cfg_entry_point": spec.env_cfg, "sport": task.sport, "task_id": spec.id, **agents},
    )


def _other_causes(found: Inventory) -> str:
    """Name the plugins that might have an unknown id."""
    failed = [f"{failure.origin} ({failure.cause})" for failure in found.failures]
    off = [origin.name for origin in found.switched_off]
    text = f"; sports that failed to load may have it: {', '.join(failed)}" if failed else ""
    return text + (f"; switched off: {', '.join(off)}" if off else "")
