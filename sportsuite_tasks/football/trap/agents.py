"""Agent configs of SportSuite-Trap-v0, in three sizes."""

from __future__ import annotations

from isaaclab_rl.rsl_rl import RslRlOnPolicyRunnerCfg

from sportsuite.learning.agent_cfgs import ppo_cfg


def smoke() -> RslRlOnPolicyRunnerCfg:
    """A minute on a laptop: shows that everything runs."""
    return ppo_cfg("smoke", "trap")


def cpu() -> RslRlOnPolicyRunnerCfg:
    """Hours on a laptop's CPU."""
    return ppo_cfg("cpu", "trap")


def gpu() -> RslRlOnPolicyRunnerCfg:
    """The texts' scale on one GPU."""
    return ppo_cfg("gpu", "trap")
