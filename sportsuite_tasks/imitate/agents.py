"""Agent configs of the motion prior tasks, in three sizes."""

from __future__ import annotations

from sportsuite.learning.agent_cfgs import AgentSize, SportRunnerCfg, amp_cfg, ase_cfg, calm_cfg

_TASK_WEIGHT = 0.35
"""Weight of the task beside the style (ours; with 0.05 a character preferred standing to going where told, one run)."""


def _heading(size: AgentSize) -> SportRunnerCfg:
    return amp_cfg(size, "imitate_heading", **{"algorithm.channels.task_weight": _TASK_WEIGHT})


def heading_smoke() -> SportRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return _heading("smoke")


def heading_cpu() -> SportRunnerCfg:
    """A laptop's CPU: walks after some million samples."""
    return _heading("cpu")


def heading_gpu() -> SportRunnerCfg:
    """The texts' scale on one GPU."""
    return _heading("gpu")


def calm_smoke() -> SportRunnerCfg:
    """CALM: a minute on a laptop, shows that everything runs."""
    return calm_cfg("smoke", "imitate_calm")


def calm_cpu() -> SportRunnerCfg:
    """CALM: a dozen short clips on a laptop's CPU."""
    return calm_cfg("cpu", "imitate_calm")


def calm_gpu() -> SportRunnerCfg:
    """CALM: the text's scale on one GPU."""
    return calm_cfg("gpu", "imitate_calm")


def ase_smoke() -> SportRunnerCfg:
    """ASE: a minute on a laptop, shows that everything runs."""
    return ase_cfg("smoke", "imitate_ase")


def ase_cpu() -> SportRunnerCfg:
    """ASE: a dozen short clips on a laptop's CPU."""
    return ase_cfg("cpu", "imitate_ase")


def ase_gpu() -> SportRunnerCfg:
    """ASE: the text's scale on one GPU."""
    return ase_cfg("gpu", "imitate_ase")
