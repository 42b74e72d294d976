"""How well passes are trapped: TSR, HRTS and RBSPT of PhysicsFC."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sportsuite.evaluation.protocol import Metric, mean_metric
from sportsuite.evaluation.rollout import run_episodes
from sportsuite_tasks.football.evaluation.matching import share
from sportsuite_tasks.football.mdp.commands import TrapCommand

if TYPE_CHECKING:
    from sportsuite.learning.policy import Policy


class TrapProbe:
    """Reads the outcome of each trap when its episode ends."""

    def observe(self, env: Any, ids: torch.Tensor) -> None:
        """Nothing: the command keeps count itself."""

    def finish(self, env: Any, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        """Outcomes of the episodes that end now, see :meth:`TrapCommand.outcome`."""
        command: TrapCommand = env.command_manager.get_term("trap")
        return {name: values.float() for name, values in command.outcome(ids).items()}


_DEFINITIONS = {
    "TSR": "share of lobs that the character touches before the ball hits the ground; a touch and a bounce within one "
    "control step count as a bounce",
    "HRTS": "share of the successful traps whose first touch involved hand or arm",
    "RBSPT": "ball speed against the root 1/6 s after the first touch, or at the end of the episode if that came "
    "first, mean over the successful traps",
    "touched": "share of lobs touched at all",
}


def trap_metrics(table: dict[str, torch.Tensor]) -> dict[str, Metric]:
    """PhysicsFC's trap metrics.

    Args:
        table: Per episode ``success``, ``hand`` (0 or 1) and ``relative_speed`` [m/s], each of shape (episodes,).

    Returns:
        TSR, HRTS (percent) and RBSPT (m/s), and the share of passes touched at all.
    """
    success = table["success"] > 0.5
    hand = table["hand"][success] > 0.5
    speed = table["relative_speed"][success]
    return {
        "TSR": share(success, 78.3, _DEFINITIONS["TSR"]),
        "HRTS": share(hand, 5.6, _DEFINITIONS["HRTS"], "lower"),
        "RBSPT": mean_metric(speed, "m/s", 3.69, _DEFINITIONS["RBSPT"], "lower"),
        "touched": share(table["touched"], None, _DEFINITIONS["touched"]),
    }


class TrapProtocol:
    """Lobs of 10 to 20 m/s at standing characters; PhysicsFC throws 1,000 lobs."""

    name = "trap"
    default_episodes = 1000

    def configure(self, env_cfg: Any) -> None:
        """Lobs only, from all around, 10 to 20 m/s, standing starts, 240 Hz."""
        env_cfg.events.ball.params.update(ground_fraction=0.0, lob_speed=(10.0, 20.0), elapsed_share=(0.0, 0.0))
        env_cfg.events.character.params["fallen_fraction"] = 0.0
        env_cfg.curriculum.pass_mix = None
        env_cfg.physics_hz = 240.0

    def run(
        self, env: Any, policy: Policy, episodes: int, seed: int, progress: Callable[[int, int], None]
    ) -> dict[str, Metric]:
        """Throw ``episodes`` lobs, see :class:`sportsuite.evaluation.protocol.EvaluationProtocol`."""
        return trap_metrics(run_episodes(env, policy, episodes, seed, TrapProbe(), progress))


def trap_protocol() -> TrapProtocol:
    """The evaluation protocol of SportSuite-Trap-v0."""
    return TrapProtocol()
