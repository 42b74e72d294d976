"""``gym.make`` for every task: works with nothing said; takes a config, worlds, a device, a backend and a seed."""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sportsuite.errors import BadInputError, nearest, unknown_name

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv
    from sportsuite.envs.sport_env_cfg import SportEnvCfg

logger = logging.getLogger(__name__)

FEW_ENVS = 4
"""Worlds that ``gym.make(id)`` builds when nothing is said: enough to look at, quick on a laptop (ours)."""

_REGISTRATION = ("default_agent", "sport", "task_id")
"""What the registration passes along besides config entry points."""

_OPTIONS = ("cfg", "render_mode", "num_envs", "device", "physics", "seed", "overrides", "play")


def make_env(
    cfg: SportEnvCfg | None = None,
    render_mode: str | None = None,
    *,
    env_cfg_entry_point: str | None = None,
    num_envs: int | None = None,
    device: str | None = None,
    physics: str | None = None,
    seed: int | None = None,
    overrides: Iterable[str] = (),
    play: bool = False,
    **kwargs: Any,
) -> SportEnv:
    """Build the environment of a task.

    Args:
        cfg: Config to use as it is, but for the options below. By default the task's own, with a few worlds.
        render_mode: ``"rgb_array"`` makes ``env.render()`` return frames.
        env_cfg_entry_point: ``"module:attr"`` of the task's config, filled in by the registration.
        num_envs: Number of worlds.
        device: ``"cpu"``, ``"cuda:0"``, ...; by default the GPU if there is one.
        physics: Name of a physics preset; by default ``mujoco_cpu`` on a CPU and ``newton_mjwarp`` on a GPU.
        seed: Seed of all random draws. On a CPU it reproduces a run bit for bit.
        overrides: ``"path.to.field=value"`` strings.
        play: Apply the config's play mode (few worlds, no observation noise).
        **kwargs: More overrides: fields of the config, as ``physics_hz=240`` or ``**{"rewards.before.weight": 0.5}``.

    Returns:
        The environment, already batched: do not vectorise it again.

    Raises:
        BadInputError: If an option, a preset or an override is unknown or has a wrong value.
        SportSuiteError: If this process already has an environment.
    """
    fresh = cfg is None
    cfg = load_env_cfg(env_cfg_entry_point, physics) if cfg is None else resolve_physics(cfg, physics)
    more_overrides = _keyword_overrides(kwargs, cfg)
    if play:
        cfg.play_mode()
    _apply_options(
        cfg, FEW_ENVS if fresh and num_envs is None else num_envs, usable_device(device) if fresh or device else None
    )
    if seed is not None:
        cfg.seed = _whole_number("seed", seed, 0)
    from sportsuite.envs.overrides import apply_overrides
    from sportsuite.envs.sport_env import SportEnv

    apply_overrides(cfg, [overrides] if isinstance(overrides, str) else overrides)
    apply_overrides(cfg, more_overrides)
    with captured_prints():
        return SportEnv(cfg, render_mode=render_mode)


def load_env_cfg(entry_point: str | None, physics: str | None = None) -> SportEnvCfg:
    """Load a task's config from ``"module:attr"`` and resolve its presets."""
    if entry_point is None:
        raise BadInputError("make_env: expected cfg= or a registered task; use gym.make('SportSuite-...')")
    module, _, attribute = entry_point.partition(":")
    return resolve_physics(getattr(importlib.import_module(module), attribute)(), physics)


def resolve_physics(cfg: SportEnvCfg, physics: str | None) -> SportEnvCfg:
    """Choose a physics preset, and every other preset's default.

    Raises:
        BadInputError: If the task has no preset of that name, or the config's presets are already resolved to another.
    """
    from isaaclab_tasks.utils import PresetCfg, resolve_presets

    choice = cfg.sim.physics
    if physics is not None:
        if not isinstance(choice, PresetCfg):
            raise BadInputError(f"physics={physics!r}: this config already has a backend ({type(choice).__name__})")
        names = [name for name in type(choice).__dataclass_fields__ if name != "default"]
        if physics not in names:
            raise unknown_name("physics preset", physics, names)
    resolved = resolve_presets(cfg, () if physics is None else (physics,))
    assert resolved is not None
    return resolved


def _apply_options(cfg: SportEnvCfg, num_envs: int | None, device: str | None) -> None:
    if num_envs is not None:
        cfg.scene.num_envs = _whole_number("num_envs", num_envs, 1)
    if device is not None:
        cfg.sim.device = device


def _whole_number(name: str, value: Any, minimum: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise BadInputError(f"{name}={value!r}: expected a whole number of at least {minimum}")
    return value


def check_device(device: str) -> None:
    """Refuse what is no device, usable here or not; needs no torch.

    Raises:
        BadInputError: Names the value and what was expected.
    """
    if device.partition(":")[0] not in ("cpu", "cuda"):
        raise BadInputError(f"device {device!r}: expected 'cpu' or 'cuda:N'")


def usable_device(device: str | None) -> str:
    """Return the device to run on: the one asked for, or the first GPU if there is one.

    Raises:
        BadInputError: If it is no device, or not usable here.
    """
    if device is not None:
        check_device(device)
    import torch

    has_cuda = torch.cuda.is_available()
    if device is None:
        return "cuda:0" if has_cuda else "cpu"
    if device.startswith("cuda") and not has_cuda:
        raise BadInputError(f"device {device!r}: no CUDA device is usable here; nearest: 'cpu'")
    return device


def _keyword_overrides(kwargs: dict[str, Any], cfg: SportEnvCfg) -> dict[str, Any]:
    """Split overrides off the registration's own entries; anything else is a misspelt option."""
    fields = [name for name in type(cfg).__dataclass_fields__ if not name.startswith("_")]
    chosen = {}
    for name, value in kwargs.items():
        if "." in name or name in fields:
            chosen[name] = value
        elif not (name.endswith("cfg_entry_point") or name in _REGISTRATION):
            near = nearest(name, (*_OPTIONS, *fields))
            hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(_OPTIONS)} and the config's fields"
            raise BadInputError(f"gym.make: unknown option {name!r}; {hint}")
    return chosen


@contextlib.contextmanager
def captured_prints() -> Iterator[None]:
    """Turn Isaac Lab's start-up tables into debug log records: standard output belongs to the caller."""
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            yield
    finally:
        if text.getvalue():
            logger.debug("%s", text.getvalue())
