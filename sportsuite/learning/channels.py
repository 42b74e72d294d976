"""Named reward channels: what each is worth, how that changes over a training, and how they become one advantage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from isaaclab.utils import configclass

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.learning.latents import WindowEncoderCfg
from sportsuite.priors.adversarial import DiscriminatorCfg
from sportsuite.priors.encoder import SkillEncoderCfg

__all__ = ["Channels", "ChannelsCfg", "ScheduleCfg", "channels_cfg", "combine_advantages", "gae", "schedule_factor"]

_KINDS = ("constant", "linear", "curriculum")


@configclass
class ScheduleCfg:
    """How the factor on a channel's weight changes over a training."""

    kind: Literal["constant", "linear", "curriculum"] = "constant"
    """``linear``: over :attr:`samples`. ``curriculum``: a step whenever a metric is good enough."""

    start: float = 1.0
    """Factor at the beginning."""

    end: float = 1.0
    """Factor at the end."""

    samples: int = 1
    """Environment steps of all worlds after which a linear schedule is at its end."""

    metric: str = ""
    """Entry of ``extras["log"]`` that a curriculum watches."""

    threshold: float = 0.0
    """Mean of the metric over a rollout from which a curriculum goes on."""

    step: float = 0.02
    """Part of the way from start to end that a curriculum goes at once (ours: 50 good rollouts)."""


@configclass
class ChannelsCfg:
    """The reward channels of a training.

    The reward of a step is ``task_weight * sum(w * task group) + style_weight * dt * sum(w * prior)``, with ``dt`` the
    control step: Isaac Lab's reward terms are multiplied by it already, and so a channel pays the same per second at
    every control rate. The weight ``w`` of a channel is 1 unless :attr:`weights` has it.
    """

    task_weight: float = 0.05
    """Weight of the env's rewards. Measured, with :attr:`style_weight`, for a task that pays at most 30 per second:
    0.05 of at most 1 per step at 30 Hz, beside 0.1 of the style reward."""

    style_weight: float = 3.0
    """Weight of the priors' rewards. Only the ratio to :attr:`task_weight` matters much."""

    task_groups: list[str] = ["task"]
    """``"task"`` is the env's whole reward; any other name is an entry of ``extras["reward_groups"]``."""

    discriminators: dict[str, DiscriminatorCfg] = {"style": DiscriminatorCfg()}
    """Adversarial priors by channel name."""

    skill_encoders: dict[str, SkillEncoderCfg] = {}
    """Encoders by channel name that reward motion which shows its latent (ASE)."""

    latent_group: str | None = None
    """Observation group with the latent in force; None where there is none."""

    window_encoder: WindowEncoderCfg | None = None
    """Encoder of reference windows that makes the latents (CALM)."""

    diversity: float = 0.0
    """Weight of ASE's diversity loss; its own is 0.01."""

    action_bound: float = 0.0
    """Weight of the loss on mean actions outside [-1, 1]; ASE's and CALM's is 10."""

    weights: dict[str, float] = {}
    """Relative weights by channel name."""

    schedules: dict[str, ScheduleCfg] = {}
    """Factors on the weights by channel name."""

    frames: int = 2
    """Frames per window, one control step apart: 2 (AMP) or 10 (ASE, CALM)."""

    observation_group: str = "prior"
    """Observation group with the features of one frame."""

    value_heads: Literal["shared", "per_channel"] = "shared"
    """``shared``: one value of the weighted sum. ``per_channel``: one critic output, advantage and normalisation per
    channel; the weighted sum of the normalised advantages is used ("Learning to Ball")."""

    popart: bool = False
    """Whether value targets are normalised, see :class:`~sportsuite.learning.value_norm.PopArt`."""

    termination_reward: float | None = None
    """Reward of a step that ends in failure, for every channel in place of its own; None: what the channels pay.
    "Learning to Ball" uses -25. A prior whose reward can be negative (hinge) makes failing early attractive."""

    save_replay: bool = False
    """Whether checkpoints hold the replay buffers (tens of megabytes)."""


def channels_cfg(data: Mapping[str, Any]) -> ChannelsCfg:
    """Rebuild the config from the dictionary that a runner makes of it."""
    fields = dict(data)
    fields["discriminators"] = {name: DiscriminatorCfg(**cfg) for name, cfg in fields["discriminators"].items()}
    fields["skill_encoders"] = {name: SkillEncoderCfg(**cfg) for name, cfg in fields["skill_encoders"].items()}
    if fields["window_encoder"] is not None:
        fields["window_encoder"] = WindowEncoderCfg(**fields["window_encoder"])
    fields["schedules"] = {name: ScheduleCfg(**cfg) for name, cfg in fields["schedules"].items()}
    return ChannelsCfg(**fields)


class Channels:
    """Weights of the reward channels during a training.

    Args:
        cfg: The configuration.
        priors: Names of the channels that priors pay.

    Raises:
        BadInputError: If a weight or a schedule names no channel, or two channels have one name.
    """

    def __init__(self, cfg: ChannelsCfg, priors: list[str]) -> None:
        self.names = [*cfg.task_groups, *priors]
        doubled = [name for name in self.names if self.names.count(name) > 1]
        if doubled:
            raise BadInputError(f"reward channel {doubled[0]!r} exists twice: task groups and priors need own names")
        for name in [*cfg.weights, *cfg.schedules]:
            if name not in self.names:
                raise unknown_name("reward channel", name, self.names)
        sides = [cfg.task_weight] * len(cfg.task_groups) + [cfg.style_weight] * len(priors)
        self._weights = [side * cfg.weights.get(name, 1.0) for name, side in zip(self.names, sides, strict=True)]
        self._schedules = {name: _check_schedule(name, schedule) for name, schedule in cfg.schedules.items()}
        self.progress = dict.fromkeys(self._schedules, 0.0)
        """How far each schedule's curriculum is, 0 to 1."""
        self._seen: dict[str, list[float]] = {schedule.metric: [] for schedule in self._schedules.values()}

    def weights(self, samples: int) -> list[float]:
        """Return the weight of every channel after a number of environment steps, in the order of :attr:`names`."""
        factors = {
            name: schedule_factor(schedule, samples, self.progress[name]) for name, schedule in self._schedules.items()
        }
        return [weight * factors.get(name, 1.0) for name, weight in zip(self.names, self._weights, strict=True)]

    def observe(self, log: Mapping[str, Any]) -> None:
        """Note the metrics that curricula watch.

        Args:
            log: The env's ``extras["log"]``.
        """
        for metric, values in self._seen.items():
            if metric in log:
                values.append(float(log[metric]))

    def advance(self) -> None:
        """Move the curricula on, once per rollout."""
        for name, schedule in self._schedules.items():
            values = self._seen[schedule.metric]
            if schedule.kind == "curriculum" and values and sum(values) / len(values) >= schedule.threshold:
                self.progress[name] = min(1.0, self.progress[name] + schedule.step)
        self._seen = {metric: [] for metric in self._seen}


def schedule_factor(schedule: ScheduleCfg, samples: int, progress: float) -> float:
    """Return the factor on a channel's weight.

    Args:
        schedule: The schedule.
        samples: Environment steps of all worlds so far.
        progress: How far its curriculum is, 0 to 1.
    """
    if schedule.kind == "constant":
        return schedule.start
    share = min(1.0, samples / schedule.samples) if schedule.kind == "linear" else progress
    return schedule.start + (schedule.end - schedule.start) * share


def gae(
    rewards: torch.Tensor,
    values: torch.Tensor,
    last_values: torch.Tensor,
    dones: torch.Tensor,
    bootstrap: torch.Tensor,
    gamma: float,
    lam: float,
) -> torch.Tensor:
    """Estimate advantages per critic head (Schulman et al., "High-dimensional continuous control using GAE", 2016).

    Args:
        rewards: Shape (steps, num_envs, heads).
        values: Values of the states that were acted in, shape (steps, num_envs, heads).
        last_values: Values of the states after the last step, shape (num_envs, heads).
        dones: 1 where an episode ended, shape (steps, num_envs, 1).
        bootstrap: Discounted value of the state that a timed-out episode reached, else 0; (steps, num_envs, heads).
        gamma: Discount per step.
        lam: GAE's lambda.

    Returns:
        Advantages, not normalised, shape (steps, num_envs, heads). Plus ``values`` they are the returns.
    """
    advantages, advantage, next_values = torch.zeros_like(values), torch.zeros_like(last_values), last_values
    for step in reversed(range(len(rewards))):
        goes_on = 1.0 - dones[step].float()
        delta = rewards[step] + bootstrap[step] + goes_on * gamma * next_values - values[step]
        advantage = delta + goes_on * gamma * lam * advantage
        advantages[step], next_values = advantage, values[step]
    return advantages


def combine_advantages(advantages: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Normalise each head's advantages over the rollout and add them up by weight.

    Args:
        advantages: Shape (steps, num_envs, heads).
        weights: Shape (heads,); only their ratios count.

    Returns:
        Shape (steps, num_envs, 1).
    """
    centred = advantages - advantages.mean((0, 1))
    unit = centred / (centred.flatten(0, 1).std(0) + 1e-8)
    shares = weights / weights.abs().sum().clamp(min=1e-8)
    return (unit * shares).sum(-1, keepdim=True)


def _check_schedule(name: str, schedule: ScheduleCfg) -> ScheduleCfg:
    if schedule.kind not in _KINDS:
        raise unknown_name(f"schedule kind of channel {name!r}", schedule.kind, _KINDS)
    if schedule.kind == "curriculum" and not schedule.metric:
        raise BadInputError(f"the curriculum of channel {name!r} names no metric of the env's log to watch")
    return schedule
