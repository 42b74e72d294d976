"""Agent configs of SportSuite-Move-v0, in three sizes: the task's reward and the style of the reference motion."""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import SportRunnerCfg, amp_cfg


def smoke() -> SportRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return amp_cfg("smoke", "move")


def cpu() -> SportRunnerCfg:
    """Hours on a laptop's CPU."""
    return amp_cfg("cpu", "move")


def gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU."""
    return amp_cfg("gpu", "move")
