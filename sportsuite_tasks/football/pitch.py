"""The pitch: an endless grass plane."""

from __future__ import annotations

from isaaclab.assets import AssetBaseCfg

from sportsuite.physics.ground import PlaneCfg


def pitch_cfg(prim_path: str = "/World/ground") -> AssetBaseCfg:
    """Ground of every football task, shared by all worlds."""
    return AssetBaseCfg(prim_path=prim_path, spawn=PlaneCfg(), collision_group=-1)
