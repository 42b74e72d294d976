"""DEGCL: pairs of a movement goal and the latent of a clip that shows how it is reached (PhysicsFC).

A file is built once, from labelled clips through the encoder of a low-level policy::

    write_goal_latents("degcl.npz", *goal_latents(clips, "prior.pt"))

and given to Move as ``env.commands.move.degcl=degcl.npz``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sportsuite.errors import BadInputError
from sportsuite.learning.policy import load_actor
from sportsuite.mdp.frames import heading_from_quat, rotate_to_heading
from sportsuite.motion.clip import Clip
from sportsuite.motion.library import MotionLibrary
from sportsuite.motion.npz import read_npz, write_npz
from sportsuite.priors.latent import strided

WINDOWS_PER_CLIP = 8
"""Windows that are encoded of each clip (ours): the text says "the clip's latent", the encoder sees 2 s of it."""


@dataclass(frozen=True)
class GoalLatents:
    """Goals and the latents of the motion that reaches them, M rows.

    Attributes:
        velocity_h: Mean horizontal velocity of the root in its heading frame [m/s]. Shape is (M, 2).
        facing_h: Facing in the same frame, unit vectors. Shape is (M, 2); (1, 0) where the frame is the heading's.
        latents: Unit vectors. Shape is (M, latent size).
    """

    velocity_h: torch.Tensor
    facing_h: torch.Tensor
    latents: torch.Tensor


def clip_goal(clip: Clip) -> tuple[np.ndarray, np.ndarray]:
    """Goal that a clip is an example of.

    Args:
        clip: A clip that keeps its gait throughout.

    Returns:
        Mean horizontal velocity in the heading frame [m/s], shape (2,), and the facing in that frame, (1, 0).
    """
    quat = torch.as_tensor(clip.root_quat, dtype=torch.float)
    velocity = torch.as_tensor(np.gradient(clip.root_pos, 1.0 / clip.fps, axis=0), dtype=torch.float)
    mean = rotate_to_heading(velocity, heading_from_quat(quat)).mean(dim=0)
    return mean[:2].numpy(), np.array([1.0, 0.0], dtype=np.float32)


def encode_clips(
    clips: Sequence[Clip], encoder: Any, frames: int, stride: int, dt: float, windows: int = WINDOWS_PER_CLIP
) -> GoalLatents:
    """Encode windows of clips that are spread evenly over each.

    Args:
        clips: Labelled clips of the character.
        encoder: Maps flat windows (n, kept frames * features) to unit vectors (n, latent size).
        frames: Frames per window before the stride.
        stride: Every so many of them are kept.
        dt: Time between frames [s].
        windows: Windows per clip.

    Returns:
        ``len(clips) * windows`` rows, clip by clip.
    """
    library = MotionLibrary(list(clips))
    index = torch.arange(len(clips)).repeat_interleave(windows)
    share = torch.linspace(0.0, 1.0, windows).repeat(len(clips))
    times = share * (library.durations[index] - (frames - 1) * dt).clamp_min(0.0)
    with torch.no_grad():
        latents = encoder(strided(library.windows(index, times, frames, dt), stride))
    goals = [clip_goal(clip) for clip in clips]
    velocity, facing = (torch.as_tensor(np.stack(part), dtype=torch.float) for part in zip(*goals, strict=True))
    return GoalLatents(velocity[index], facing[index], latents)


def goal_latents(clips: Sequence[Clip], checkpoint: str | Path, windows: int = WINDOWS_PER_CLIP) -> GoalLatents:
    """Encode clips with the encoder of a low-level policy.

    Args:
        clips: Labelled clips of the character: walks and runs ahead, back, sideways and diagonally (PhysicsFC: 16).
        checkpoint: Checkpoint of a policy trained with ``calm_cfg``.
        windows: Windows per clip.

    Raises:
        BadInputError: If the file can't be read or its policy has no encoder.
    """
    actor, about = load_actor(checkpoint)
    encoder = getattr(actor, "encoder", None)
    if encoder is None:
        raise BadInputError(f"policy {checkpoint} has no encoder of motions: train one with calm_cfg")
    command = _window_command(about["env_cfg"], checkpoint)
    control_hz = about["env_cfg"].get("control_hz", 30.0)
    return encode_clips(clips, encoder, command["window_frames"], command["window_stride"], 1.0 / control_hz, windows)


def write_goal_latents(path: str | Path, pairs: GoalLatents) -> None:
    """Write pairs to an npz file in one step."""
    goals = torch.cat((pairs.velocity_h, pairs.facing_h), dim=1)
    write_npz(path, {"goals": goals.cpu().numpy(), "latents": pairs.latents.cpu().numpy()})


def load_goal_latents(path: str | Path, device: str = "cpu") -> GoalLatents:
    """Load pairs.

    Args:
        path: An npz file with ``goals`` (M, 4), velocity [m/s] and facing in the heading frame, and ``latents`` (M, L).
        device: Torch device.

    Raises:
        BadInputError: If the file can't be read or holds something else.
    """
    arrays = read_npz(path, "DEGCL file")
    for name in ("goals", "latents"):
        if name not in arrays or arrays[name].ndim != 2:
            raise BadInputError(f"DEGCL file {path}: expected a table {name!r}, it has {', '.join(sorted(arrays))}")
    goals, latents = (torch.as_tensor(arrays[name], dtype=torch.float, device=device) for name in ("goals", "latents"))
    if goals.shape[1] != 4 or len(goals) != len(latents) or len(goals) == 0:
        raise BadInputError(
            f"DEGCL file {path}: goals {tuple(goals.shape)} and latents {tuple(latents.shape)}: expected (M, 4), (M, L)"
        )
    return GoalLatents(goals[:, :2], goals[:, 2:], torch.nn.functional.normalize(latents, dim=1))


def _window_command(env_cfg: dict[str, Any], checkpoint: str | Path) -> dict[str, Any]:
    commands = (env_cfg.get("commands") or {}).values()
    found = [command for command in commands if isinstance(command, dict) and command.get("window_frames")]
    if not found:
        raise BadInputError(f"policy {checkpoint}: its training had no command with window_frames")
    return found[0]
