"""Recorded states of character and ball, from which other skills start their episodes.

PhysicsFC starts a skill where its predecessors hand over ("skill transition-based state initialisation", STI): 50,000
states of Move, Trap and Dribble each. A buffer is one npz file without pickled objects: arrays with one row per state,
and ``about``, a JSON text that says where they come from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sportsuite.characters.spec import JOINT_NAMES
from sportsuite.errors import BadInputError
from sportsuite.motion.npz import read_npz, write_npz

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv

__all__ = ["FORMAT", "GRID_M", "StateBuffer", "capture_states", "concatenate", "read_buffer", "write_buffer"]

FORMAT = 1
"""Version of the file. A later sportsuite reads earlier formats, not the other way round."""

GRID_M = 2.0**-14
"""Positions are whole multiples of this [m]. Adding the origin of a world is then exact in single precision up to
1,024 m from the centre of the scene, so that a state replays bit for bit in every world; 0.06 mm is far below what
contacts give way."""

_WHAT = "state buffer"
_EXTRA = "extra."
_WIDTHS = {
    "root_pose": 7,
    "root_velocity": 6,
    "joint_pos": len(JOINT_NAMES),
    "joint_vel": len(JOINT_NAMES),
    "ball_pose": 7,
    "ball_velocity": 6,
}
_OPTIONAL = ("ball_pose", "ball_velocity")


@dataclass(frozen=True)
class StateBuffer:
    """States, one row each, and where they come from. Quaternions are xyzw, velocities in the world frame."""

    root_pose: torch.Tensor
    """Root link: position relative to the origin of its world [m] (3), orientation (4). Shape is (S, 7)."""
    root_velocity: torch.Tensor
    """Linear velocity of the root's centre of mass [m/s] (3), angular velocity [rad/s] (3). The centre of mass is what
    the simulators keep: the link's velocity would not come back bit for bit. Shape is (S, 6)."""
    joint_pos: torch.Tensor
    """Joint angles in the order of the character's joints [rad]. Shape is (S, 28)."""
    joint_vel: torch.Tensor
    """Joint velocities [rad/s]. Shape is (S, 28)."""
    ball_pose: torch.Tensor | None = None
    """Ball like :attr:`root_pose`, None where there is none. Shape is (S, 7)."""
    ball_velocity: torch.Tensor | None = None
    """Ball like :attr:`root_velocity`. Shape is (S, 6)."""
    extras: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """What else a sport keeps per state, by name. Shape is (S, ...)."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Provenance: ``task``, ``policy`` (``sha256`` and more), ``recorded`` (UTC), ``seed``, ``when``, ``versions``."""

    def __len__(self) -> int:
        return len(self.root_pose)

    def rows(self, index: torch.Tensor) -> StateBuffer:
        """Return some states.

        Args:
            index: Which, shape (n,), long, or a mask of shape (S,), bool.
        """
        return self._map(lambda value: value[index])

    def to(self, device: str | torch.device) -> StateBuffer:
        """Return the states on a device."""
        return self._map(lambda value: value.to(device))

    def _map(self, change: Any) -> StateBuffer:
        changed = {name: None if value is None else change(value) for name, value in _states(self).items()}
        return replace(self, extras={name: change(value) for name, value in self.extras.items()}, **changed)


def capture_states(
    env: SportEnv, ids: torch.Tensor, centre: bool = False, extras: Mapping[str, torch.Tensor] | None = None
) -> StateBuffer:
    """Take down the states of some worlds.

    Args:
        env: The environment, with a character ``robot`` and, if ``env.cfg.ball_name`` is set, a ball.
        ids: Worlds, shape (n,), long.
        centre: Move each state horizontally so that the root is above the origin of its world. For endless grounds: a
            state recorded from a state replayed would otherwise drift away with every generation.
        extras: More numbers per world, shape (num_envs, ...).
    """
    robot = env.scene["robot"].data
    origins = env.scene.env_origins[ids]
    root_pose = robot.root_link_pose_w.torch[ids].clone()
    shift = origins.clone()
    if centre:
        shift[:, :2] = root_pose[:, :2]
    ball_pose = ball_velocity = None
    if env.cfg.ball_name is not None:
        ball = env.scene[env.cfg.ball_name].data
        ball_pose = _moved(ball.root_link_pose_w.torch[ids].clone(), shift)
        ball_velocity = ball.root_com_vel_w.torch[ids].clone()
    return StateBuffer(
        root_pose=_moved(root_pose, shift),
        root_velocity=robot.root_com_vel_w.torch[ids].clone(),
        joint_pos=robot.joint_pos.torch[ids].clone(),
        joint_vel=robot.joint_vel.torch[ids].clone(),
        ball_pose=ball_pose,
        ball_velocity=ball_velocity,
        extras={name: value[ids].clone() for name, value in (extras or {}).items()},
    )


def concatenate(parts: Sequence[StateBuffer], about: Mapping[str, Any]) -> StateBuffer:
    """Join buffers of the same content.

    Args:
        parts: At least one.
        about: Provenance of the whole.
    """
    columns = {
        name: None if value is None else torch.cat([getattr(part, name) for part in parts])
        for name, value in _states(parts[0]).items()
    }
    extras = {name: torch.cat([part.extras[name] for part in parts]) for name in parts[0].extras}
    return StateBuffer(**columns, extras=extras, about=about)  # type: ignore[arg-type]


def write_buffer(path: str | Path, buffer: StateBuffer) -> None:
    """Write a buffer; its name never stands for half a file.

    Args:
        path: Where to, ending in ``.npz``.
        buffer: At least one state.

    Raises:
        BadInputError: If nothing can be written there.
    """
    about = dict(buffer.about) | {"quat_order": "xyzw", "states": len(buffer)}
    arrays = {
        "format": np.array(FORMAT),
        "about": np.array(json.dumps(about)),
        "joint_names": np.array(JOINT_NAMES),
    }
    arrays |= {name: value.cpu().numpy() for name, value in _states(buffer).items() if value is not None}
    arrays |= {_EXTRA + name: value.cpu().numpy() for name, value in buffer.extras.items()}
    write_npz(path, arrays)


def read_buffer(path: str | Path, device: str | torch.device = "cpu") -> StateBuffer:
    """Read a buffer and make sure that it is whole and of this character.

    Args:
        path: The file.
        device: Where its tensors are put.

    Raises:
        BadInputError: If the file is missing, damaged, of another kind, format or character, or holds values that are
            not finite.
    """
    arrays = read_npz(path, _WHAT)
    about = _about(path, arrays)
    states = {name: _column(path, arrays, name) for name in _WIDTHS}
    extras = {name.removeprefix(_EXTRA): arrays[name] for name in arrays if name.startswith(_EXTRA)}
    _check_rows(path, {**states, **{_EXTRA + name: value for name, value in extras.items()}})
    tensors = {name: None if value is None else torch.from_numpy(value).to(device) for name, value in states.items()}
    more = {name: torch.from_numpy(value).to(device) for name, value in extras.items()}
    return StateBuffer(**tensors, extras=more, about=about)  # type: ignore[arg-type]


def _states(buffer: StateBuffer) -> dict[str, torch.Tensor | None]:
    return {entry.name: getattr(buffer, entry.name) for entry in fields(buffer) if entry.name in _WIDTHS}


def _moved(pose: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    pose[:, :3] = ((pose[:, :3] - shift) / GRID_M).round() * GRID_M
    return pose


def _about(path: str | Path, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    missing = [name for name in ("format", "about", "joint_names", *_WIDTHS) if name not in arrays]
    missing = [name for name in missing if name not in _OPTIONAL]
    if missing:
        raise BadInputError(f"{_WHAT} {path}: expected an array {missing[0]!r}, found {', '.join(arrays) or 'none'}")
    number = arrays["format"]
    if number.shape != () or not np.issubdtype(number.dtype, np.integer) or not 1 <= int(number) <= FORMAT:
        raise BadInputError(f"{_WHAT} {path}: format {number}, this sportsuite reads 1 to {FORMAT}")
    names = tuple(str(name) for name in arrays["joint_names"].ravel())
    if names != JOINT_NAMES:
        raise BadInputError(
            f"{_WHAT} {path}: expected the character's {len(JOINT_NAMES)} joints in their order, found {len(names)}: "
            f"{', '.join(names[:3])}, ..."
        )
    try:
        about = json.loads(str(arrays["about"][()]))
    except (ValueError, IndexError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise BadInputError(f"{_WHAT} {path}: 'about' is no JSON object")
    if about.get("quat_order") != "xyzw":
        raise BadInputError(f"{_WHAT} {path}: quaternion order {about.get('quat_order')!r}, expected 'xyzw'")
    return about


def _column(path: str | Path, arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray | None:
    if name not in arrays:
        return None
    value, width = arrays[name], _WIDTHS[name]
    if value.dtype != np.float32 or value.ndim != 2 or value.shape[1] != width:
        raise BadInputError(
            f"{_WHAT} {path}: {name} has shape {value.shape} and type {value.dtype}, expected (states, {width}) float32"
        )
    if not np.isfinite(value).all():
        row = int((~np.isfinite(value)).any(axis=1).argmax())
        raise BadInputError(f"{_WHAT} {path}: {name} of state {row} is not finite")
    return value


def _check_rows(path: str | Path, columns: Mapping[str, np.ndarray | None]) -> None:
    present = {name: value for name, value in columns.items() if value is not None}
    if ("ball_pose" in present) != ("ball_velocity" in present):
        raise BadInputError(f"{_WHAT} {path}: expected both ball_pose and ball_velocity, or neither")
    counts = {name: len(value) if value.ndim else 0 for name, value in present.items()}
    for name, count in counts.items():
        if count != counts["root_pose"] or count == 0:
            raise BadInputError(
                f"{_WHAT} {path}: {name} has {count} rows and root_pose {counts['root_pose']}; expected as many, and "
                "at least one"
            )
        if present[name].dtype.kind not in "fiub":
            raise BadInputError(f"{_WHAT} {path}: {name} has type {present[name].dtype}, expected numbers")
    for name in ("root_pose", "ball_pose"):
        if name in present and (np.abs(np.linalg.norm(present[name][:, 3:], axis=1) - 1.0) > 1e-3).any():
            raise BadInputError(f"{_WHAT} {path}: {name} holds quaternions that aren't of length 1")
