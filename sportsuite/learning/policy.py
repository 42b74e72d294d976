"""Policies to play and evaluate: from a checkpoint, without a runner, a critic or an optimizer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rsl_rl.models
import torch
import yaml
from rsl_rl.models import MLPModel
from rsl_rl.utils import resolve_callable
from tensordict import TensorDict

from sportsuite.assets import file_sha256, write_text_atomic
from sportsuite.errors import BadInputError
from sportsuite.learning.checkpoint import check_shapes, check_task, read_checkpoint, strip_checkpoint
from sportsuite.learning.plain import to_plain
from sportsuite.plugins.manager import Task, policy_path

__all__ = [
    "Policy",
    "card_path",
    "load_actor",
    "load_policy",
    "pretrained_path",
    "read_card",
    "restore_interface",
    "ship_policy",
    "untrained_policy",
    "zero_policy",
]

_LOG = logging.getLogger(__name__)

_INTERFACE = ("control_hz", "observations", "actions")
"""Parts of the env cfg that a policy is trained for and can't do without."""

_TRUSTED_PACKAGES = {"rsl_rl", "sportsuite", "sportsuite_tasks"}
"""Packages whose network classes a checkpoint may name; the task's own package is added."""


@dataclass(frozen=True)
class Policy:
    """Deterministic actions from observations.

    Call it with observation groups of shape (num_envs, dim); it returns actions of shape (num_envs, num_actions).
    """

    act: Callable[[Mapping[str, torch.Tensor]], torch.Tensor]
    about: Mapping[str, Any] = field(default_factory=dict)
    """What is known of it: ``kind``, and for a checkpoint ``file``, ``sha256``, ``task``, ``iteration``, ``samples``,
    ``train_seconds``, ``seed``, ``versions``, ``machine``, ``created`` and, if there is one, its ``card``."""
    actor: MLPModel | None = None

    def __call__(self, obs: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the mean action for every world."""
        with torch.no_grad():
            return self.act(obs)

    def reset(self, done: torch.Tensor) -> None:
        """Forget the memory of worlds that ended, for recurrent networks.

        Args:
            done: Shape (num_envs,), bool.
        """
        if self.actor is not None:
            self.actor.reset(done)


def load_policy(path: str | Path, env: Any, task: Task) -> Policy:
    """Load a checkpoint's policy for an environment.

    Args:
        path: A checkpoint, whole or stripped.
        env: The environment, wrapped or not; it has been reset.
        task: The environment's task.

    Raises:
        BadInputError: If the file can't be read, is of another task or doesn't fit the environment.
    """
    path = Path(path)
    device = str(env.unwrapped.device)
    content = read_checkpoint(path, device)
    check_task(content, task.spec.id, path)
    cfg = yaml.safe_load(content["sportsuite"]["agent_cfg"])
    packages = _TRUSTED_PACKAGES | {task.origin.module.partition(".")[0]}
    actor = _build_actor(cfg, *_sizes(env), packages)
    check_shapes(content, actor)
    actor.load_state_dict(content["actor_state_dict"])
    return _policy(actor, cfg.get("clip_actions"), _describe(path, content))


def load_actor(path: str | Path, device: str = "cpu", packages: Iterable[str] = ()) -> tuple[MLPModel, dict[str, Any]]:
    """Load a checkpoint's network alone, frozen, without the environment that it was trained in.

    Args:
        path: A checkpoint, whole or stripped.
        device: Where it is put.
        packages: Packages, besides ours, whose network classes the file may name.

    Returns:
        The network, and what the file says of its run (see
        :func:`~sportsuite.learning.checkpoint.describe_run`), with ``env_cfg`` and ``agent_cfg`` as dictionaries.

    Raises:
        BadInputError: If the file can't be read or names a class that isn't trusted.
    """
    content = read_checkpoint(path, device)
    about = dict(content["sportsuite"])
    about |= {name: yaml.safe_load(about[name]) for name in ("env_cfg", "agent_cfg")}
    sizes = {name: torch.zeros(1, *shape, device=device) for name, shape in about["observations"].items()}
    observations = TensorDict(sizes, batch_size=[1])  # type: ignore[arg-type]
    trusted = _TRUSTED_PACKAGES | set(packages)
    actor = _build_actor(about["agent_cfg"], observations, about["num_actions"], device, trusted)
    check_shapes(content, actor)
    actor.load_state_dict(content["actor_state_dict"])
    return actor.eval().requires_grad_(False), about


def untrained_policy(env: Any, agent_cfg: Any, seed: int) -> Policy:
    """Build a task's network with fresh weights, as a baseline.

    Args:
        env: The environment.
        agent_cfg: The task's agent config.
        seed: Seed of the weights.
    """
    generator_state = torch.get_rng_state()
    torch.manual_seed(seed)
    cfg = to_plain(agent_cfg)
    actor = _build_actor(cfg, *_sizes(env), None)
    torch.set_rng_state(generator_state)
    return _policy(actor, cfg.get("clip_actions"), {"kind": "untrained", "seed": seed})


def zero_policy(env: Any) -> Policy:
    """Return the policy whose action is always zero."""
    inner = env.unwrapped
    action = torch.zeros(inner.num_envs, inner.action_manager.total_action_dim, device=inner.device)
    return Policy(lambda obs: action, {"kind": "zero"})


def pretrained_path(task: Task) -> Path:
    """Return the policy that ships with a task.

    Raises:
        BadInputError: If there is none, or its file is missing.
    """
    path = policy_path(task)
    if path is None:
        raise BadInputError(f"task {task.spec.id} ships no policy: train one, and use --checkpoint")
    if not path.is_file():
        raise BadInputError(f"task {task.spec.id}: its policy {path} is missing: reinstall {task.origin.distribution}")
    return path


def restore_interface(env_cfg: Any, path: str | Path) -> list[str]:
    """Set what a policy sees and does to what it was trained with, so that it plays without repeating the overrides.

    Args:
        env_cfg: The task's env cfg, changed in place.
        path: The checkpoint.

    Returns:
        What was changed, as ``"path=value"``.

    Raises:
        BadInputError: If the file can't be read, or its config has fields that this version doesn't know.
    """
    from sportsuite.envs.overrides import apply_overrides

    saved = yaml.safe_load(read_checkpoint(path)["sportsuite"]["env_cfg"]) or {}
    changes: dict[str, Any] = {}
    fields = getattr(env_cfg, "interface_fields", tuple)()
    for name in (*_INTERFACE, *fields):
        if name in saved and hasattr(env_cfg, name):
            changes |= _differences(getattr(env_cfg, name), saved[name], name)
    apply_overrides(env_cfg, changes)
    described = [f"{name}={value}" for name, value in changes.items()]
    if described:
        _LOG.warning("as in training: %s", ", ".join(described))
    return described


def card_path(policy: str | Path) -> Path:
    """Return where a policy's card lies: beside it, ``<name>.card.json``."""
    return Path(policy).with_suffix(".card.json")


def read_card(policy: str | Path) -> dict[str, Any] | None:
    """Read the card of a shipped policy; None if it has none or it can't be read."""
    try:
        return json.loads(card_path(policy).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def ship_policy(checkpoint: str | Path, target: str | Path, evaluation: Mapping[str, Any], data: str) -> None:
    """Make a shipped policy: the checkpoint without what only training needs, and its card.

    Args:
        checkpoint: A checkpoint.
        target: Path of the policy, ending in ``.pt``; the card goes beside it.
        evaluation: Document of ``sportsuite evaluate --json`` for the checkpoint.
        data: What it was trained on, such as motions and their licences.

    Raises:
        BadInputError: If the checkpoint can't be read.
    """
    strip_checkpoint(checkpoint, target)
    about = _describe(Path(target), read_checkpoint(target))
    figures = {
        name: {key: metric[key] for key in ("value", "unit", "reference")}
        for name, metric in evaluation["metrics"].items()
    }
    seeds = {"training": about["seed"], "evaluation": evaluation.get("seeds", [])}
    card = {
        name: about[name] for name in ("task", "sha256", "samples", "train_seconds", "iteration", "machine", "versions")
    }
    card |= {"data": data, "seeds": seeds, "episodes": evaluation["episodes"], "figures": figures}
    write_text_atomic(card_path(target), json.dumps(card, indent=2) + "\n")


def _policy(actor: MLPModel, clip: float | None, about: dict[str, Any]) -> Policy:
    actor.eval()
    if clip is None:
        return Policy(actor, about, actor)
    return Policy(lambda obs: actor(obs).clamp(-clip, clip), about, actor)


def _describe(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    about = content["sportsuite"]
    names = ("task", "samples", "train_seconds", "seed", "versions", "machine", "created")
    described = {"kind": "checkpoint", "file": str(path), "sha256": file_sha256(path), "iteration": content["iter"]}
    described |= {name: about.get(name) for name in names}
    card = read_card(path)
    return described | ({"card": card} if card is not None else {})


def _sizes(env: Any) -> tuple[Any, int, Any]:
    """Return an environment's observations, number of actions and device."""
    inner = env.unwrapped
    return inner.obs_buf, inner.action_manager.total_action_dim, inner.device


def _build_actor(
    cfg: dict[str, Any], observations: Any, num_actions: int, device: Any, packages: set[str] | None
) -> MLPModel:
    """Build the actor network of an agent config given as plain types.

    ``packages`` limits where classes may come from, for configs that came out of a file; None doesn't.
    """
    actor_cfg = dict(cfg["actor"])
    actor_class = _network_class(actor_cfg.pop("class_name"), packages)
    distribution = actor_cfg.get("distribution_cfg") or {}
    if "class_name" in distribution:
        _check_trusted(distribution["class_name"], packages)
    missing = [group for group in cfg["obs_groups"]["actor"] if group not in observations]
    if missing:
        raise BadInputError(
            f"the policy needs observation group {missing[0]!r}; the task has {', '.join(observations)}"
        )
    actor = actor_class(observations, cfg["obs_groups"], "actor", num_actions, **actor_cfg)
    return actor.to(device)


def _network_class(name: str, packages: set[str] | None) -> type[MLPModel]:
    _check_trusted(name, packages)
    found = resolve_callable(name) if ":" in name else getattr(rsl_rl.models, name, None)
    if not (isinstance(found, type) and issubclass(found, MLPModel)):
        raise BadInputError(f"the policy's network class {name!r} is none")
    return found


def _check_trusted(name: str, packages: set[str] | None) -> None:
    # naming a class imports its module: a file must not choose which
    if packages is not None and ":" in name and name.partition(":")[0].partition(".")[0] not in packages:
        raise BadInputError(f"the policy names the class {name!r}, which is neither ours nor of the task's plugin")


def _differences(current: Any, saved: Any, path: str) -> dict[str, Any]:
    """Find the leaves of a saved section that differ from the config's, by dotted path.

    Scene entities are left out: the managers write the indices they found into them.
    """
    from isaaclab.managers import SceneEntityCfg

    if isinstance(current, SceneEntityCfg) or callable(current):
        return {}
    if isinstance(saved, dict) and (isinstance(current, dict) or hasattr(current, "__dataclass_fields__")):
        inner = current if isinstance(current, dict) else vars(current)
        found: dict[str, Any] = {}
        for name, value in saved.items():
            if name in inner:
                found |= _differences(inner[name], value, f"{path}.{name}")
            elif value not in (None, {}, []):
                found[f"{path}.{name}"] = value
        return found
    return {} if to_plain(current) == saved else {path: saved}
