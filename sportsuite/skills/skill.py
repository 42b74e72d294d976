"""A skill: a trained policy, frozen, with a manifest of what it needs; what every kind of composition is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rsl_rl.models import MLPModel
from tensordict import TensorDict

from sportsuite.assets import asset_path, file_sha256
from sportsuite.errors import BadInputError, nearest
from sportsuite.learning.policy import load_actor
from sportsuite.skills.latent_action import check_actions, check_observations

__all__ = ["Skill", "SkillManifest", "find_policy", "load_skill"]

_TERM_FIELDS = ("scale", "clip", "history_length")
"""Fields of an observation term, besides its function, that decide what its numbers mean."""

_ORDERS = ("body_names", "joint_names", "preserve_order")
"""Fields of a scene entity that decide the order of a term's numbers."""


@dataclass(frozen=True)
class SkillManifest:
    """What a policy was trained with, as its checkpoint says."""

    file: str
    sha256: str
    task: str
    control_hz: float
    """Rate at which it acts [Hz]; 0 if the file doesn't say."""
    observations: Mapping[str, Mapping[str, Any]]
    """Config of the observation groups that it sees, by name, as plain types."""
    sizes: Mapping[str, tuple[int, ...]]
    """Numbers per group."""
    actions: Mapping[str, Mapping[str, Any]]
    """Config of the task's action terms, by name, as plain types."""
    num_actions: int
    clip: float | None
    """Actions are clamped to +- this."""
    versions: Mapping[str, str]

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints of its actions in their order; empty where the action is a latent."""
        return next((tuple(term["joint_names"]) for term in self.actions.values() if term.get("joint_names")), ())


@dataclass(frozen=True)
class Skill:
    """A frozen policy. Call it with observation groups of shape (n, dim) for actions of shape (n, num_actions)."""

    actor: MLPModel
    manifest: SkillManifest

    @torch.no_grad()
    def __call__(self, observations: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the mean actions."""
        rows = len(next(iter(observations.values())))
        actions = self.actor(TensorDict(dict(observations), batch_size=[rows]))  # type: ignore[arg-type]
        clip = self.manifest.clip
        return actions if clip is None else actions.clamp(-clip, clip)

    @property
    def groups(self) -> tuple[str, ...]:
        """Observation groups that it sees."""
        return tuple(self.manifest.observations)

    def reset(self, done: torch.Tensor) -> None:
        """Forget the memory of worlds, for recurrent networks.

        Args:
            done: Shape (num_envs,), bool.
        """
        self.actor.reset(done)

    def check_observations(self, here: Mapping[str, Any], sizes: Mapping[str, tuple[int, ...]]) -> None:
        """Compare what it sees with the observations that are there.

        Args:
            here: Config of the observation groups by name, as plain types.
            sizes: Shape of a world's observation by group.

        Raises:
            BadInputError: At the first difference; both sides are named.
        """
        for group, trained in self.manifest.observations.items():
            if group not in here:
                raise self._error(f"it sees observation group {group!r}; there is {', '.join(here) or 'none'}")
            try:
                check_observations(group, trained, here[group])
                _check_terms(group, trained, here[group])
            except BadInputError as error:
                raise self._error(str(error)) from None
            if tuple(sizes[group]) != self.manifest.sizes[group]:
                raise self._error(
                    f"observation group {group!r}: {list(self.manifest.sizes[group])} numbers in the policy's "
                    f"training, {list(sizes[group])} here"
                )

    def layout(self, known: Mapping[str, Mapping[str, Any]]) -> str:
        """Find what its actions mean.

        Args:
            known: Action terms that actions may go to, by name, as plain types.

        Returns:
            Name of the one that it was trained with.

        Raises:
            BadInputError: If there is none, or it differs from the one in training; both sides are named.
        """
        for name, term in known.items():
            trained = {
                key: saved
                for key, saved in self.manifest.actions.items()
                if saved.get("class_type") == term.get("class_type")
            }
            if trained:
                try:
                    check_actions(trained, term)
                except BadInputError as error:
                    raise self._error(str(error)) from None
                return name
        used = ", ".join(str(term.get("class_type")) for term in self.manifest.actions.values())
        offered = ", ".join(str(term.get("class_type")) for term in known.values())
        raise self._error(f"its actions went to {used or 'nothing'} in training, here they can go to {offered}")

    def check_rate(self, control_hz: float) -> None:
        """Compare the rate that it acts at.

        Args:
            control_hz: Rate here [Hz].

        Raises:
            BadInputError: If they differ.
        """
        if self.manifest.control_hz and abs(self.manifest.control_hz - control_hz) > 1e-3:
            raise self._error(
                f"it acts at {self.manifest.control_hz:g} Hz, here actions are taken at {control_hz:g} Hz: set "
                f"control_hz={self.manifest.control_hz:g}"
            )

    def _error(self, text: str) -> BadInputError:
        return BadInputError(f"skill {self.manifest.file} ({self.manifest.task or 'of an unknown task'}): {text}")


def load_skill(path: str | Path, device: str = "cpu", packages: Iterable[str] = ()) -> Skill:
    """Load a skill from a checkpoint, whole or stripped.

    Args:
        path: A file, or the name of a shipped one such as ``policies/trap.pt``.
        device: Where its network is put.
        packages: Packages, besides ours, whose network classes the file may name.

    Raises:
        BadInputError: If there is no such file, it can't be read or names a class that isn't trusted.
    """
    path = find_policy(path)
    actor, about = load_actor(path, device, packages)
    saved = about["env_cfg"] or {}
    observations = saved.get("observations") or {}
    manifest = SkillManifest(
        file=path.name,
        sha256=file_sha256(path),
        task=about.get("task", ""),
        control_hz=float(saved.get("control_hz") or 0.0),
        observations={group: observations.get(group) or {} for group in actor.obs_groups},
        sizes={group: tuple(about["observations"][group]) for group in actor.obs_groups},
        actions={name: term for name, term in (saved.get("actions") or {}).items() if isinstance(term, Mapping)},
        num_actions=int(about["num_actions"]),
        clip=about["agent_cfg"].get("clip_actions"),
        versions=about.get("versions") or {},
    )
    return Skill(actor, manifest)


def find_policy(path: str | Path) -> Path:
    """Find the file that a path, or the name of a shipped policy, means.

    Raises:
        BadInputError: If there is neither.
    """
    file = Path(path)
    if file.is_file():
        return file
    try:
        return asset_path(str(path))
    except BadInputError:
        beside = [entry.name for entry in file.parent.glob("*.pt")] if file.parent.is_dir() else []
        near = nearest(file.name, beside)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise BadInputError(
            f"policy {path}: there is neither such a file nor such a shipped policy: train one with "
            f"'sportsuite train' and give its checkpoint{hint}"
        ) from None


def _check_terms(group: str, trained: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Compare what :func:`check_observations` leaves out: scaling, history, and the order of bodies and joints."""
    for name, term in trained.items():
        if not (isinstance(term, Mapping) and "func" in term):
            continue
        pairs = [(field, term.get(field), here[name].get(field)) for field in _TERM_FIELDS]
        params = term.get("params") or {}
        for key, value in params.items():
            other = (here[name].get("params") or {}).get(key)
            if isinstance(value, Mapping) and isinstance(other, Mapping):
                pairs += [(f"{key}.{field}", value.get(field), other.get(field)) for field in _ORDERS]
            elif not isinstance(value, Mapping):
                pairs.append((key, value, other))
        for field, theirs, ours in pairs:
            if theirs != ours:
                raise BadInputError(
                    f"observation {group}.{name}: {field} is {_short(theirs)} in the policy's training, "
                    f"{_short(ours)} here"
                )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
