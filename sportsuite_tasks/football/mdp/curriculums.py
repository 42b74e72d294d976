"""Football's curricula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


def pass_mix(
    env: SportEnv,
    env_ids: Sequence[int] | torch.Tensor | slice,
    event_name: str,
    stage_2_step: int,
    ground_fraction: float = 0.2,
) -> float:
    """PhysicsFC's two stages of Trap: lobs only, then 80 % lobs and 20 % ground passes.

    Args:
        env: The environment.
        env_ids: Unused; curricula act on all worlds.
        event_name: The event that resets the ball.
        stage_2_step: Environment step at which stage 2 begins (ours; the text gives none).
        ground_fraction: Share of ground passes in stage 2.

    Returns:
        The current share of ground passes, for the log.
    """
    params = env.event_manager.get_term_cfg(event_name).params
    if env.common_step_counter >= stage_2_step:
        params["ground_fraction"] = ground_fraction
    return float(params["ground_fraction"])  # type: ignore[arg-type]
