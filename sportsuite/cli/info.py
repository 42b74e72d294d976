"""Tell everything about one task: its plugin, its config modules and their files, its policy.

The files show which copy of a config is used: the one in a checkout or the one in site-packages. Exit code 1 if a
module that the task names can't be found.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

from sportsuite.cli import _output
from sportsuite.plugins.errors import PluginError
from sportsuite.plugins.manager import Task, find_sport, find_task, policy_path
from sportsuite.plugins.terms import module_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", metavar="ID", help="task id, as 'sportsuite list' prints it")
    parser.add_argument("--physics", action="store_true", help="also load the env cfg (seconds) and list its backends")
    _output.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print one task."""
    document = describe(find_task(args.id))
    if args.physics:
        document["physics"] = physics_presets(document["env_cfg"]["reference"])
    if args.json:
        _output.print_json(document)
    else:
        _print_tree(document)
    return 1 if _problems(document) else 0


def describe(task: Task) -> dict[str, Any]:
    """Collect what is known of a task without loading a simulator.

    Args:
        task: The task.

    Returns:
        A JSON-like document. Each module reference is ``{"reference", "file"}``, or ``{"reference", "problem"}`` where
        its module can't be found.
    """
    spec, plugin = task.spec, find_sport(task.sport).plugin
    agents = {size: _reference(reference) for size, reference in spec.agent_cfgs.items()}
    for size, agent in agents.items():
        agent["isaaclab_option"] = f"--agent rsl_rl_{size}_cfg_entry_point"
    return {
        "id": spec.id,
        "description": spec.description,
        "sport": task.sport,
        "plugin": {
            "distribution": task.origin.distribution,
            "version": task.origin.version,
            "api_version": plugin.api_version,
            **_reference(task.origin.value),
        },
        "env_cfg": _reference(spec.env_cfg),
        "agent_cfgs": agents,
        "default_agent_cfg": spec.default_size if agents else None,
        "evaluation": _reference(spec.evaluation) if spec.evaluation else None,
        "policy": _policy(task),
        "terms": {kind: _reference(module) for kind, module in plugin.terms.items()},
    }


def physics_presets(env_cfg: str) -> list[str]:
    """Load an env cfg and list the physics backends it has presets for.

    Args:
        env_cfg: ``"module:attribute"``.

    Returns:
        Names for ``physics=``; empty for a config with a fixed backend.

    Raises:
        PluginError: If the config can't be built.
    """
    module, _, attribute = env_cfg.partition(":")
    try:
        physics = getattr(importlib.import_module(module), attribute)().sim.physics
    except Exception as error:
        raise PluginError(f"env cfg {env_cfg}: {type(error).__name__}: {error}") from error
    from isaaclab_tasks.utils import PresetCfg

    fields = type(physics).__dataclass_fields__ if isinstance(physics, PresetCfg) else {}
    return [name for name in fields if name != "default"]


def _reference(reference: str) -> dict[str, Any]:
    try:
        return {"reference": reference, "file": module_file(reference.partition(":")[0])}
    except PluginError as error:
        return {"reference": reference, "problem": str(error)}


def _policy(task: Task) -> dict[str, Any] | None:
    path = policy_path(task)
    if path is None:
        return None
    card = path.with_suffix(".card.json")
    return {"file": path, "exists": path.is_file(), "card": _read_card(card) if card.is_file() else None}


def _read_card(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return {"problem": f"{path}: {error}"}


def _problems(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return "problem" in value or any(_problems(item) for item in value.values())


def _print_tree(value: dict[str, Any], indent: str = "") -> None:
    for key, item in value.items():
        if isinstance(item, dict) and item:
            _output.write_line(f"{indent}{key}:")
            _print_tree(item, indent + "  ")
        elif isinstance(item, list):
            _output.write_line(f"{indent}{key}: {', '.join(map(str, item)) or '-'}")
        else:
            _output.write_line(f"{indent}{key}: {_plain(item)}")


def _plain(item: Any) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    return "-" if item is None or item == {} else str(item)
