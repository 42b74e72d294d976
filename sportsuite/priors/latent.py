"""A command term that holds a latent per world: what a low-level policy is told to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg
from isaaclab.utils import configclass

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedRLEnv

__all__ = ["LatentCommand", "LatentCommandCfg", "Sampler", "latent", "latent_window", "uniform_on_sphere"]

Sampler = Callable[[int], tuple[torch.Tensor, torch.Tensor | None]]
"""Draws latents (num, latent_dim) of unit length and, where windows are kept, their flat windows (num, numbers)."""


def uniform_on_sphere(num: int, dim: int, device: str | torch.device = "cpu") -> torch.Tensor:
    """Draw unit vectors, shape (num, dim)."""
    return torch.nn.functional.normalize(torch.randn(num, dim, device=device), dim=-1)


class LatentCommand(CommandTerm):
    """Unit vectors that are drawn at resets and, within an episode, after a random number of steps.

    :attr:`sampler` decides where they come from. By default they are uniform on the sphere (ASE). A learning algorithm
    may put its own there, which encodes random reference windows (CALM); the windows are then kept beside the latents.
    """

    cfg: LatentCommandCfg

    def __init__(self, cfg: LatentCommandCfg, env: ManagerBasedRLEnv):
        super().__init__(cfg, env)
        self.sampler: Sampler = self._draw
        """Source of latents; may be replaced."""
        self.latents = uniform_on_sphere(self.num_envs, cfg.latent_dim, self.device)
        """The latents in force, shape (num_envs, latent_dim)."""
        self._windows: torch.Tensor | None = None

    @property
    def command(self) -> torch.Tensor:
        """The latents in force, shape (num_envs, latent_dim)."""
        return self.latents

    @property
    def windows(self) -> torch.Tensor:
        """The windows the latents were drawn for, flat: (num_envs, kept frames * features)."""
        if self._windows is None:
            # the reference's number of features isn't known before it is asked for the first time; what is made in a
            # rollout's inference mode couldn't be written to at a reset outside of one
            with torch.inference_mode(False):
                self._windows = self.draw_windows(self.num_envs).clone()
        return self._windows

    def draw_windows(self, num: int) -> torch.Tensor:
        """Draw reference windows, every ``window_stride``-th frame of them, flat: (num, kept frames * features)."""
        windows = self._env.unwrapped.reference_windows(num, self.cfg.window_frames)  # type: ignore[attr-defined]
        return strided(windows, self.cfg.window_stride)

    def refresh(self, encode: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Encode the windows again, because the encoder has changed.

        Args:
            encode: From flat windows (num_envs, numbers) to unit vectors (num_envs, latent_dim).
        """
        self.latents.copy_(encode(self.windows))

    def _draw(self, num: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        windows = self.draw_windows(num) if self.cfg.window_frames else None
        return uniform_on_sphere(num, self.cfg.latent_dim, self.device), windows

    def _resample(self, env_ids: Sequence[int] | slice) -> None:
        ids = torch.arange(self.num_envs, device=self.device)[env_ids]
        if len(ids) == 0:
            return
        low, high = self.cfg.hold_steps
        steps = torch.randint(low, high + 1, (len(ids),), device=self.device)
        # half a step less: the base class counts down in seconds, and the sum of many steps isn't exact
        self.time_left[ids] = (steps - 0.5) * self._env.step_dt
        self._resample_command(ids)
        self.command_counter[ids] += 1

    def _resample_command(self, env_ids: torch.Tensor) -> None:  # type: ignore[override]
        latents, windows = self.sampler(len(env_ids))
        self.latents[env_ids] = latents.to(self.device)
        if windows is not None:
            self.windows[env_ids] = windows.to(self.device)

    def _update_metrics(self) -> None:
        """There are none."""

    def _update_command(self) -> None:
        """A latent stays until it is drawn again."""


@configclass
class LatentCommandCfg(CommandTermCfg):
    """Config of :class:`LatentCommand`."""

    class_type: type = LatentCommand

    resampling_time_range: tuple[float, float] = (0.0, 0.0)
    """Not used: :attr:`hold_steps` counts control steps, as the texts do."""

    latent_dim: int = 64
    """Size of the latent; ASE's and CALM's."""

    hold_steps: tuple[int, int] = (10, 150)
    """Fewest and most control steps that a latent is in force; CALM's at 30 Hz, ASE's are 1 and 150."""

    window_frames: int = 0
    """Control steps of a reference window that belongs to a latent: 60 for CALM (2 s at 30 Hz), 0 for none."""

    window_stride: int = 4
    """Of a window, every so many frames are kept (ours: CALM keeps all; 15 frames in 2 s show the same motion and keep
    the rollout's memory small)."""


def strided(windows: torch.Tensor, stride: int) -> torch.Tensor:
    """Keep every ``stride``-th frame of windows (num, frames, dim), flat: (num, kept frames * dim)."""
    return windows[:, ::stride].flatten(1)


def latent(env: ManagerBasedRLEnv, command_name: str) -> torch.Tensor:
    """Observation: the latent in force, shape (num_envs, latent_dim)."""
    return env.command_manager.get_command(command_name)


def latent_window(env: ManagerBasedRLEnv, command_name: str) -> torch.Tensor:
    """Observation: the reference window that the latent stands for, flat, shape (num_envs, kept frames * features)."""
    term = env.command_manager.get_term(command_name)
    assert isinstance(term, LatentCommand)
    return term.windows
