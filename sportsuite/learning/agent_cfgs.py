"""The rsl_rl agent configs of all tasks, in three sizes. This is the one place that gives the numbers and their origin.

A task's ``agents.py`` calls :func:`ppo_cfg` and changes what its task needs::

    def cpu() -> SportRunnerCfg:
        return ppo_cfg("cpu", "football_trap", **{"algorithm.gamma": 0.97})

"Measured" below means runs of a 28-joint humanoid on two CPU cores, one seed each; "ours" means chosen without one.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any, Literal

import torch
from isaaclab.utils import configclass
from isaaclab_rl.rsl_rl import RslRlMLPModelCfg, RslRlOnPolicyRunnerCfg, RslRlPpoAlgorithmCfg

from sportsuite.envs.overrides import apply_overrides
from sportsuite.errors import unknown_name
from sportsuite.learning.channels import ChannelsCfg
from sportsuite.learning.latents import WindowEncoderCfg
from sportsuite.priors.encoder import SkillEncoderCfg

__all__ = [
    "AgentSize",
    "ChannelPPOCfg",
    "CriticCfg",
    "LatentActorCfg",
    "SmallOutputGaussianCfg",
    "SportPPOCfg",
    "SportRunnerCfg",
    "amp_cfg",
    "ase_cfg",
    "calm_cfg",
    "default_device",
    "high_level_cfg",
    "ppo_cfg",
]

AgentSize = Literal["smoke", "cpu", "gpu"]

INITIAL_ACTION_STD = 0.08
"""Standard deviation of a fresh policy's actions [action units]. Measured: with joint targets as actions, larger noise
throws the humanoid over in its first steps."""

ACTION_STD_RANGE = (0.02, 0.3)
"""Range the learned standard deviation is kept in [action units]. Measured together with :data:`INITIAL_ACTION_STD`."""

LATENT_STD_RANGE = (0.05, 0.3)
"""As :data:`ACTION_STD_RANGE`, where the action is a latent (ours)."""

OUTPUT_SCALE = 0.01
"""Factor on the actor's last layer at the start (see :class:`~sportsuite.learning.models.SmallOutputGaussian`)."""

_HIDDEN_DIMS = {
    "smoke": [128, 64],  # ours: learns cartpole-sized tasks, updates in milliseconds
    "cpu": [256, 128],  # measured: 13,700 samples/s with these settings, against 5,500 for [512, 256, 128]
    "gpu": [1024, 512],  # the size that AMP, ASE and CALM use
}
_NUM_ENVS = {"smoke": 64, "cpu": 256, "gpu": 4096}
_STEPS_PER_ENV = {"smoke": 16, "cpu": 24, "gpu": 32}
_MAX_ITERATIONS = {"smoke": 5, "cpu": 2000, "gpu": 5000}  # ours: seconds, an hour or so, a night
_SAVE_INTERVAL = {"smoke": 2, "cpu": 50, "gpu": 50}  # ours: what a crash may cost; about a minute on the CPU


@configclass
class SmallOutputGaussianCfg(RslRlMLPModelCfg.GaussianDistributionCfg):
    """Action distribution whose mean starts near zero."""

    class_name: str = "sportsuite.learning.models:SmallOutputGaussian"
    output_scale: float = OUTPUT_SCALE
    """Factor on the last layer's initial weights."""


@configclass
class SportPPOCfg(RslRlPpoAlgorithmCfg):
    """PPO of :mod:`sportsuite.learning.algorithm`."""

    class_name: str = "sportsuite.learning.algorithm:SportPPO"

    critic_learning_rate: float | None = None
    """Fixed learning rate of the critic. None: the critic shares the policy's, which the KL schedule moves."""

    final_obs_bootstrap: bool = True
    """Bootstrap time-outs with the value of the state that was reached, if the env gives ``extras["final_obs"]``."""

    max_skipped_updates: int = 10
    """Updates in a row that may be skipped for values that aren't finite before training stops (ours)."""

    critic_warmup: int = 20
    """Updates after a warm start in which only the critic learns (ours)."""


@configclass
class ChannelPPOCfg(SportPPOCfg):
    """PPO with named reward channels, of :mod:`sportsuite.learning.channel_ppo`."""

    class_name: str = "sportsuite.learning.channel_ppo:ChannelPPO"

    channels: ChannelsCfg = ChannelsCfg()
    """Task rewards and motion priors."""

    mirror: str | None = None
    """``"module:function"`` that appends left-right mirrored samples in the update, for instance
    ``"sportsuite.mdp.symmetry:mirror_samples"``; None for none. It quickens the beginning (measured: episodes of 66
    steps against 42 after a million samples) and stops short where a symmetric pose asks for a choice, see
    :func:`amp_cfg`."""


@configclass
class CriticCfg(RslRlMLPModelCfg):
    """Critic whose number of outputs the algorithm decides."""

    class_name: str = "sportsuite.learning.models:MultiHeadCritic"


@configclass
class LatentActorCfg(RslRlMLPModelCfg):
    """Policy with a latent as its last observation group."""

    class_name: str = "sportsuite.learning.models:LatentActor"

    latent_group: str = "latent"
    """Observation group of the latent."""

    style_dims: list[int] = [512, 256, 64]
    """Layers between the latent and the network, the last one tanh (CALM's); empty for none."""

    encoder: dict[str, Any] | None = None
    """Sizes of an encoder of reference windows; the algorithm fills them in where it has one."""


@configclass
class SportRunnerCfg(RslRlOnPolicyRunnerCfg):
    """Runner config that also says how many environments its numbers were chosen for."""

    num_envs: int | None = None
    """Number of environments. ``sportsuite train`` uses it unless ``--num-envs`` is given; ``isaaclab train`` takes the
    env cfg's number or its own ``--num_envs``."""

    algorithm: SportPPOCfg = MISSING  # type: ignore[assignment]


def default_device() -> str:
    """Return the learner's device: the first GPU, or the CPU on a machine without one.

    ``isaaclab train --device cpu`` sets the environment's device only. rsl_rl moves data between the two, so a machine
    with a GPU may even mix them; what must not happen is the default ``cuda:0`` on a machine that has none.
    """
    return "cuda:0" if torch.cuda.is_available() else "cpu"


def ppo_cfg(size: AgentSize, experiment_name: str, **changes: Any) -> SportRunnerCfg:
    """Build a fresh agent config.

    Args:
        size: ``"smoke"`` (seconds, for tests), ``"cpu"`` (a laptop) or ``"gpu"``.
        experiment_name: Folder below ``logs/rsl_rl`` that the runs are written to.
        **changes: What differs, by dotted path, as in ``**{"algorithm.gamma": 0.97, "num_envs": 128}``.

    Returns:
        A config that shares nothing with other calls' results.

    Raises:
        BadInputError: If the size, a path or a value is wrong; the nearest valid name is given.
    """
    if size not in _NUM_ENVS:
        raise unknown_name("agent size", size, _NUM_ENVS)
    cfg = SportRunnerCfg(
        experiment_name=experiment_name,
        device=default_device(),
        num_envs=_NUM_ENVS[size],
        num_steps_per_env=_STEPS_PER_ENV[size],
        max_iterations=_MAX_ITERATIONS[size],
        save_interval=_SAVE_INTERVAL[size],
        # a task with privileged observations says so: **{"obs_groups.critic": ["critic"]}
        obs_groups={"actor": ["policy"], "critic": ["policy"]},
        actor=_network(size, distribution=True),
        critic=_network(size, distribution=False),
        algorithm=_algorithm(),
        # rsl_rl's check ends the run at the first NaN; SportPPO skips that update, counts it and says so
        check_for_nan=False,
    )
    apply_overrides(cfg, changes)
    return cfg


_DISCRIMINATOR_DIMS = {"smoke": [64, 32], "cpu": [256, 128], "gpu": [1024, 512]}
_REPLAY_SIZE = {"smoke": 2_000, "cpu": 100_000, "gpu": 200_000}  # cpu: measured; gpu: ASE's and CALM's
_LONG_REPLAY_SIZE = {"smoke": 2_000, "cpu": 20_000, "gpu": 200_000}  # ours on the CPU: 100 MB with 10 frames per window
_STYLE_DIMS = {"smoke": [32, 16], "cpu": [128, 64], "gpu": [512, 256, 64]}  # gpu: CALM's
_LATENT_FRAMES = 10


def amp_cfg(size: AgentSize, experiment_name: str, **changes: Any) -> SportRunnerCfg:
    """Build a fresh agent config for a task with an adversarial motion prior (AMP).

    The environment has an observation group ``prior`` and ``reference_windows``; see docs/methods/amp.md. Samples
    aren't mirrored: that makes the policy symmetric, and a symmetric policy can't take the first step out of a
    symmetric stance (measured: half of the standing starts fell with it, one in ten without).

    Args:
        size: ``"smoke"`` (seconds, for tests), ``"cpu"`` (a laptop) or ``"gpu"``.
        experiment_name: Folder below ``logs/rsl_rl`` that the runs are written to.
        **changes: What differs, by dotted path, as in ``**{"algorithm.channels.style_weight": 1.5}``.

    Raises:
        BadInputError: If the size, a path or a value is wrong; the nearest valid name is given.
    """
    cfg = _channel_cfg(size, experiment_name)
    apply_overrides(cfg, changes)
    return cfg


def high_level_cfg(size: AgentSize, experiment_name: str, **changes: Any) -> SportRunnerCfg:
    """Build a fresh agent config for a policy whose action is the latent of a frozen low-level policy.

    See :class:`~sportsuite.skills.latent_action.LatentActionCfg`. It has the style: there is no prior.

    Args:
        size: As for :func:`ppo_cfg`.
        experiment_name: As for :func:`ppo_cfg`.
        **changes: As for :func:`ppo_cfg`.

    Raises:
        BadInputError: If the size, a path or a value is wrong; the nearest valid name is given.
    """
    cfg = ppo_cfg(size, experiment_name)
    distribution = cfg.actor.distribution_cfg
    assert isinstance(distribution, SmallOutputGaussianCfg)
    # latents are normalised: a mean near zero would be all noise. 0.1 is CALM's exp(-2.3), which it keeps fixed
    distribution.output_scale, distribution.init_std, distribution.std_range = 1.0, 0.1, LATENT_STD_RANGE
    apply_overrides(cfg, changes)
    return cfg


def ase_cfg(size: AgentSize, experiment_name: str, **changes: Any) -> SportRunnerCfg:
    """Build a fresh agent config for the skill embeddings of ASE; see docs/methods/ase.md.

    Beyond :func:`amp_cfg` the environment has an observation group ``latent``, of a
    :class:`~sportsuite.priors.latent.LatentCommand`. There is no task: the priors' rewards are all there is.

    Args:
        size: As for :func:`amp_cfg`.
        experiment_name: As for :func:`amp_cfg`.
        **changes: As for :func:`amp_cfg`.

    Raises:
        BadInputError: If the size, a path or a value is wrong; the nearest valid name is given.
    """
    cfg = _latent_cfg(size, experiment_name)
    channels = cfg.algorithm.channels
    channels.skill_encoders = {"skill": SkillEncoderCfg(hidden_dims=list(_DISCRIMINATOR_DIMS[size]))}
    channels.weights = {"style": 0.5, "skill": 0.5}  # ASE's
    channels.diversity = 0.01  # ASE's
    apply_overrides(cfg, changes)
    return cfg


def calm_cfg(size: AgentSize, experiment_name: str, **changes: Any) -> SportRunnerCfg:
    """Build a fresh agent config for the motion latents of CALM; see docs/methods/calm.md.

    Beyond :func:`ase_cfg` the environment has an observation group ``latent_window``, and the command's
    ``window_frames`` is set (60 at 30 Hz).

    Args:
        size: As for :func:`amp_cfg`.
        experiment_name: As for :func:`amp_cfg`.
        **changes: As for :func:`amp_cfg`.

    Raises:
        BadInputError: If the size, a path or a value is wrong; the nearest valid name is given.
    """
    cfg = _latent_cfg(size, experiment_name)
    channels = cfg.algorithm.channels
    channels.window_encoder = WindowEncoderCfg(hidden_dims=list(_DISCRIMINATOR_DIMS[size]))
    for discriminator in channels.discriminators.values():
        discriminator.conditional, discriminator.style_dims = True, list(_STYLE_DIMS[size])
    apply_overrides(cfg, changes)
    return cfg


def _channel_cfg(size: AgentSize, experiment_name: str) -> SportRunnerCfg:
    cfg = ppo_cfg(size, experiment_name)
    if size == "cpu":
        # measured: 512 x 16 with 3 epochs learned faster than 256 x 24; the style reward changes with every update
        cfg.num_envs, cfg.num_steps_per_env = 512, 16
    cfg.critic = CriticCfg(**_shared_fields(cfg.critic))
    cfg.algorithm = ChannelPPOCfg(**_shared_fields(cfg.algorithm))
    for discriminator in cfg.algorithm.channels.discriminators.values():
        discriminator.hidden_dims = list(_DISCRIMINATOR_DIMS[size])
        discriminator.replay_size = _REPLAY_SIZE[size]
        discriminator.batch_size = 4096 if size == "gpu" else 512  # gpu: ASE's and CALM's; cpu: measured
    return cfg


def _latent_cfg(size: AgentSize, experiment_name: str) -> SportRunnerCfg:
    cfg = _channel_cfg(size, experiment_name)
    cfg.obs_groups = {"actor": ["policy", "latent"], "critic": ["policy", "latent"]}
    cfg.actor = LatentActorCfg(**_shared_fields(cfg.actor), style_dims=list(_STYLE_DIMS[size]))
    channels = cfg.algorithm.channels
    channels.latent_group, channels.frames = "latent", _LATENT_FRAMES
    channels.task_weight = 0.0
    channels.action_bound = 10.0  # ASE's and CALM's
    for discriminator in channels.discriminators.values():
        discriminator.replay_size = _LONG_REPLAY_SIZE[size]
    return cfg


def _shared_fields(cfg: Any) -> dict[str, Any]:
    """Return the fields of a config, to build one of a class that has more."""
    return {name: value for name, value in vars(cfg).items() if name != "class_name"}


def _network(size: AgentSize, distribution: bool) -> RslRlMLPModelCfg:
    cfg = RslRlMLPModelCfg(
        hidden_dims=list(_HIDDEN_DIMS[size]),
        activation="relu",  # measured: 20-30 % faster than ELU on the CPU, no difference in learning seen
        obs_normalization=True,
    )
    if distribution:
        cfg.distribution_cfg = SmallOutputGaussianCfg(
            init_std=INITIAL_ACTION_STD, std_type="log", std_range=ACTION_STD_RANGE
        )
    return cfg


def _algorithm() -> SportPPOCfg:
    return SportPPOCfg(
        num_learning_epochs=3,  # measured: with desired_kl 0.03 better than 5 epochs and 0.015, and a third cheaper
        num_mini_batches=4,
        learning_rate=5e-4,  # where the KL schedule starts
        critic_learning_rate=1e-3,  # measured: episodes of 66 steps against 43 with the shared, KL-adaptive rate
        schedule="adaptive",
        desired_kl=0.03,  # measured: 66.6 steps against 63.1 with 0.015
        gamma=0.99,
        lam=0.95,
        clip_param=0.2,
        entropy_coef=0.0,  # exploration is kept by the lower end of ACTION_STD_RANGE
        value_loss_coef=1.0,
        use_clipped_value_loss=False,  # the critic has its own rate and needs no second brake
        max_grad_norm=1.0,
    )
