"""An action term whose action is a latent: a frozen low-level policy turns it into joint targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from isaaclab.managers import ActionTerm, ActionTermCfg, ObservationGroupCfg, ObservationManager
from isaaclab.utils import configclass
from isaaclab.utils.configclass import instantiate
from tensordict import TensorDict

from sportsuite.errors import BadInputError
from sportsuite.learning.plain import to_plain
from sportsuite.learning.policy import load_actor

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedRLEnv

__all__ = ["LatentAction", "LatentActionCfg", "calls_per_policy_step", "check_actions", "check_observations"]

_ACTION_FIELDS = ("class_type", "joint_names", "scale", "offset", "use_default_offset", "preserve_order", "clip")
"""Fields of an action term that decide what its numbers mean."""


class LatentAction(ActionTerm):
    """Drives a frozen low-level policy by its latent.

    The raw action is clamped to [-1, 1] and normalised to the unit sphere, as in CALM's high-level policies. The
    low-level policy acts by its mean, at the rate it was trained at. Its observations and joint targets are given in
    the config and checked against what the file says it was trained with.

    Raises:
        BadInputError: If the file can't be read, or the policy's observations, actions or rate aren't those here.
    """

    cfg: LatentActionCfg

    def __init__(self, cfg: LatentActionCfg, env: ManagerBasedRLEnv):
        super().__init__(cfg, env)
        self._actor, about = load_actor(cfg.policy, str(env.device), cfg.packages)
        self._latent_group: str = about["agent_cfg"]["actor"].get("latent_group", "latent")
        self._clip: float | None = about["agent_cfg"].get("clip_actions")
        if self._latent_group not in self._actor.obs_groups:
            raise BadInputError(
                f"policy {cfg.policy} takes no latent: it sees {', '.join(self._actor.obs_groups)}; train one with "
                "ase_cfg or calm_cfg"
            )
        self._groups = [name for name in self._actor.obs_groups if name != self._latent_group]
        self._targets: ActionTerm = instantiate(cfg.targets, env)
        self._observations = ObservationManager(dict(cfg.observations), env)
        self._check(about, env)
        size = about["observations"][self._latent_group][-1]
        self._raw_actions = torch.zeros(self.num_envs, size, device=self.device)
        self._latents = torch.zeros(self.num_envs, size, device=self.device)
        self._calls = 0

    @property
    def action_dim(self) -> int:
        """Size of the latent."""
        return self._raw_actions.shape[-1]

    @property
    def raw_actions(self) -> torch.Tensor:
        """Actions as they came, shape (num_envs, latent_dim)."""
        return self._raw_actions

    @property
    def processed_actions(self) -> torch.Tensor:
        """The latents in force, unit vectors of shape (num_envs, latent_dim)."""
        return self._latents

    def process_actions(self, actions: torch.Tensor) -> None:
        """Take new latents.

        Args:
            actions: Shape (num_envs, latent_dim).
        """
        self._raw_actions.copy_(actions)
        self._latents.copy_(F.normalize(actions.clamp(-1.0, 1.0), dim=-1))
        self._calls = 0

    def apply_actions(self) -> None:
        """Let the low-level policy act where its step begins, and apply its joint targets."""
        if self._calls % self._every == 0:
            self._targets.process_actions(self._act())
        self._calls += 1
        self._targets.apply_actions()

    def reset(self, env_ids: Sequence[int] | None = None) -> None:
        """Forget the last targets and observations of worlds that begin anew."""
        self._targets.reset(env_ids)
        self._observations.reset(env_ids)

    @torch.no_grad()
    def _act(self) -> torch.Tensor:
        groups = {name: self._observations.compute_group(name, update_history=True) for name in self._groups}
        groups[self._latent_group] = self._latents
        actions = self._actor(TensorDict(groups, batch_size=[self.num_envs]))  # type: ignore[arg-type]
        return actions if self._clip is None else actions.clamp(-self._clip, self._clip)

    def _check(self, about: Mapping[str, Any], env: ManagerBasedRLEnv) -> None:
        saved = about["env_cfg"]
        for name in self._groups:
            if name not in self.cfg.observations:
                raise BadInputError(
                    f"policy {self.cfg.policy} sees observation group {name!r}: give it in observations"
                )
            here = self._observations.group_obs_dim[name]
            terms = to_plain(self.cfg.observations[name])
            check_observations(name, saved.get("observations", {}).get(name, {}), terms)
            if list(here) != list(about["observations"][name]):
                raise BadInputError(
                    f"observation group {name!r}: {about['observations'][name]} numbers in the policy's training, "
                    f"{list(here)} here"
                )
        if self._targets.action_dim != about["num_actions"]:
            raise BadInputError(f"the policy gives {about['num_actions']} actions, {self._targets.action_dim} here")
        check_actions(saved.get("actions", {}), to_plain(self.cfg.targets))
        call_dt = env.step_dt / (1 if env._physics_handles_decimation else env.cfg.decimation)
        self._every = calls_per_policy_step(saved.get("control_hz", 1.0 / env.step_dt), call_dt, env.step_dt)


@configclass
class LatentActionCfg(ActionTermCfg):
    """Config of :class:`LatentAction`."""

    class_type: type = LatentAction

    policy: str = MISSING  # type: ignore[assignment]
    """Checkpoint of the low-level policy, whole or stripped."""

    observations: dict[str, ObservationGroupCfg] = MISSING  # type: ignore[assignment]
    """The low-level policy's observation groups by name, without the latent."""

    targets: ActionTermCfg = MISSING  # type: ignore[assignment]
    """Action term that the low-level policy's actions go to."""

    packages: tuple[str, ...] = ()
    """Packages, besides ours, whose network classes the checkpoint may name."""


def check_observations(group: str, trained: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Compare the terms of an observation group with those of the policy's training.

    Args:
        group: Its name.
        trained: The group's config in training, as plain types.
        here: The group's config now, as plain types.

    Raises:
        BadInputError: At the first term that differs; both sides are named.
    """
    trained_terms, terms = _terms(trained), _terms(here)
    if list(trained_terms) != list(terms):
        raise BadInputError(
            f"observation group {group!r}: terms {', '.join(trained_terms) or 'none'} in the policy's training, "
            f"{', '.join(terms) or 'none'} here"
        )
    for name, function in trained_terms.items():
        if terms[name] != function:
            raise BadInputError(f"observation {group}.{name}: {function} in the policy's training, {terms[name]} here")


def check_actions(trained: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Compare an action term with the only one of the policy's training.

    Args:
        trained: All action terms in training by name, as plain types.
        here: The term now, as plain types.

    Raises:
        BadInputError: At the first field that differs; both sides are named.
    """
    terms = {name: term for name, term in trained.items() if isinstance(term, Mapping)}
    if len(terms) != 1:
        raise BadInputError(f"the policy was trained with {len(terms)} action terms ({', '.join(terms)}), expected one")
    ((name, term),) = terms.items()
    for field in _ACTION_FIELDS:
        if field in term and term[field] != here.get(field):
            raise BadInputError(
                f"action {name}: {field} is {_short(term[field])} in the policy's training, "
                f"{_short(here.get(field))} here"
            )


def calls_per_policy_step(policy_hz: float, call_dt: float, step_dt: float) -> int:
    """Return how often joint targets are applied per step of the low-level policy.

    Args:
        policy_hz: Rate the policy was trained at [Hz].
        call_dt: Time between two applications of actions here [s].
        step_dt: Control step here [s].

    Raises:
        BadInputError: If the policy's step is no whole multiple of ``call_dt``, or ``step_dt`` none of the policy's.
    """
    every, steps = 1.0 / policy_hz / call_dt, step_dt * policy_hz
    for ratio in (every, steps):
        if ratio < 0.999 or abs(ratio - round(ratio)) > 1e-3:
            raise BadInputError(
                f"the low-level policy acts at {policy_hz:g} Hz; here actions are taken at {1 / step_dt:g} Hz and "
                f"applied at {1 / call_dt:g} Hz: set control_hz={policy_hz:g}"
            )
    return round(every)


def _terms(group: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(term["func"]) for name, term in group.items() if isinstance(term, Mapping) and "func" in term}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
