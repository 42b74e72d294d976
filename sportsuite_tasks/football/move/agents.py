"""Agent configs of SportSuite-Move-v0, in three sizes.

With joint targets the reference motion gives the style; with latents the low-level policy has it already.
"""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import AgentSize, SportRunnerCfg, amp_cfg, high_level_cfg

_ACTOR = "sportsuite_tasks.football.models:MoveModel"
_CRITIC = "sportsuite_tasks.football.models:MoveCritic"


def _amp(size: AgentSize) -> SportRunnerCfg:
    return amp_cfg(size, "move", **{"actor.class_name": _ACTOR, "critic.class_name": _CRITIC})


def smoke() -> SportRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return _amp("smoke")


def cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU."""
    return _amp("cpu")


def gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU."""
    return _amp("gpu")


def latent_smoke() -> SportRunnerCfg:
    """A minute on a laptop, latents of a low-level policy as actions."""
    return high_level_cfg("smoke", "move_latent")


def latent_cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU, latents of a low-level policy as actions."""
    return high_level_cfg("cpu", "move_latent")


def latent_gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU, latents of a low-level policy as actions."""
    return high_level_cfg("gpu", "move_latent")
