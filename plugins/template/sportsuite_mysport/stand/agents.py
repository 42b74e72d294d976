"""Training settings of MySport-Stand-v0, in three sizes. Numbers that differ from the common ones belong here."""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import SportRunnerCfg, ppo_cfg


def smoke() -> SportRunnerCfg:
    """Seconds: shows that everything runs."""
    return ppo_cfg("smoke", "mysport_stand")


def cpu() -> SportRunnerCfg:
    """A laptop's CPU."""
    return ppo_cfg("cpu", "mysport_stand")


def gpu() -> SportRunnerCfg:
    """One GPU."""
    return ppo_cfg("gpu", "mysport_stand")
