"""Training settings of Sprint-60m-v0, in three sizes: the common ones."""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import SportRunnerCfg, ppo_cfg


def smoke() -> SportRunnerCfg:
    """Seconds: shows that everything runs."""
    return ppo_cfg("smoke", "sprint_dash")


def cpu() -> SportRunnerCfg:
    """A laptop's CPU."""
    return ppo_cfg("cpu", "sprint_dash")


def gpu() -> SportRunnerCfg:
    """One GPU."""
    return ppo_cfg("gpu", "sprint_dash")
