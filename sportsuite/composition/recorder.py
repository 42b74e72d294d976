"""Fills state buffers: plays a policy and takes down states at chosen moments."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import torch

import sportsuite
from sportsuite.composition.state_buffer import StateBuffer, capture_states, concatenate
from sportsuite.errors import BadInputError, SportSuiteError, unknown_name

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv
    from sportsuite.learning.policy import Policy

__all__ = ["MOMENTS", "Moment", "at_touch", "every_step", "moment_of", "record_states"]

Moment = Callable[["SportEnv"], torch.Tensor]
"""Says in which worlds the state is taken down, from the environment after a step. Returns (num_envs,), bool."""

_DISTRIBUTIONS = ("isaaclab", "newton", "mujoco", "torch", "numpy")


def every_step(env: SportEnv) -> torch.Tensor:
    """Every step (PhysicsFC: the Dribble buffer). Shape is (num_envs,), bool."""
    return torch.ones(env.num_envs, dtype=torch.bool, device=env.device)


def at_touch(env: SportEnv) -> torch.Tensor:
    """Steps in which the ball touches the character (PhysicsFC: the Trap buffer). Shape is (num_envs,), bool.

    Raises:
        BadInputError: If the task has no ball.
    """
    if env.cfg.ball_name is None:
        raise BadInputError("when=touch: the task has no ball; expected when=step")
    return env.touch.touched.any(dim=1)


MOMENTS: dict[str, Moment] = {"step": every_step, "touch": at_touch}
"""Moments by the name under which they are asked for."""


def moment_of(name: str) -> Moment:
    """Find a moment: a name of :data:`MOMENTS`, or a function as ``"module:attribute"``.

    Raises:
        BadInputError: If there is none.
    """
    if ":" not in name:
        if name not in MOMENTS:
            raise unknown_name("moment", name, [*MOMENTS, "module:function"])
        return MOMENTS[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInputError(f"moment {name!r}: {error}") from None
    if not callable(found):
        raise BadInputError(f"moment {name!r}: expected a function of the environment, got {type(found).__name__}")
    return cast(Moment, found)


def record_states(
    env: Any,
    policy: Policy,
    count: int,
    seed: int,
    when: str = "step",
    centre: bool = False,
    patience_s: float = 60.0,
    progress: Callable[[int, int], None] = lambda done, wanted: None,
) -> StateBuffer:
    """Play a policy until ``count`` states are taken down. Steps in which an episode ends are left out.

    Args:
        env: The environment, not wrapped.
        policy: The policy.
        count: How many states.
        seed: Seed of the environment.
        when: The moment, see :func:`moment_of`.
        centre: See :func:`~sportsuite.composition.state_buffer.capture_states`.
        patience_s: Simulated time without a single such moment after which it is given up [s] (ours).
        progress: Called after every step with the states done and wanted.

    Raises:
        BadInputError: If the moment is unknown.
        SportSuiteError: If it never comes.
    """
    moment = moment_of(when)
    parts: list[StateBuffer] = []
    done_count = waited = 0
    obs, _ = env.reset(seed=seed)
    while done_count < count:
        obs, _, terminated, truncated, _ = env.step(policy(obs))
        ended = terminated | truncated
        policy.reset(ended)
        ids = (moment(env) & ~ended).nonzero().squeeze(-1)
        waited = 0 if len(ids) else waited + 1
        if waited * env.step_dt > patience_s:
            raise SportSuiteError(
                f"{done_count} of {count} states: the moment {when!r} did not come in {patience_s:g} s of play"
            )
        if len(ids) > count - done_count:
            # a random part, so that the last step favours no world
            ids = ids[torch.randperm(len(ids), device=ids.device)[: count - done_count]]
        if len(ids):
            parts.append(capture_states(env, ids, centre))
            done_count += len(ids)
        progress(done_count, count)
    return concatenate(parts, _provenance(env, policy.about, seed, when, centre))


def _provenance(env: SportEnv, policy: Mapping[str, Any], seed: int, when: str, centre: bool) -> dict[str, Any]:
    from importlib.metadata import version

    names = ("kind", "file", "sha256", "task", "iteration", "samples", "seed")
    spec = getattr(env, "spec", None)
    return {
        "task": getattr(spec, "id", "") or "",
        "policy": {name: policy[name] for name in names if name in policy},
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "when": when,
        "centred": centre,
        "control_hz": env.cfg.control_hz,
        "physics_hz": env.cfg.physics_hz,
        "machine": platform.machine(),
        "versions": {"sportsuite": sportsuite.__version__} | {name: version(name) for name in _DISTRIBUTIONS},
    }
