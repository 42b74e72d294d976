"""Left and right exchanged: mirrored observations and actions of the humanoid as an index and a sign per number.

The mirror plane is the sagittal plane (x-z) of the heading frame: positions, velocities and axes flip y, angular
velocities flip x and z, and every body and joint changes places with its partner on the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import torch

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.mdp import observations

if TYPE_CHECKING:
    from tensordict import TensorDict

MirrorMap = tuple[torch.Tensor, torch.Tensor]
"""Index and sign: ``mirrored = value[:, index] * sign``."""

_POLAR, _AXIAL = torch.tensor([1.0, -1.0, 1.0]), torch.tensor([-1.0, 1.0, -1.0])


def body_state_map() -> MirrorMap:
    """Map of :func:`sportsuite.mdp.observations.body_features_h` for the 15 bodies, 223 numbers."""
    bodies = torch.tensor(spec.MIRROR_BODIES)
    count = len(bodies)
    index, sign, start = [torch.zeros(1, dtype=torch.long)], [torch.ones(1)], 1

    def add(order: torch.Tensor, per_body: int, flip: torch.Tensor) -> None:
        nonlocal start
        index.append(start + (order[:, None] * per_body + torch.arange(per_body)).flatten())
        sign.append(flip.repeat(len(order) * per_body // 3))
        start += len(order) * per_body

    add(bodies[1:] - 1, 3, _POLAR)
    add(bodies, 6, _POLAR)
    add(bodies, 3, _POLAR)
    add(bodies, 3, _AXIAL)
    assert start == 15 * count - 2
    return torch.cat(index), torch.cat(sign)


def joint_map() -> MirrorMap:
    """Map of joint angles, velocities, targets and actions in the order of the character's joints, 28 numbers."""
    return torch.tensor(spec.MIRROR_JOINTS), torch.tensor(spec.MIRROR_SIGNS)


def direction_map(dim: int) -> MirrorMap:
    """Map of a vector in the heading frame whose second number is sideways and whose others stay."""
    sign = torch.ones(dim)
    sign[1] = -1.0
    return torch.arange(dim), sign


def object_map() -> MirrorMap:
    """Map of :func:`sportsuite.mdp.observations.object_features_h`, 13 numbers, for an object that is its own image."""
    # a rotation's axis is mirrored as an angular velocity is
    return torch.arange(13), torch.cat((_POLAR, _AXIAL, torch.ones(1), _POLAR, _AXIAL))


TERM_MAPS: dict[Callable[..., torch.Tensor], Callable[[], MirrorMap]] = {
    observations.body_state_h: body_state_map,
    observations.object_state_h: object_map,
}
"""Map by observation function; a sport adds its own."""


def mirror_samples(
    env: Any, obs: TensorDict | None = None, actions: torch.Tensor | None = None
) -> tuple[TensorDict | None, torch.Tensor | None]:
    """Append the mirrored samples to a batch: rsl_rl's ``data_augmentation_func``.

    Args:
        env: The environment, wrapped or not. Its policy term maps must be known: each observation term is in
            :data:`TERM_MAPS` or its command term has a ``mirror_map``, the action is the 28 joints.
        obs: Observation groups of shape (n, dim); None to leave them out.
        actions: Shape (n, 28); None to leave them out.

    Returns:
        Groups of shape (2 n, dim) and actions of shape (2 n, 28).
    """
    mirrored_obs = mirrored_actions = None
    if obs is not None:
        from tensordict import TensorDict

        groups = {}
        for key in obs.keys():  # noqa: SIM118 (a TensorDict iterates over its rows)
            name, value = str(key), cast(torch.Tensor, obs[key])
            if name in _unmirrored(env):
                groups[name] = torch.cat((value, value))
                continue
            index, sign = group_map(env, name)
            groups[name] = torch.cat((value, value[:, index] * sign))
        mirrored_obs = TensorDict(groups, batch_size=[2 * obs.batch_size[0]])
    if actions is not None:
        index, sign = (part.to(actions.device) for part in joint_map())
        mirrored_actions = torch.cat((actions, actions[:, index] * sign))
    return mirrored_obs, mirrored_actions


def group_map(env: Any, group: str) -> MirrorMap:
    """Mirror map of a whole observation group, found once per environment and kept on it.

    Raises:
        BadInputError: If the mirror image of one of its terms isn't known.
    """
    base = env.unwrapped
    maps = base.__dict__.setdefault("_mirror_maps", {})
    if group not in maps:
        maps[group] = _build_group_map(base, group)
    return maps[group]


def _unmirrored(env: Any) -> tuple[str, ...]:
    # one-frame features of discriminators are never fed to actor or critic
    return ("prior",)


def _build_group_map(env: Any, group: str) -> MirrorMap:
    manager = env.observation_manager
    index, sign, start = [], [], 0
    for name, cfg in zip(manager.active_terms[group], manager._group_obs_term_cfgs[group], strict=True):
        part_index, part_sign = _term_map(env, f"{group}.{name}", cfg)
        index.append(part_index + start)
        sign.append(part_sign)
        start += len(part_index)
    return torch.cat(index).to(env.device), torch.cat(sign).to(env.device)


def _term_map(env: Any, name: str, cfg: Any) -> MirrorMap:
    if cfg.func in TERM_MAPS:
        return TERM_MAPS[cfg.func]()
    if "command_name" in cfg.params:
        term = env.command_manager.get_term(cfg.params["command_name"])
        if hasattr(term, "mirror_map"):
            return term.mirror_map()
    if getattr(cfg.func, "__name__", "") == "last_action":
        return joint_map()
    raise BadInputError(f"observation {name}: its mirror image is unknown; add it to sportsuite.mdp.symmetry.TERM_MAPS")
