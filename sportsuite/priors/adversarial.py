"""An adversarial prior: a discriminator with its own optimizer, replay buffer and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import torch
from isaaclab.utils import configclass

from sportsuite.priors.discriminator import Discriminator, Objective, realness, style_reward
from sportsuite.priors.replay import Replay
from sportsuite.priors.windows import Rollout

__all__ = [
    "AdversarialPrior",
    "DiscriminatorCfg",
    "Prior",
    "Reference",
    "Sync",
    "discriminator_figures",
    "mean_where_invalid",
]

Reference = Callable[[int], tuple[torch.Tensor, torch.Tensor | None]]
"""Draws reference windows (count, frames, dim) and the latents (count, latent_dim) they belong to, or None."""

Sync = Callable[[Iterable[torch.nn.Parameter]], None]
"""Averages gradients over the processes of a distributed training; does nothing in a single one."""


class Prior(Protocol):
    """What a learning algorithm knows of a motion prior."""

    @property
    def model(self) -> torch.nn.Module:
        """Its network."""
        ...

    def rewards(self, rollout: Rollout) -> torch.Tensor:
        """Return the reward of every step, not yet multiplied by the step time, shape (steps, num_envs)."""
        ...

    def update(self, rollout: Rollout, reference: Reference, sync: Sync) -> dict[str, float]:
        """Learn from a rollout with at least one valid window; returns figures by name."""
        ...

    def state(self, with_replay: bool) -> dict[str, Any]:
        """Return everything that resuming needs, as tensors and plain types."""
        ...

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned."""
        ...


_SATURATED_ACCURACY, _SATURATED_REALNESS = 0.98, 0.02
"""A discriminator that is right this often and gives the policy's motion this little is saturated: its reward says
nothing about what would be better (ours)."""

_COLLAPSED_SPREAD = 0.01
"""Standard deviation of all scores below which the discriminator has collapsed to a constant (ours)."""


@configclass
class DiscriminatorCfg:
    """Numbers of one discriminator. Those without another origin are AMP's for the 28-joint humanoid."""

    objective: Objective = "bce"
    """``bce``, ``lsgan`` (targets +1 and -1) or ``hinge``."""

    hidden_dims: list[int] = [256, 128]
    """Hidden layers. Measured to be enough for walking and running; the papers use [1024, 512] and more."""

    outputs: int = 1
    """Scores per window, averaged in the reward."""

    columns: list[int] | None = None
    """Features that are looked at; None for all."""

    body_group: str | None = None
    """Name of a group of features, looked up in ``env.unwrapped.prior_columns``; it replaces :attr:`columns`."""

    conditional: bool = False
    """Whether scores depend on the latent (CALM)."""

    style_dims: list[int] = [512, 256, 64]
    """Layers between latent and scores where :attr:`conditional`; CALM's."""

    learning_rate: float = 1e-4

    weight_decay: float = 1e-4

    gradient_penalty: float = 5.0

    logit_regularization: float = 0.01

    max_grad_norm: float = 1.0
    """Limit on the gradient's norm (ours)."""

    steps: int = 8
    """Steps per policy update. Measured together with :attr:`batch_size`."""

    batch_size: int = 512
    """Reference windows per step, and as many of the policy, half of them from the replay buffer."""

    replay_size: int = 100_000
    """Windows that the replay buffer holds; 0: only the current rollout's are used."""

    replay_keep: int = 1024
    """Windows that a rollout adds to the buffer, once it isn't empty."""


class AdversarialPrior:
    """Rewards motion that a discriminator can't tell from the reference, and trains that discriminator.

    Args:
        cfg: Its numbers.
        dim: Features per frame, all of them.
        frames: Frames per window.
        latent_dim: Size of the latent, used where the config is conditional.
        columns: Features that are looked at, None for all.
        device: Torch device.
    """

    def __init__(
        self, cfg: DiscriminatorCfg, dim: int, frames: int, latent_dim: int, columns: list[int] | None, device: str
    ) -> None:
        self.cfg = cfg
        self._columns = None if columns is None else torch.tensor(columns, device=device)
        size = dim if columns is None else len(columns)
        latent_dim = latent_dim if cfg.conditional else 0
        self.model = Discriminator(
            size, frames, cfg.hidden_dims, cfg.objective, cfg.outputs, latent_dim, cfg.style_dims
        ).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.learning_rate, weight_decay=cfg.weight_decay)
        self.replay = Replay(cfg.replay_size, size * frames + latent_dim, device)

    @torch.no_grad()
    def rewards(self, rollout: Rollout) -> torch.Tensor:
        """Return the published reward of every step, shape (steps, num_envs).

        Windows that aren't valid get the mean of the valid ones: neither bonus nor penalty for a fresh start.
        """
        latents = rollout.latents if self.cfg.conditional else None
        reward = style_reward(self.cfg.objective, self.model(self._select(rollout.windows), latents))
        return mean_where_invalid(reward, rollout.valid)

    def update(self, rollout: Rollout, reference: Reference, sync: Sync) -> dict[str, float]:
        """Train on a rollout.

        Args:
            rollout: At least one valid window.
            reference: Source of reference windows.
            sync: Called between backward and the optimizer's step.

        Returns:
            Means over the steps: ``loss``, ``gradient_penalty`` and :func:`discriminator_figures`; and ``variety``, how
            much the policy's windows differ from each other, the reference's from each other being 1.
        """
        self._remember(rollout)
        variety = self._learn_statistics(rollout, reference)
        rows = [self._step(rollout, reference, sync) for _ in range(self.cfg.steps)]
        means = {name: torch.stack([row[name] for row in rows]).mean().item() for name in rows[0]}
        return means | {"variety": variety}

    def state(self, with_replay: bool) -> dict[str, Any]:
        """Return everything that resuming needs, as tensors and plain types."""
        state: dict[str, Any] = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return state | ({"replay": self.replay.state()} if with_replay else {})

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state` returned."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if "replay" in state:
            self.replay.load_state(state["replay"])

    def _step(self, rollout: Rollout, reference: Reference, sync: Sync) -> dict[str, torch.Tensor]:
        real, real_latents = reference(self.cfg.batch_size)
        real, (fake, fake_latents) = self._select(real), self._fake(rollout)
        if not self.cfg.conditional:
            real_latents = fake_latents = None
        parts = self.model.losses(real, fake, real_latents, fake_latents)
        loss = (
            parts["classification"]
            + self.cfg.gradient_penalty * parts["penalty"]
            + self.cfg.logit_regularization * parts["logit_weight"]
        )
        self.optimizer.zero_grad()
        loss.backward()
        sync(self.model.parameters())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.max_grad_norm)
        self.optimizer.step()
        figures = discriminator_figures(self.cfg.objective, parts["real"].detach(), parts["fake"].detach())
        losses = {"loss": loss.detach(), "gradient_penalty": parts["penalty"].detach()}
        return losses | figures

    @torch.no_grad()
    def _learn_statistics(self, rollout: Rollout, reference: Reference) -> float:
        """Let the input normaliser see a batch of both sides; returns the policy's variety."""
        real = self._select(reference(self.cfg.batch_size)[0])
        fake = self._select(rollout.sample(self.cfg.batch_size)[0])
        self.model.normalizer.update(torch.cat([real, fake]).flatten(0, 1))
        spread = [self.model.normalize(windows).std(0).mean() for windows in (fake, real)]
        return (spread[0] / spread[1].clamp(min=1e-6)).item()

    def _fake(self, rollout: Rollout) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Draw the policy's windows: half from this rollout, half from earlier ones."""
        old = self.cfg.batch_size // 2 if self.replay.filled else 0
        windows, latents = rollout.sample(self.cfg.batch_size - old)
        rows = self._rows(windows, latents)
        if old:
            rows = torch.cat([rows, self.replay.sample(old)])
        flat, latent = rows.split([self.model.frames * self.model.dim, self.model.latent_dim], dim=-1)
        return flat.unflatten(-1, (self.model.frames, self.model.dim)), latent if self.model.latent_dim else None

    def _remember(self, rollout: Rollout) -> None:
        if self.cfg.replay_size:
            count = self.cfg.replay_keep if self.replay.filled else int(rollout.valid.sum())
            self.replay.add(self._rows(*rollout.sample(count)))

    def _rows(self, windows: torch.Tensor, latents: torch.Tensor | None) -> torch.Tensor:
        flat = self._select(windows).flatten(1)
        return torch.cat([flat, latents], dim=-1) if self.cfg.conditional and latents is not None else flat

    def _select(self, windows: torch.Tensor) -> torch.Tensor:
        return windows if self._columns is None else windows[..., self._columns]


def discriminator_figures(objective: Objective, real: torch.Tensor, fake: torch.Tensor) -> dict[str, torch.Tensor]:
    """Describe how a discriminator does, from scores of reference (n, outputs) and policy (m, outputs).

    Returns:
        Scalars: ``accuracy`` (0 to 1, 0.5 is guessing), ``logit_real``, ``logit_fake``, ``realness_fake`` (0 to 1), and
        the flags ``saturated`` and ``collapsed`` (0 or 1).
    """
    accuracy = 0.5 * ((real > 0).float().mean() + (fake < 0).float().mean())
    taken_for_real = realness(objective, fake).mean()
    saturated = (accuracy > _SATURATED_ACCURACY) & (taken_for_real < _SATURATED_REALNESS)
    return {
        "accuracy": accuracy,
        "logit_real": real.mean(),
        "logit_fake": fake.mean(),
        "realness_fake": taken_for_real,
        "saturated": saturated.float(),
        "collapsed": (torch.cat([real, fake]).std() < _COLLAPSED_SPREAD).float(),
    }


def mean_where_invalid(reward: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """Put the mean of the valid steps where there is no window. Both of shape (steps, num_envs)."""
    mean = reward[valid].mean() if valid.any() else reward.new_zeros(())
    return torch.where(valid, reward, mean)
