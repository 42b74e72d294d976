"""Named variants of a task, such as a text's ablations: what a config's ``ablations()`` declares, as overrides."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sportsuite.errors import BadInputError, unknown_name

if TYPE_CHECKING:
    from sportsuite.envs.sport_env_cfg import SportEnvCfg

__all__ = ["ablation_overrides", "split_names"]


def split_names(text: str) -> list[str]:
    """Split ``NAME[,NAME]``.

    Raises:
        BadInputError: If there is no name between two commas.
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise BadInputError(f"--ablate {text!r}: expected names separated by commas")
    return names


def ablation_overrides(cfg: SportEnvCfg, names: Iterable[str], task: str) -> tuple[str, ...]:
    """Return what named variants change.

    Args:
        cfg: A config of the task.
        names: Keys of its ``ablations()``; later ones prevail.
        task: Id of the task, for messages.

    Returns:
        Overrides as ``"path=value"``, in the form that :func:`~sportsuite.envs.overrides.apply_overrides` takes.

    Raises:
        BadInputError: If the task has no such variant; the nearest are given.
    """
    known = cfg.ablations() if hasattr(cfg, "ablations") else {}
    found: list[str] = []
    for name in names:
        if name not in known:
            raise unknown_name(f"ablation of {task}", name, known)
        found += [f"{path}={json.dumps(value)}" for path, value in known[name].items()]
    return tuple(found)
