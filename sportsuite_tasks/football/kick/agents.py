"""Agent configs of SportSuite-Kick-v0, in three sizes.

With joint targets the reference motion gives the style; with latents the low-level policy has it already.
"""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import SportRunnerCfg, amp_cfg, high_level_cfg


def smoke() -> SportRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return amp_cfg("smoke", "kick")


def cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU."""
    return amp_cfg("cpu", "kick")


def gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU."""
    return amp_cfg("gpu", "kick")


def latent_smoke() -> SportRunnerCfg:
    """A minute on a laptop, latents of a low-level policy as actions."""
    return high_level_cfg("smoke", "kick_latent")


def latent_cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU, latents of a low-level policy as actions."""
    return high_level_cfg("cpu", "kick_latent")


def latent_gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU, latents of a low-level policy as actions."""
    return high_level_cfg("gpu", "kick_latent")
