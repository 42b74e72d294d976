"""A low-level policy with random weights, written as a training would write it, without one."""

from __future__ import annotations

from pathlib import Path

import torch
import yaml
from isaaclab_rl.rsl_rl import handle_deprecated_rsl_rl_cfg
from tensordict import TensorDict

from sportsuite.learning.agent_cfgs import calm_cfg
from sportsuite.learning.checkpoint import write_checkpoint
from sportsuite.learning.models import LatentActor
from sportsuite.learning.plain import to_plain
from sportsuite.mdp.actions import joint_targets_cfg
from sportsuite_tasks.football.football_env_cfg import BodyGroupCfg

SIZES = {"policy": [223], "latent": [64], "latent_window": [15 * 125]}


def write_prior(path: Path) -> Path:
    """Write a CALM policy of 28 joint targets whose encoder sees 60 frames, every fourth of them."""
    torch.manual_seed(0)
    agent = to_plain(handle_deprecated_rsl_rl_cfg(calm_cfg("smoke", "prior"), "5.5.1"))
    agent["actor"]["encoder"] = {"dim": 125, "frames": 15, "hidden_dims": [32]}
    obs = TensorDict({name: torch.zeros(1, *size) for name, size in SIZES.items()}, batch_size=[1])
    network = dict(agent["actor"])
    network.pop("class_name")
    actor = LatentActor(obs, agent["obs_groups"], "actor", 28, **network)
    env = {
        "control_hz": 30.0,
        "observations": {"policy": to_plain(BodyGroupCfg())},
        "actions": {"joint_pos": to_plain(joint_targets_cfg())},
        "commands": {"latent": {"window_frames": 60, "window_stride": 4}},
    }
    about = {
        "format": 1,
        "task": "SportSuite-Imitate-v0",
        "env_cfg": yaml.safe_dump(env),
        "agent_cfg": yaml.safe_dump(agent),
        "observations": SIZES,
        "num_actions": 28,
    }
    write_checkpoint(path, {"actor_state_dict": actor.state_dict(), "iter": 0, "infos": None, "sportsuite": about})
    return path
