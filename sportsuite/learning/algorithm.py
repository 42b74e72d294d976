"""rsl_rl's PPO with a critic rate of its own, a guard against NaN and an exact bootstrap of time-outs.

It is chosen by ``class_name`` in the algorithm config and runs under rsl_rl's unchanged runner, so that
``sportsuite train`` and ``isaaclab train`` do the same.
"""

from __future__ import annotations

import logging
import math
import time
from typing import Any

import torch
from rsl_rl.algorithms import PPO
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict

from sportsuite.errors import SportSuiteError
from sportsuite.learning.checkpoint import check_shapes, describe_run, rng_state
from sportsuite.learning.run_log import writer_cfg
from sportsuite.learning.runner_io import install_checkpoint_io

__all__ = ["SportPPO"]

_LOG = logging.getLogger(__name__)


class SportPPO(PPO):
    """rsl_rl's PPO with four changes.

    * The critic may have a learning rate of its own. rsl_rl writes the KL-adaptive rate into every parameter group
      before each step; a hook of the optimizer puts the critic's back.
    * A rollout with a value that isn't finite is thrown away: the update is skipped, counted and logged.
    * A time-out is bootstrapped with the value of the state that was reached (``extras["final_obs"]``). rsl_rl takes
      the value of the state before, which is wrong wherever the last step matters. A terminated episode is never
      bootstrapped.
    * After a warm start only the critic learns at first: the advantages of a critic that knows nothing would undo the
      policy that the training is to begin with.

    Args:
        actor: Policy network.
        critic: Value network.
        storage: Rollout buffers.
        critic_learning_rate: Fixed rate of the critic, or None for the policy's.
        final_obs_bootstrap: Whether to use ``extras["final_obs"]`` where the env gives it.
        max_skipped_updates: Updates in a row that may be skipped before training stops.
        critic_warmup: Updates after a warm start in which only the critic learns.
        **kwargs: Passed on to :class:`rsl_rl.algorithms.PPO`.
    """

    def __init__(
        self,
        actor: Any,
        critic: Any,
        storage: RolloutStorage,
        *,
        critic_learning_rate: float | None = None,
        final_obs_bootstrap: bool = True,
        max_skipped_updates: int = 10,
        critic_warmup: int = 20,
        **kwargs: Any,
    ) -> None:
        super().__init__(actor, critic, storage, **kwargs)
        self.critic_warmup = critic_warmup
        self.warmup_left = 0
        """Updates to come in which only the critic learns; a warm start sets it to :attr:`critic_warmup`."""
        self.final_obs_bootstrap = final_obs_bootstrap
        self.max_skipped_updates = max_skipped_updates
        self.samples = 0
        """Environment steps of all worlds that were learned from, over resumed runs too."""
        self.train_seconds = 0.0
        """Wall time of rollouts and updates [s], over resumed runs too."""
        self.skipped_updates = 0
        self.provenance: dict[str, Any] = {}
        """What a checkpoint says about its run, see :func:`~sportsuite.learning.checkpoint.describe_run`."""
        self._skipped_in_a_row = 0
        self._last_update: float | None = None
        if critic_learning_rate is not None:
            self._split_optimizer(critic_learning_rate)

    @staticmethod
    def construct_algorithm(obs: TensorDict, env: VecEnv, cfg: dict, device: str) -> SportPPO:
        """Build networks, buffers and algorithm for a runner, and prepare what the runner writes.

        Args:
            obs: Observations, groups of shape (num_envs, dim).
            env: The wrapped environment.
            cfg: The runner's config; its ``"logger"`` is replaced where it is the plain ``"tensorboard"``.
            device: Torch device of the learner.
        """
        install_checkpoint_io(OnPolicyRunner, SportPPO)
        if torch.device(device).type != torch.device(env.device).type:
            _LOG.warning("the learner is on %s, the environments are on %s: every step copies", device, env.device)
        cfg["logger"] = writer_cfg(cfg.get("logger", "tensorboard"))
        algorithm = PPO.construct_algorithm(obs, env, cfg, device)
        assert isinstance(algorithm, SportPPO)
        algorithm.provenance = describe_run(env, obs, cfg, device)
        return algorithm

    def process_env_step(
        self, obs: TensorDict, rewards: torch.Tensor, dones: torch.Tensor, extras: dict[str, Any]
    ) -> None:
        """Record one step of all worlds.

        Args:
            obs: Observations after the step, groups of shape (num_envs, dim).
            rewards: Shape (num_envs,).
            dones: 1 where an episode ended, shape (num_envs,).
            extras: The env's extras; ``"time_outs"`` (num_envs,) and ``"final_obs"`` are used.
        """
        if self._last_update is None:
            self._last_update = time.monotonic()
        self.samples += len(rewards) * self.gpu_world_size
        rewards, extras = self._bootstrap(rewards, extras)
        super().process_env_step(obs, rewards, dones, extras)

    def update(self) -> dict[str, float]:
        """Learn from the rollout, or skip it if it isn't finite.

        Returns:
            Losses by name, and ``skipped_updates`` so far.

        Raises:
            SportSuiteError: If too many updates in a row were skipped, or the losses aren't finite.
        """
        losses = {} if self._skip_rollout() else self._learn_or_warm_up()
        wrong = [name for name, value in losses.items() if not math.isfinite(value)]
        if wrong:
            raise SportSuiteError(
                f"training diverged after {self.samples:,} samples: the {', '.join(wrong)} loss is not finite; resume "
                "from the last checkpoint with a lower agent.algorithm.desired_kl or critic_learning_rate"
            )
        now = time.monotonic()
        self.train_seconds += now - (self._last_update or now)
        self._last_update = now
        return losses | {"skipped_updates": float(self.skipped_updates)}

    def save(self) -> dict:
        """Return everything a checkpoint holds but the iteration, as tensors and plain types."""
        counters = {
            "samples": self.samples,
            "train_seconds": self.train_seconds,
            "skipped_updates": self.skipped_updates,
        }
        return super().save() | {"sportsuite": self.provenance | counters, "rng": rng_state()}

    def load(self, loaded_dict: dict, load_cfg: dict | None, strict: bool) -> bool:
        """Load a checkpoint's content; a stripped one (policy only) leaves critic and optimizer fresh.

        Args:
            loaded_dict: Content of the file.
            load_cfg: rsl_rl's choice of parts; None for all.
            strict: Whether every parameter must be there.

        Returns:
            Whether the iteration counter is to be taken over as well.

        Raises:
            BadInputError: If a network's shapes differ from the file's.
        """
        check_shapes(loaded_dict, self._raw_actor, self._raw_critic)
        if "critic_state_dict" not in loaded_dict:
            _LOG.warning("the checkpoint holds a policy only: critic and optimizer start afresh")
            load_cfg = {"actor": True}
        goes_on = super().load(loaded_dict, load_cfg, strict)
        if goes_on or load_cfg is None:
            self._take_over(loaded_dict["sportsuite"])
        return goes_on

    def _take_over(self, history: dict[str, Any]) -> None:
        self.samples = history.get("samples", 0)
        self.train_seconds = history.get("train_seconds", 0.0)
        self.skipped_updates = history.get("skipped_updates", 0)

    def _split_optimizer(self, critic_learning_rate: float) -> None:
        policy, critic = self.optimizer.param_groups[0], list(self.critic.parameters())
        optimizer_class = type(self.optimizer)
        groups = [{"params": list(self.actor.parameters())}, {"params": critic, "lr": critic_learning_rate}]
        self.optimizer = optimizer_class(groups, lr=policy["lr"])

        def restore_critic_rate(optimizer: torch.optim.Optimizer, *_: object) -> None:
            optimizer.param_groups[1]["lr"] = critic_learning_rate

        self.optimizer.register_step_pre_hook(restore_critic_rate)

    def _learn_or_warm_up(self) -> dict[str, float]:
        if self.warmup_left == 0:
            return self._learn()
        self.warmup_left -= 1
        # a policy that doesn't move has a KL divergence of about nothing, which would drive the learning rate up
        schedule, self.schedule = self.schedule, "fixed"
        self.actor.requires_grad_(False)
        try:
            return self._learn()
        finally:
            self.actor.requires_grad_(True)
            self.schedule = schedule

    def _learn(self) -> dict[str, float]:
        """Learn from a rollout that is finite; returns losses by name."""
        return super().update()

    def _bootstrap(self, rewards: torch.Tensor, extras: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Add the discounted values of timed-out worlds to the rewards, where the env says what state was reached.

        Returns:
            Rewards (num_envs,), and the extras that rsl_rl is to see.
        """
        if not self.final_obs_bootstrap or not {"time_outs", "final_obs"} <= set(extras) or self.critic.is_recurrent:
            return rewards, extras
        ids, values = self._final_values(extras)
        rewards = rewards.clone()
        rewards[ids] += self.gamma * values[:, 0]
        return rewards, {key: value for key, value in extras.items() if key != "time_outs"}

    def _final_values(self, extras: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the worlds that timed out, and what the critic says of the states they reached (count, heads)."""
        ids = extras["time_outs"].to(self.device).nonzero().squeeze(-1)
        before = self.transition.values[ids]  # type: ignore[index]
        if len(ids) == 0 or "final_obs" not in extras:
            return ids, before
        final = extras["final_obs"]
        groups = {name: final[name].to(self.device)[ids] for name in self.critic.obs_groups}
        reached = self.critic(TensorDict(groups, batch_size=[len(ids)]))
        # a world that was cut off because it turned NaN has no usable last state
        return ids, torch.where(torch.isfinite(reached), reached, before)

    def _skip_rollout(self) -> bool:
        """Throw the rollout away if it isn't finite; returns whether it was."""
        wrong = _not_finite(self.storage)
        if not self._on_any_rank(bool(wrong)):
            self._skipped_in_a_row = 0
            return False
        self.storage.clear()
        self.skipped_updates = count = self.skipped_updates + 1
        self._skipped_in_a_row += 1
        where = ", ".join(wrong) or "data of another rank"
        _LOG.warning("after %d samples an update was skipped (number %d): not finite: %s", self.samples, count, where)
        if self._skipped_in_a_row >= self.max_skipped_updates:
            raise SportSuiteError(
                f"training stopped: {self._skipped_in_a_row} updates in a row were skipped, last because of {where}"
            )
        return True

    def _on_any_rank(self, flag: bool) -> bool:
        # all ranks must take the same branch, or the gradients' all-reduce waits for ever
        if not self.is_multi_gpu:
            return flag
        shared = torch.tensor(float(flag), device=self.device)
        torch.distributed.all_reduce(shared, op=torch.distributed.ReduceOp.MAX)
        return bool(shared.item())


def _not_finite(storage: RolloutStorage) -> list[str]:
    """Describe which buffers hold values that aren't finite, and in how many worlds."""
    buffers: dict[str, Any] = {f"observation {name}": value for name, value in storage.observations.items()}
    for name in ("actions", "rewards", "values", "actions_log_prob", "returns"):
        buffers[name] = getattr(storage, name)
    found = []
    for name, value in buffers.items():
        bad = ~torch.isfinite(value)
        if bad.any():
            worlds = bad.flatten(2).any(-1).any(0).nonzero().squeeze(-1)
            found.append(f"{name} of {len(worlds)} worlds (first: {int(worlds[0])})")
    return found
