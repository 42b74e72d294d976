"""Checkpoints that survive crashes, describe themselves and are read without running code from the file.

A checkpoint is rsl_rl's own (``actor_state_dict``, ``critic_state_dict``, ``optimizer_state_dict``, ``iter``,
``infos``) with two further entries: ``"sportsuite"`` (see :func:`describe_run`, plus ``samples`` and ``train_seconds``)
and ``"rng"``. Everything in it is a tensor or a plain Python type, so ``torch.load(weights_only=True)`` reads it.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import platform
import random
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

import sportsuite
from sportsuite.errors import BadInputError
from sportsuite.learning.checkpoint_files import check_file, checkpoints, latest_run
from sportsuite.learning.plain import to_plain

__all__ = [
    "FORMAT",
    "check_shapes",
    "check_task",
    "checkpoints",
    "describe_run",
    "latest_run",
    "latest_valid",
    "read_checkpoint",
    "restore_rng",
    "rng_state",
    "strip_checkpoint",
    "write_checkpoint",
]

FORMAT = 1
"""Version of the ``"sportsuite"`` entry. A later sportsuite reads earlier formats, not the other way round."""

_DISTRIBUTIONS = ("isaaclab", "newton", "mujoco", "warp-lang", "rsl-rl-lib", "torch", "numpy")
_LOG = logging.getLogger(__name__)


def describe_run(env: Any, obs: Any, agent_cfg: dict[str, Any], device: str) -> dict[str, Any]:
    """Collect what is needed to understand a checkpoint, and to play it, without anything but the file.

    Args:
        env: The wrapped environment.
        obs: Its observations, groups of shape (num_envs, dim).
        agent_cfg: The runner's config.
        device: Torch device of the learner.

    Returns:
        Plain types only: ``format``, ``task``, ``env_cfg`` and ``agent_cfg`` (YAML), ``observations`` (sizes by group),
        ``num_actions``, ``num_envs``, ``seed``, ``versions``, ``machine``, ``created`` (UTC, ISO 8601).
    """
    spec = getattr(env.unwrapped, "spec", None)
    seed = agent_cfg.get("seed", getattr(env.cfg, "seed", None))
    return {
        "format": FORMAT,
        "task": getattr(spec, "id", "") or "",
        "env_cfg": yaml.safe_dump(to_plain(env.cfg), sort_keys=False),
        "agent_cfg": yaml.safe_dump(to_plain(agent_cfg), sort_keys=False),
        "observations": {name: list(value.shape[1:]) for name, value in obs.items()},
        "num_actions": int(env.num_actions),
        "num_envs": int(env.num_envs),
        "seed": seed,
        "versions": _versions(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, learner on {device}",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def write_checkpoint(path: str | Path, content: dict[str, Any]) -> None:
    """Write a checkpoint so that its name never stands for half a file, whatever kills the process or the machine.

    Args:
        path: Where to; an existing file is replaced in one step.
        content: Tensors and plain types.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # the leading dot keeps it out of every search for model_*.pt
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            torch.save(content, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def read_checkpoint(path: str | Path, device: str = "cpu") -> dict[str, Any]:
    """Read a checkpoint and make sure that it is whole and ours.

    Args:
        path: The file.
        device: Where its tensors are put.

    Returns:
        The file's content.

    Raises:
        BadInputError: If the file is missing, cut off, damaged, would have to be unpickled, or isn't from sportsuite.
    """
    path = Path(path)
    check_file(path)
    try:
        content = torch.load(path, weights_only=True, map_location=device)
    except Exception as error:
        # torch has no common class for "holds something else than tensors and plain types"
        reason = "it holds more than tensors and plain values, and loading that could run code"
        raise BadInputError(f"checkpoint {path}: refused, {reason}") from error
    about = content.get("sportsuite") if isinstance(content, dict) else None
    if not isinstance(about, dict) or "actor_state_dict" not in content:
        raise BadInputError(f"checkpoint {path}: not written by sportsuite (it says nothing about its task and config)")
    if about.get("format", 0) > FORMAT:
        raise BadInputError(f"checkpoint {path}: format {about['format']}, this sportsuite reads up to {FORMAT}")
    return content


def check_task(content: dict[str, Any], task_id: str, path: str | Path) -> None:
    """Refuse a checkpoint of another task.

    Raises:
        BadInputError: If both tasks are known and differ.
    """
    found = content["sportsuite"].get("task", "")
    if found and task_id and found != task_id:
        raise BadInputError(f"checkpoint {path} was trained on {found}, not on {task_id}")


def check_shapes(content: dict[str, Any], actor: torch.nn.Module, critic: torch.nn.Module | None = None) -> None:
    """Refuse a checkpoint whose networks differ from those that were built.

    Raises:
        BadInputError: Names the first parameter that differs, both shapes and, if that is the reason, the observations.
    """
    for name, network in (("actor", actor), ("critic", critic)):
        saved = content.get(f"{name}_state_dict")
        if network is not None and saved is not None:
            _check_state(name, saved, network.state_dict())


def latest_valid(run_dir: str | Path) -> Path:
    """Return a run's newest checkpoint that can be read; broken ones are skipped with a warning.

    Raises:
        BadInputError: If there is none.
    """
    candidates = checkpoints(run_dir)
    for path in candidates:
        try:
            read_checkpoint(path)
        except BadInputError as error:
            _LOG.warning("skipped: %s", error)
        else:
            return path
    why = f"none of its {len(candidates)} checkpoints can be read" if candidates else "it holds no model_<iteration>.pt"
    raise BadInputError(f"run folder {run_dir}: {why}")


def strip_checkpoint(source: str | Path, target: str | Path) -> None:
    """Write a copy that holds the policy and the description only, for shipping.

    Args:
        source: A checkpoint.
        target: Where the copy goes.

    Raises:
        BadInputError: If the source can't be read.
    """
    content = read_checkpoint(source)
    kept = {name: content[name] for name in ("actor_state_dict", "iter", "sportsuite")}
    about = dict(kept["sportsuite"])
    about["env_cfg"] = without_local_paths(about["env_cfg"])
    write_checkpoint(target, kept | {"infos": None, "sportsuite": about})


def without_local_paths(cfg: str) -> str:
    """Take the folders of the machine out of a config: asset files keep their name below ``assets/``, logs go nowhere.

    Args:
        cfg: A config as YAML.
    """
    cfg = re.sub(r"(?:/[^/\s:'\"]+)+/(?:_assets|assets)/", "assets/", cfg)
    return re.sub(
        r"^(\s*\w*(?:log_dir|logs_to_file|log_file_dir|export_dir)\w*): /.*$", r"\1: null", cfg, flags=re.MULTILINE
    )


def rng_state() -> dict[str, Any]:
    """Return the states of the random generators that training uses: torch (CPU, and CUDA if in use), numpy, Python."""
    kind, keys, *rest = np.random.get_state()
    state = {
        "torch": torch.get_rng_state(),
        "numpy": [kind, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest],
        "python": list(random.getstate()[1]),
    }
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def restore_rng(state: dict[str, Any]) -> None:
    """Set the random generators to what :func:`rng_state` returned.

    The environments' own state isn't part of a checkpoint: a resumed run goes on from fresh episodes and is not
    bitwise what the unbroken one would have been.
    """
    torch.set_rng_state(state["torch"].cpu())
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, keys.cpu().numpy().astype(np.uint32), *rest))
    random.setstate((3, tuple(state["python"]), None))
    if "cuda" in state and torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all([part.cpu() for part in state["cuda"]])


def _versions() -> dict[str, str]:
    versions = {"sportsuite": sportsuite.__version__, "python": platform.python_version()}
    for name in _DISTRIBUTIONS:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _check_state(network: str, saved: dict[str, Any], built: dict[str, torch.Tensor]) -> None:
    for name in sorted(set(saved) ^ set(built)):
        where = "only in the file" if name in saved else "missing in the file"
        raise BadInputError(f"checkpoint doesn't fit: {network} parameter {name!r} is {where}: another agent size")
    for name, value in built.items():
        if saved[name].shape != value.shape:
            shapes = f"{tuple(saved[name].shape)} in the file, {tuple(value.shape)} here"
            hint = "other observations" if name.startswith("obs_normalizer") else "another agent size or observations"
            raise BadInputError(f"checkpoint doesn't fit: {network} parameter {name!r} is {shapes} ({hint})")


def _sync_folder(folder: Path) -> None:
    # the rename itself must reach the disk too
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
