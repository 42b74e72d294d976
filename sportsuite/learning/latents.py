"""What latents add to PPO's update: ASE's diversity, and CALM's encoder that learns with the policy."""

from __future__ import annotations

from typing import Any

import torch
from isaaclab.utils import configclass

from sportsuite.learning.update_hooks import Batch
from sportsuite.priors.encoder import SphereEncoder, alignment_loss, diversity_loss, uniformity_loss
from sportsuite.priors.latent import LatentCommand, strided, uniform_on_sphere

__all__ = ["EncodedWindows", "LatentDiversity", "WindowEncoderCfg"]


@configclass
class WindowEncoderCfg:
    """Numbers of CALM's encoder, which is part of the actor."""

    command: str = "latent"
    """The env's :class:`~sportsuite.priors.latent.LatentCommand`; its ``window_frames`` is not 0."""

    window_group: str = "latent_window"
    """Observation group with the window that a latent stands for."""

    hidden_dims: list[int] = [256, 128]
    """Hidden layers; CALM uses [1024, 1024, 512]."""

    weight: float = 0.1
    """Factor on the sum of alignment and uniformity; CALM's."""

    uniformity: float = 0.5
    """Weight of the uniformity loss beside the alignment loss; CALM's."""

    shift: int = 15
    """Most control steps between two windows that are to have the same latent; CALM's 0.5 s at 30 Hz."""

    batch_size: int = 256
    """Windows per minibatch for the two losses (ours)."""


class LatentDiversity:
    """ASE's diversity loss of the policy.

    Args:
        coefficient: Weight of the loss; ASE's is 0.01.
        group: Observation group of the latent.
    """

    def __init__(self, coefficient: float, group: str) -> None:
        self._coefficient, self._group = coefficient, group

    def __call__(self, actor: Any, batch: Batch, original_batch_size: int) -> torch.Tensor:
        """Return the loss of a batch, a scalar."""
        obs = batch.observations[:original_batch_size]  # type: ignore[index]
        latents = obs[self._group]
        others = uniform_on_sphere(*latents.shape, device=latents.device)
        changed = obs.clone(recurse=False)
        changed[self._group] = others
        here = actor.output_mean[:original_batch_size]
        return self._coefficient * diversity_loss(here, actor(changed), latents, others)


class EncodedWindows:
    """Latents that an encoder makes of reference windows, while that encoder learns with the policy (CALM).

    In the rollout, latents come from :meth:`sample`. In the update, :meth:`encode_again` puts the same windows through
    the encoder with gradients on, so that the losses of policy and critic reach it.

    Args:
        cfg: The numbers.
        encoder: The encoder.
        base: The unwrapped environment.
        frames: Frames of a discriminator's window.
        group: Observation group of the latent.
        device: Torch device of the learner.
    """

    def __init__(
        self, cfg: WindowEncoderCfg, encoder: SphereEncoder, base: Any, frames: int, group: str, device: str
    ) -> None:
        self._cfg, self._encoder, self._base, self._frames, self._group = cfg, encoder, base, frames, group
        self._device = device
        self._term: LatentCommand = base.command_manager.get_term(cfg.command)
        self._term.sampler = self.sample
        self.refresh()

    @torch.no_grad()
    def sample(self, num: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw latents (num, latent_dim) of random reference windows, and those windows, flat."""
        windows = self._term.draw_windows(num).to(self._device)
        return self._encoder(windows), windows

    @torch.no_grad()
    def refresh(self) -> None:
        """Bring the env's latents up to date with the encoder, so that rollout and update agree."""
        self._term.refresh(lambda windows: self._encoder(windows.to(self._device)).to(windows.device))

    @torch.no_grad()
    def reference(self, num: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw reference windows (num, frames, dim) and the latents (num, latent_dim) of the longer ones around them.

        The latents carry no gradient: the discriminator doesn't shape the encoder.
        """
        long = self._draw(num, self._term.cfg.window_frames)
        first = torch.randint(long.shape[1] - self._frames + 1, (num, 1), device=long.device)
        at = first + torch.arange(self._frames, device=long.device)
        short = long.gather(1, at.unsqueeze(-1).expand(-1, -1, long.shape[-1]))
        return short, self._encode(long)

    def encode_again(self, batch: Batch) -> None:
        """Replace a batch's latents by those of its windows, with gradients on."""
        obs = batch.observations
        obs[self._group] = self._encoder(obs[self._cfg.window_group])  # type: ignore[index]

    def loss(self, actor: Any, batch: Batch, original_batch_size: int) -> torch.Tensor:
        """Return the weighted alignment and uniformity losses of random reference windows, a scalar."""
        frames, shift = self._term.cfg.window_frames, self._cfg.shift
        with torch.no_grad():
            long = self._draw(self._cfg.batch_size, frames + shift)
        first = self._encode(long[:, :frames])
        # one shift for the whole minibatch: there are dozens of minibatches per rollout
        offset = int(torch.randint(shift + 1, ()))
        second = self._encode(long[:, offset : offset + frames])
        return self._cfg.weight * (alignment_loss(first, second) + self._cfg.uniformity * uniformity_loss(first))

    def learn_statistics(self) -> None:
        """Let the encoder's input normaliser see reference frames."""
        with torch.no_grad():
            windows = self._draw(self._cfg.batch_size, self._term.cfg.window_frames)
        self._encoder.normalizer.update(windows.flatten(0, 1))

    def _draw(self, num: int, frames: int) -> torch.Tensor:
        return self._base.reference_windows(num, frames).to(self._device)

    def _encode(self, windows: torch.Tensor) -> torch.Tensor:
        return self._encoder(strided(windows, self._term.cfg.window_stride))
