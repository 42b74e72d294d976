"""Agent configs of SportSuite-Trap-v0, in three sizes."""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import AgentSize, SportRunnerCfg, high_level_cfg, ppo_cfg

_MODEL = "sportsuite_tasks.football.models:InterceptModel"


def _trap(size: AgentSize) -> SportRunnerCfg:
    return ppo_cfg(size, "trap", **{"actor.class_name": _MODEL, "critic.class_name": _MODEL})


def _latent(size: AgentSize) -> SportRunnerCfg:
    return high_level_cfg(size, "trap_latent", **{"actor.class_name": _MODEL, "critic.class_name": _MODEL})


def smoke() -> SportRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return _trap("smoke")


def cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU."""
    return _trap("cpu")


def gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU."""
    return _trap("gpu")


def latent_smoke() -> SportRunnerCfg:
    """A minute on a laptop, latents of a low-level policy as actions."""
    return _latent("smoke")


def latent_cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU, latents of a low-level policy as actions."""
    return _latent("cpu")


def latent_gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU, latents of a low-level policy as actions."""
    return _latent("gpu")
