"""Checkpoints of the football skills with fresh weights, made without an environment."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import torch
import yaml
from tensordict import TensorDict

from sportsuite.envs.make_env import load_env_cfg
from sportsuite.learning.checkpoint import FORMAT, write_checkpoint
from sportsuite.learning.plain import to_plain
from sportsuite.learning.policy import untrained_policy
from sportsuite.learning.training import agent_cfg_of
from sportsuite.plugins.manager import find_task

SIZES = {"move": 223 + 4, "trap": 223 + 13 + 6, "dribble": 223 + 13 + 2, "kick": 223 + 13 + 3}


def write_fake_skill(path: Path, skill: str, bias: float = 0.0, **overrides) -> Path:
    """Write a checkpoint of a skill.

    Args:
        path: Where to.
        skill: Name of the skill.
        bias: The mean action, whatever is seen.
        **overrides: Fields of the env cfg.
    """
    task = find_task(f"SportSuite-{skill.capitalize()}-v0")
    cfg = load_env_cfg(task.spec.env_cfg)
    for name, value in overrides.items():
        setattr(cfg, name, value)
    cfg.sim.device = "cpu"
    cfg.finalize()
    agent_cfg = agent_cfg_of(task, "smoke")
    seen = TensorDict({"policy": torch.zeros(1, SIZES[skill])}, batch_size=[1])
    env = SimpleNamespace(obs_buf=seen, action_manager=SimpleNamespace(total_action_dim=28), device="cpu")
    actor = untrained_policy(SimpleNamespace(unwrapped=env), agent_cfg, seed=0).actor
    assert actor is not None
    with torch.no_grad():
        last = [module for module in actor.modules() if isinstance(module, torch.nn.Linear)][-1]
        last.weight.zero_()
        last.bias.fill_(bias)
    about = {
        "format": FORMAT,
        "task": task.spec.id,
        "env_cfg": yaml.safe_dump(to_plain(cfg), sort_keys=False),
        "agent_cfg": yaml.safe_dump(to_plain(agent_cfg), sort_keys=False),
        "observations": {"policy": [SIZES[skill]]},
        "num_actions": 28,
        "num_envs": 1,
        "seed": 0,
        "versions": {},
        "machine": "",
        "created": "",
        "samples": 0,
        "train_seconds": 0.0,
    }
    write_checkpoint(path, {"actor_state_dict": actor.state_dict(), "iter": 0, "infos": None, "sportsuite": about})
    return path
