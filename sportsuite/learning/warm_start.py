"""Begins a training with the networks of another task's policy, as far as both see and do the same."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml

from sportsuite.errors import BadInputError
from sportsuite.learning.checkpoint import read_checkpoint
from sportsuite.learning.plain import to_plain

__all__ = ["common_columns", "warm_start", "widen"]

_LOG = logging.getLogger(__name__)

_NORMALIZERS = ("obs_normalizer.body.", "obs_normalizer.normalizer.")
"""Where networks with a latent, or with features of their own, keep the usual normaliser."""

_LATENT_PARTS = ("obs_normalizer.style.", "encoder.")
"""What a latent policy has beyond others, see :class:`~sportsuite.learning.models.LatentActor`."""

_NORMALIZER_EPS = 1e-2
"""What rsl_rl adds to a standard deviation before it divides by it."""

_COUNT = 10_000_000
"""Samples that the copied input statistics count for at most (ours). Statistics that move faster than the policy learns
undo it (measured, with 100,000: a walker that fell in a twentieth of the episodes fell in nine of ten after 160,000
samples without any learning). New inputs are seen in their own units meanwhile."""


def warm_start(algorithm: Any, env: Any, path: str | Path) -> list[str]:
    """Copy networks from a checkpoint into a fresh algorithm.

    Inputs that both tasks have in the same leading observation terms keep their weights; those of further terms start
    at zero, so that the policy begins by doing what it did before. Where the old task's last term is a command for
    which the new network's last features stand (``walker``), those take its weights: the new policy begins by doing
    what the old one did when told the same. The noise of its actions stays the fresh one: a trained policy's is too
    small to find out anything new. A latent policy begins as one without a latent: what the latent does to it starts at
    nothing. Networks whose shapes differ in any other way stay as they are. Discriminators are copied whole, the critic
    as the actor; the optimizers start afresh. For ``critic_warmup`` updates only the critic learns.

    Args:
        algorithm: The runner's algorithm, before its first rollout.
        env: The environment, wrapped or not.
        path: A checkpoint, of any task with the same first observation terms.

    Returns:
        What was copied, by name.

    Raises:
        BadInputError: If the file can't be read, or the tasks share no leading observation term.
    """
    content = read_checkpoint(path, str(env.unwrapped.device))
    saved = yaml.safe_load(content["sportsuite"]["env_cfg"])
    manager = env.unwrapped.observation_manager
    columns, command = common_columns(saved, manager), _next_command(saved, manager)
    if columns == 0:
        raise BadInputError(f"{path}: its first observation isn't the first one of this task: nothing can be copied")
    copied = []
    for name in ("actor", "critic"):
        state = content.get(f"{name}_state_dict")
        if state is not None and _load(getattr(algorithm, name), state, columns, command):
            copied.append(name)
    saved_priors = content.get("channels", {}).get("priors", {})
    for name, prior in getattr(algorithm, "priors", {}).items():
        state = saved_priors.get(name)
        if state is not None and _same_shapes(prior.model.state_dict(), state["model"]):
            prior.load_state(state)
            copied.append(name)
    _LOG.info("warm start from %s: %s, %d common inputs", path, ", ".join(copied) or "nothing", columns)
    if "actor" not in copied:
        raise BadInputError(f"{path}: its actor's layers or actions differ from this task's: nothing can be copied")
    algorithm.warmup_left = algorithm.critic_warmup
    return copied


def common_columns(saved_env_cfg: Mapping[str, Any], manager: Any, group: str = "policy") -> int:
    """Count the inputs in the leading terms that a saved and a living observation group have in common.

    Args:
        saved_env_cfg: Env cfg of the checkpoint as plain types.
        manager: The environment's observation manager.
        group: Observation group.
    """
    return sum(_common_sizes(saved_env_cfg, manager, group))


def _common_sizes(saved_env_cfg: Mapping[str, Any], manager: Any, group: str) -> list[int]:
    here = [to_plain(getattr(getattr(manager.cfg, group), name)) for name in manager.active_terms[group]]
    sizes: list[int] = []
    saved = _saved_terms(saved_env_cfg, group)
    for before, now, shape in zip(saved, here, manager.group_obs_term_dim[group], strict=False):
        if _meaning(before) != _meaning(now):
            break
        sizes.append(shape[-1])
    return sizes


def _saved_terms(saved_env_cfg: Mapping[str, Any], group: str) -> list[Mapping[str, Any]]:
    terms = saved_env_cfg.get("observations", {}).get(group) or {}
    return [term for term in terms.values() if isinstance(term, Mapping) and "func" in term]


def _next_command(saved_env_cfg: Mapping[str, Any], manager: Any, group: str = "policy") -> str | None:
    """Name of the command that the old task's policy sees after the common terms, if it is the last it sees."""
    rest = _saved_terms(saved_env_cfg, group)[len(_common_sizes(saved_env_cfg, manager, group)) :]
    return (rest[0].get("params") or {}).get("command_name") if len(rest) == 1 else None


def _meaning(term: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """What a term shows: its function and what that is told by name, such as which command."""
    params = term.get("params") or {}
    return str(term["func"]), {name: value for name, value in params.items() if isinstance(value, str)}


def widen(fresh: torch.Tensor, saved: torch.Tensor, columns: int, rest: float, last: int = 0) -> torch.Tensor | None:
    """Return a tensor of the fresh one's shape whose first and last columns are the saved one's.

    Args:
        fresh: Shape (..., n).
        saved: Shape (..., m).
        columns: Leading columns to copy.
        rest: Value of the other columns.
        last: Columns to copy at the end.

    Returns:
        None if the shapes differ in more than the last dimension.
    """
    if fresh.shape == saved.shape:
        return saved.clone()
    if fresh.dim() == 0 or fresh.shape[:-1] != saved.shape[:-1] or min(fresh.shape[-1], saved.shape[-1]) < columns:
        return None
    result = torch.full_like(fresh, rest)
    result[..., :columns] = saved[..., :columns]
    if last > 0:
        result[..., -last:] = saved[..., -last:]
    return result


def _name(name: str) -> str:
    """Name of a parameter whether or not the network has a latent input or features of its own."""
    for prefix in _NORMALIZERS:
        name = name.replace(prefix, "obs_normalizer.")
    return name


def _num_features(state: Mapping[str, torch.Tensor]) -> int:
    """Inputs that a network makes of its observation; they come last."""
    first, mean = state.get("mlp.0.weight"), state.get("obs_normalizer._mean")
    return 0 if first is None or mean is None else first.shape[-1] - mean.shape[-1]


def _continue_command(merged: dict[str, torch.Tensor], saved: Mapping[str, torch.Tensor], size: int) -> None:
    """Give the last ``size`` inputs of a network, which aren't normalised, the weights of the saved one's last ones."""
    std = saved["obs_normalizer._std"][0, -size:] + _NORMALIZER_EPS
    weight = saved["mlp.0.weight"][:, -size:] / std
    merged["mlp.0.weight"][:, -size:] = weight
    merged["mlp.0.bias"] -= weight @ saved["obs_normalizer._mean"][0, -size:]


def _load(
    network: torch.nn.Module, saved: Mapping[str, torch.Tensor], columns: int, command: str | None = None
) -> bool:
    fresh = network.state_dict()
    saved = {_name(name): tensor for name, tensor in saved.items()}
    if not set(saved) <= {_name(name) for name in fresh}:
        return False
    features = _num_features({_name(name): tensor for name, tensor in fresh.items()})
    last = features if features == _num_features(saved) else 0
    merged = {}
    for full_name, tensor in fresh.items():
        name = _name(full_name)
        if name not in saved:
            if not full_name.startswith(_LATENT_PARTS):
                return False
            merged[full_name] = tensor
            continue
        rest = 1.0 if name.endswith(("_var", "_std")) else 0.0
        value = widen(tensor, saved[name], columns, rest, last if name == "mlp.0.weight" else 0)
        if value is None:
            return False
        if "std_param" in name:
            value = tensor
        merged[full_name] = value.clamp(max=_COUNT) if name.endswith("count") else value
    own = getattr(getattr(network, "obs_normalizer", None), "features", None)
    if command is not None and command == getattr(own, "walker", None) and not _num_features(saved):
        _continue_command(merged, saved, saved["mlp.0.weight"].shape[-1] - columns)
    network.load_state_dict(merged)
    return True


def _same_shapes(fresh: Mapping[str, torch.Tensor], saved: Mapping[str, torch.Tensor]) -> bool:
    return set(fresh) == set(saved) and all(fresh[name].shape == saved[name].shape for name in fresh)
