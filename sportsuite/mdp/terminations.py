"""Termination terms that any sport can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import SceneEntityCfg, TerminationTermCfg

from sportsuite.characters.spec import BODY_NAMES, FEET

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedRLEnv

    from sportsuite.envs.sport_env import SportEnv

MUST_STAY_UP = [name for name in BODY_NAMES if name not in (*FEET, "right_shin", "left_shin")]
"""Bodies whose height tells a fall. Shins are left out: their origin is the knee, which may go down in a lunge
(ours).
"""

_ROBOT = SceneEntityCfg("robot")


def nonfinite_state(env: SportEnv) -> torch.Tensor:
    """Worlds whose state holds NaN or infinity. Shape is (num_envs,), bool.

    Such a world is put back to its default state at once, so that rewards and observations of this step stay finite, is
    counted in ``extras["log"]["Physics/nonfinite_worlds"]`` and its last state is dumped once (see ``SportEnv``).
    """
    return env.handle_nonfinite_worlds()


def body_below_height(
    env: ManagerBasedRLEnv,
    minimum_height: float,
    head_height: float,
    grace_steps: int = 0,
    asset_cfg: SceneEntityCfg = _ROBOT,
    head_cfg: SceneEntityCfg = _ROBOT,
) -> torch.Tensor:
    """A fall: some listed body below ``minimum_height`` [m] or the head below ``head_height`` [m].

    The heights of CALM's fall test (0.15 m, head 0.3 m; calm/env/tasks/humanoid.py) without its contact condition: a
    body origin that low means contact for this character.

    Args:
        env: The environment.
        minimum_height: Lowest allowed height of the bodies of ``asset_cfg`` [m].
        head_height: Lowest allowed height of the bodies of ``head_cfg`` [m].
        grace_steps: Steps without a fall test after a reset that put the character on the ground
            (``env.fallen_start``).
        asset_cfg: Bodies that must stay up (all but feet and shins).
        head_cfg: The head.

    Returns:
        Which worlds fell. Shape is (num_envs,), bool.
    """
    height = env.scene[asset_cfg.name].data.body_link_pos_w.torch[..., 2] - env.scene.env_origins[:, 2:3]
    low = (height[:, asset_cfg.body_ids] < minimum_height).any(dim=1)
    low |= (height[:, head_cfg.body_ids] < head_height).any(dim=1)
    if grace_steps:
        low &= ~(env.fallen_start & (env.episode_length_buf <= grace_steps))
    return low


def fall_term(minimum_height: float = 0.3, head_height: float = 0.9) -> TerminationTermCfg:
    """A fall ends the episode; the heights [m] are ours, CALM's 60 steps of grace after a lying start are not."""
    return TerminationTermCfg(
        func=body_below_height,
        params={
            "minimum_height": minimum_height,
            "head_height": head_height,
            "grace_steps": 60,
            "asset_cfg": SceneEntityCfg("robot", body_names=MUST_STAY_UP),
            "head_cfg": SceneEntityCfg("robot", body_names=["head"]),
        },
    )
