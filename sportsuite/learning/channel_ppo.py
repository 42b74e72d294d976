"""PPO with named reward channels: task groups and motion priors, each with its weight and, if wanted, its own value.

Nothing of rsl_rl's update is copied. Priors are objects in a dictionary: the algorithm records windows for them, asks
them for rewards and has them learn, and knows no method by name. It is chosen by ``class_name`` and runs under rsl_rl's
own runner.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import torch
from rsl_rl.env import VecEnv
from rsl_rl.storage import RolloutStorage
from rsl_rl.utils import reduce_gradients_in_buckets, resolve_callable
from tensordict import TensorDict

from sportsuite.errors import BadInputError, unknown_name
from sportsuite.learning.algorithm import SportPPO
from sportsuite.learning.channels import Channels, ChannelsCfg, channels_cfg, combine_advantages, gae
from sportsuite.learning.latents import EncodedWindows, LatentDiversity
from sportsuite.learning.update_hooks import ActionBound, UpdateHooks
from sportsuite.learning.value_norm import PopArt
from sportsuite.priors.adversarial import AdversarialPrior, DiscriminatorCfg, Prior
from sportsuite.priors.encoder import SkillPrior, SphereEncoder
from sportsuite.priors.windows import Rollout, WindowRecorder

__all__ = ["ChannelPPO"]

_LOG = logging.getLogger(__name__)


class ChannelPPO(SportPPO):
    """:class:`SportPPO` whose reward is made of named channels.

    The env gives one-frame features as an observation group and ``env.unwrapped.reference_windows(num, frames)``:
    reference motion of shape (num, frames, dim) whose frames lie one control step apart.

    Args:
        actor: Policy network.
        critic: Value network, with one output per value head.
        storage: Rollout buffers.
        channels: A :class:`~sportsuite.learning.channels.ChannelsCfg` as a dictionary.
        mirror: ``"module:function"`` that appends mirrored samples, with the signature of rsl_rl's symmetry functions:
            ``(env, obs, actions)`` to both, doubled. None for no mirroring.
        **kwargs: Passed on to :class:`SportPPO`.
    """

    def __init__(
        self,
        actor: Any,
        critic: Any,
        storage: RolloutStorage,
        *,
        channels: dict[str, Any],
        mirror: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(actor, critic, storage, **kwargs)
        self.cfg = channels_cfg(channels)
        self.priors: dict[str, Prior] = {}
        """Motion priors by channel name."""
        self.channels: Channels
        """The channels' weights; their order is that of every tensor with a last dimension of channels."""
        self._mirror = resolve_callable(mirror) if mirror else None
        self._figures: dict[str, float] = {}

    @staticmethod
    def construct_algorithm(obs: TensorDict, env: VecEnv, cfg: dict, device: str) -> ChannelPPO:
        """Build networks, buffers, algorithm and priors for a runner.

        Args:
            obs: Observations, groups of shape (num_envs, dim).
            env: The wrapped environment.
            cfg: The runner's config; what only the env knows of the networks' sizes is written into it.
            device: Torch device of the learner.

        Raises:
            BadInputError: If the env gives no prior features or no reference motion, or a name is wrong.
        """
        channels = channels_cfg(cfg["algorithm"]["channels"])
        heads = len(_channel_names(channels)) if channels.value_heads == "per_channel" else 1
        if heads > 1:
            cfg["critic"]["num_values"] = heads
        if channels.window_encoder is not None:
            cfg["actor"]["encoder"] = _encoder_size(channels, obs)
        algorithm = SportPPO.construct_algorithm(obs, env, cfg, device)
        assert isinstance(algorithm, ChannelPPO)
        algorithm._attach(obs, env, heads)
        return algorithm

    # ---- rollout; runs under torch.inference_mode, so it only writes into tensors that exist already ----

    def process_env_step(
        self, obs: TensorDict, rewards: torch.Tensor, dones: torch.Tensor, extras: dict[str, Any]
    ) -> None:
        """Record one step of all worlds.

        Args:
            obs: Observations after the step, groups of shape (num_envs, dim).
            rewards: Shape (num_envs,).
            dones: 1 where an episode ended, shape (num_envs,).
            extras: The env's extras. Beyond :meth:`SportPPO.process_env_step` ``"reward_groups"`` is used, rewards
                (num_envs,) by name, and ``"log"``.
        """
        step, done = self.storage.step, dones.bool()
        self._record_frame(step, obs, done, extras)
        for index, name in enumerate(self.cfg.task_groups):
            self._rewards[step, :, index].copy_(_group_reward(name, rewards, extras))
        time_outs = extras["time_outs"].to(self.device).bool() if "time_outs" in extras else torch.zeros_like(done)
        self._failed[step].copy_(done & ~time_outs)
        self.channels.observe(extras.get("log", {}))
        super().process_env_step(obs, rewards, dones, extras)

    def compute_returns(self, obs: TensorDict) -> None:
        """Let the priors pay, and compute advantages and value targets per head.

        Args:
            obs: Observations after the last step.
        """
        storage = self.storage
        self._pay_priors()
        weights = torch.tensor(self.channels.weights(self.samples), device=self.device)
        rewards, shares = self._rewards, weights
        if self._heads == 1:
            rewards, shares = (rewards * weights).sum(-1, keepdim=True), torch.ones(1, device=self.device)
        values, last = self._denormalize(storage.values), self._denormalize(self.critic(obs))
        advantages = gae(rewards, values, last, storage.dones, self._boot, self.gamma, self.lam)
        storage.returns.copy_(advantages + values)
        if self._heads == 1 and self.normalize_advantage_per_mini_batch:
            storage.advantages.copy_(advantages)
        else:
            storage.advantages.copy_(combine_advantages(advantages, shares))
        self._describe_rewards(weights)

    # ---- update ----

    def save(self) -> dict:
        """Return everything a checkpoint holds but the iteration, as tensors and plain types."""
        state = {
            "priors": {name: prior.state(self.cfg.save_replay) for name, prior in self.priors.items()},
            "progress": dict(self.channels.progress),
            "popart": self._popart.state_dict() if self._popart is not None else {},
        }
        return super().save() | {"channels": state}

    def load(self, loaded_dict: dict, load_cfg: dict | None, strict: bool) -> bool:
        """Load a checkpoint's content.

        Args:
            loaded_dict: Content of the file.
            load_cfg: rsl_rl's choice of parts; ``"channels"`` is ours and True unless given.
            strict: Whether every parameter must be there.

        Returns:
            Whether the iteration counter is to be taken over as well.

        Raises:
            BadInputError: If a network's shapes differ from the file's.
        """
        goes_on = super().load(loaded_dict, load_cfg, strict)
        wanted = load_cfg is None or load_cfg.get("channels", True)
        if wanted and "critic_state_dict" in loaded_dict:
            self._load_channels(loaded_dict.get("channels", {}))
        return goes_on

    def train_mode(self) -> None:
        """Set networks to training."""
        super().train_mode()
        for prior in self.priors.values():
            prior.model.train()

    def eval_mode(self) -> None:
        """Set networks to evaluation; input statistics stay as they are."""
        super().eval_mode()
        for prior in self.priors.values():
            prior.model.eval()

    def broadcast_parameters(self) -> None:
        """Give all processes of a distributed training the first one's networks."""
        super().broadcast_parameters()
        for prior in self.priors.values():
            for tensor in prior.model.state_dict().values():
                torch.distributed.broadcast(tensor, src=0)

    def _learn(self) -> dict[str, float]:
        self.channels.advance()
        self._normalize_targets()
        figures = self._update_priors()
        losses = super()._learn()
        if "symmetry" in losses:
            losses["auxiliary"] = losses.pop("symmetry")
        if self._encoded is not None:
            self._encoded.learn_statistics()
            self._encoded.refresh()
        return losses | self._figures | figures

    def _update_priors(self) -> dict[str, float]:
        rollout = self._rollout()
        if self._on_any_rank(not bool(rollout.valid.any())):
            _LOG.warning("no window of %d frames lies within one episode: priors wait", self.cfg.frames)
            return {}
        figures = {}
        for name, prior in self.priors.items():
            for key, value in prior.update(rollout, self._reference, self._sync).items():
                figures[f"{name}/{key}"] = value
        return figures

    def _normalize_targets(self) -> None:
        if self._popart is None:
            return
        storage = self.storage
        values = self._popart.denormalize(storage.values)
        self._popart.update(storage.returns, _last_layer(self._raw_critic))
        storage.returns.copy_(self._popart.normalize(storage.returns))
        storage.values.copy_(self._popart.normalize(values))

    def _denormalize(self, values: torch.Tensor) -> torch.Tensor:
        return values if self._popart is None else self._popart.denormalize(values)

    def _sync(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        if self.is_multi_gpu:
            reduce_gradients_in_buckets(parameters, self.gpu_world_size, self.grad_reduce_bucket_mb)

    # ---- construction ----

    def _attach(self, obs: TensorDict, env: VecEnv, heads: int) -> None:
        if self.critic.is_recurrent or self.actor.is_recurrent:
            raise BadInputError("reward channels need networks without memory: actor and critic must not be recurrent")
        self._base, self._heads = env.unwrapped, heads
        self._encoded: EncodedWindows | None = None
        self._attach_priors(obs)
        self.channels = Channels(self.cfg, list(self.priors))
        self._popart = PopArt(heads).to(self.device) if self.cfg.popart else None
        self._allocate(len(self.channels.names))
        self._attach_hooks(env)
        self._reference(1)

    def _attach_priors(self, obs: TensorDict) -> None:
        cfg, storage, device = self.cfg, self.storage, self.device
        for group in filter(None, [cfg.observation_group, cfg.latent_group]):
            if group not in obs:
                raise unknown_name("observation group for the priors", group, _names(obs))
        dim = obs[cfg.observation_group].shape[-1]
        latent_dim = obs[cfg.latent_group].shape[-1] if cfg.latent_group else 0
        self._recorder = WindowRecorder(storage.num_transitions_per_env, storage.num_envs, cfg.frames, dim, device)
        for name, part in cfg.discriminators.items():
            _check_latent(name, part.conditional, latent_dim)
            if part.conditional and cfg.window_encoder is None:
                raise BadInputError(f"prior {name!r} is conditional: set algorithm.channels.window_encoder")
            columns = _columns(part, name, dim, self._base)
            self.priors[name] = AdversarialPrior(part, dim, cfg.frames, latent_dim, columns, device)
        for name, part in cfg.skill_encoders.items():
            _check_latent(name, True, latent_dim)
            self.priors[name] = SkillPrior(part, dim, cfg.frames, latent_dim, device)

    def _attach_hooks(self, env: VecEnv) -> None:
        """Use rsl_rl's symmetry slot for mirrored samples and further losses, if there are any."""
        cfg, changes, losses = self.cfg, [], []
        if cfg.action_bound:
            losses.append(ActionBound(cfg.action_bound))
        if cfg.diversity and cfg.latent_group:
            losses.append(LatentDiversity(cfg.diversity, cfg.latent_group))
        if cfg.window_encoder is not None and cfg.latent_group:
            encoder = self._raw_actor.encoder
            assert isinstance(encoder, SphereEncoder)
            self._encoded = EncodedWindows(
                cfg.window_encoder, encoder, self._base, cfg.frames, cfg.latent_group, self.device
            )
            changes.append(self._encoded.encode_again)
            losses.append(self._encoded.loss)
        if self._mirror is not None or losses:
            self.symmetry = UpdateHooks(env, self._mirror, changes, losses)  # type: ignore[assignment]

    def _allocate(self, count: int) -> None:
        storage = self.storage
        shape = (storage.num_transitions_per_env, storage.num_envs)
        self._rewards = torch.zeros(*shape, count, device=self.device)
        self._failed = torch.zeros(shape, dtype=torch.bool, device=self.device)
        self._boot = torch.zeros(*shape, self._heads, device=self.device)
        storage.values = torch.zeros(*shape, self._heads, device=self.device)
        storage.returns = torch.zeros(*shape, self._heads, device=self.device)

    def _reference(self, count: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Draw reference windows (count, frames, dim) from the env, and their latents where an encoder makes them."""
        expected = (count, self.cfg.frames, self._recorder.windows.shape[-1])
        latents = None
        if self._encoded is not None:
            windows, latents = self._encoded.reference(count)
        else:
            with torch.no_grad():
                windows = self._base.reference_windows(count, self.cfg.frames).to(self.device)
        if tuple(windows.shape) != expected:
            raise BadInputError(
                f"env.reference_windows({count}, {self.cfg.frames}) has shape {tuple(windows.shape)}, expected "
                f"{expected}: frames like those of observation group {self.cfg.observation_group!r}"
            )
        return windows, latents

    # ---- details of the rollout ----

    def _record_frame(self, step: int, obs: TensorDict, done: torch.Tensor, extras: dict[str, Any]) -> None:
        group = self.cfg.observation_group
        reached, known = obs[group], ~done
        # Isaac Lab leaves the entry in its extras after the step it belongs to
        if done.any() and "final_obs" in extras:
            final = extras["final_obs"][group].to(self.device)
            reached, known = torch.where(done.unsqueeze(-1), final, reached), torch.ones_like(done)
        before = self.transition.observations[group]  # type: ignore[index]
        self._recorder.record(step, before, reached, done, known)

    def _bootstrap(self, rewards: torch.Tensor, extras: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Keep the discounted values of timed-out worlds apart from the rewards: each head has its own."""
        boot = self._boot[self.storage.step]
        boot.zero_()
        if "time_outs" in extras:
            seen = extras if self.final_obs_bootstrap else {"time_outs": extras["time_outs"]}
            ids, values = self._final_values(seen)
            boot[ids] = self.gamma * self._denormalize(values)
        return rewards, {key: value for key, value in extras.items() if key != "time_outs"}

    def _rollout(self) -> Rollout:
        group = self.cfg.latent_group
        latents = self.storage.observations[group] if group else None
        return Rollout(self._recorder.windows, self._recorder.valid, latents)

    def _pay_priors(self) -> None:
        rollout, first = self._rollout(), len(self.cfg.task_groups)
        for index, prior in enumerate(self.priors.values(), start=first):
            self._rewards[..., index].copy_(prior.rewards(rollout) * self._base.step_dt)
        if self.cfg.termination_reward is not None:
            self._rewards[self._failed] = self.cfg.termination_reward

    def _describe_rewards(self, weights: torch.Tensor) -> None:
        """Note what the channels paid, per second of simulated time."""
        means = self._rewards.mean((0, 1)) / self._base.step_dt
        paid = dict(zip(self.channels.names, (means * weights).tolist(), strict=True))
        raw = dict(zip(self.channels.names, means.tolist(), strict=True))
        sides = {
            "reward/task": sum(paid[name] for name in self.cfg.task_groups),
            "reward/style": sum(paid[name] for name in self.priors),
            "reward/total": sum(paid.values()),
        }
        by_channel = {f"channel/{name}": value for name, value in raw.items()}
        self._figures = sides | by_channel | {f"weighted/{name}": value for name, value in paid.items()}

    def _load_channels(self, state: dict[str, Any]) -> None:
        saved = state.get("priors", {})
        for name, prior in self.priors.items():
            if name not in saved:
                _LOG.warning("the checkpoint has no prior %r (it has: %s): it starts afresh", name, ", ".join(saved))
                continue
            try:
                prior.load_state(saved[name])
            except (RuntimeError, ValueError, KeyError) as error:
                raise BadInputError(f"checkpoint doesn't fit: prior {name!r} has another size ({error})") from error
        known = state.get("progress", {})
        self.channels.progress.update({name: known[name] for name in self.channels.progress if name in known})
        if self._popart is not None and state.get("popart"):
            self._popart.load_state_dict(state["popart"])


def _channel_names(cfg: ChannelsCfg) -> list[str]:
    return [*cfg.task_groups, *cfg.discriminators, *cfg.skill_encoders]


def _encoder_size(cfg: ChannelsCfg, obs: TensorDict) -> dict[str, Any]:
    """Return the arguments of the encoder in the actor, from the sizes of the observations."""
    assert cfg.window_encoder is not None
    group = cfg.window_encoder.window_group
    for name in (group, cfg.observation_group):
        if name not in obs:
            raise unknown_name("observation group for the encoder", name, _names(obs))
    dim, size = obs[cfg.observation_group].shape[-1], obs[group].shape[-1]
    if size % dim:
        raise BadInputError(f"observation group {group!r} has {size} numbers, not whole frames of {dim}")
    return {"dim": dim, "frames": size // dim, "hidden_dims": list(cfg.window_encoder.hidden_dims)}


def _names(obs: TensorDict) -> list[str]:
    return [str(name) for name in obs.keys()]  # noqa: SIM118


def _check_latent(name: str, needed: bool, latent_dim: int) -> None:
    if needed and not latent_dim:
        raise BadInputError(f"prior {name!r} depends on a latent: set algorithm.channels.latent_group")


def _group_reward(name: str, rewards: torch.Tensor, extras: dict[str, Any]) -> torch.Tensor:
    """Return the rewards (num_envs,) of a task group; ``"task"`` is the whole reward."""
    if name == "task":
        return rewards
    groups = extras.get("reward_groups", {})
    if name not in groups:
        raise unknown_name('task group (the env\'s extras["reward_groups"] has others)', name, groups)
    return groups[name].to(rewards.device)


def _columns(cfg: DiscriminatorCfg, name: str, dim: int, base: Any) -> list[int] | None:
    """Return the feature columns that a discriminator sees; None for all."""
    columns = cfg.columns
    if cfg.body_group is not None:
        groups = getattr(base, "prior_columns", {})
        if cfg.body_group not in groups:
            raise unknown_name(f"body group of discriminator {name!r}", cfg.body_group, groups)
        columns = list(groups[cfg.body_group])
    wrong = [column for column in columns or [] if not 0 <= column < dim]
    if wrong:
        raise BadInputError(f"discriminator {name!r}: feature column {wrong[0]} doesn't exist, there are {dim}")
    return columns


def _last_layer(critic: torch.nn.Module) -> torch.nn.Linear:
    return [layer for layer in critic.mlp if isinstance(layer, torch.nn.Linear)][-1]  # type: ignore[union-attr]
