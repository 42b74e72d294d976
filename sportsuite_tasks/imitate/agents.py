"""Agent configs of the motion prior tasks, in three sizes."""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import AgentSize, SportRunnerCfg, amp_cfg


def _heading(size: AgentSize) -> SportRunnerCfg:
    return amp_cfg(size, "imitate_heading")


def heading_smoke() -> SportRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return _heading("smoke")


def heading_cpu() -> SportRunnerCfg:
    """A quarter of an hour on a laptop's CPU for a walk."""
    return _heading("cpu")


def heading_gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU."""
    return _heading("gpu")
