"""SportSuite-Move-v0: move without the ball, in any direction and facing any other (PhysicsFC's Move)."""

from __future__ import annotations

from typing import Any

from isaaclab.envs import mdp
from isaaclab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from isaaclab.utils import configclass

from sportsuite.composition.buffer_events import ResetToBuffer
from sportsuite.errors import BadInputError
from sportsuite.mdp import terminations
from sportsuite_tasks.football.football_env_cfg import (
    FootballEnvCfg,
    PriorGroupCfg,
    body_state_term,
    reference_start,
)
from sportsuite_tasks.football.mdp import commands, rewards
from sportsuite_tasks.football.mdp import events as football_events


@configclass
class CommandsCfg:
    """Where to move, and where to face."""

    move: commands.MoveCommandCfg = commands.MoveCommandCfg()


@configclass
class ObservationsCfg:
    """223 numbers of the character and 4 of the goal; one frame for discriminators."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What the policy sees; the critic sees the same. The ball, which no reward depends on, isn't in it (ours)."""

        body_state = body_state_term()
        goal = ObservationTermCfg(func=mdp.generated_commands, params={"command_name": "move"})

    policy: PolicyCfg = PolicyCfg()
    prior: PriorGroupCfg | None = PriorGroupCfg()


@configclass
class EventsCfg:
    """Start of an episode: the character, and a ball where there is one."""

    character = reference_start(reference_fraction=0.8, speed_range=(0.0, 5.0))
    ball: EventTermCfg | None = EventTermCfg(func=football_events.reset_ball_near, mode="reset", params={})
    buffer = EventTermCfg(
        func=ResetToBuffer,  # type: ignore[arg-type]
        mode="reset",
        params={"buffers": {}, "random_yaw": True},
    )


@configclass
class RewardsCfg:
    """PhysicsFC's 0.7 + 0.3. Isaac Lab multiplies rewards by the step time; 30 undoes that at 30 Hz."""

    velocity: RewardTermCfg | None = RewardTermCfg(
        func=rewards.root_velocity_match,
        weight=30.0 * 0.7,
        params={"command_name": "move", "scale": 0.25, "normalize": True},
    )
    facing: RewardTermCfg | None = RewardTermCfg(
        func=rewards.facing_match, weight=30.0 * 0.3, params={"command_name": "move"}
    )
    latent_similarity: RewardTermCfg | None = RewardTermCfg(
        func=rewards.latent_similarity, weight=30.0, params={"command_name": "move"}
    )


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    fallen = terminations.fall_term()


@configclass
class MoveEnvCfg(FootballEnvCfg):
    """Config of SportSuite-Move-v0."""

    commands: CommandsCfg = CommandsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    episode_length_s: float = 10.0
    """Time limit [s] (ours)."""

    physics_hz: float = 120.0
    """Rate of the physics [Hz]; set 240 with a ball."""

    with_ball: bool = False
    """Whether a ball lies near, which the policy doesn't see: for recording states from which other skills start."""

    def finalize_scene(self) -> None:
        """Leave out what the task has no use for: the ball, and the latent's reward without a reference latent.

        Raises:
            BadInputError: If latents are to be compared and the action isn't one.
        """
        self.ball_name = "ball" if self.with_ball else None
        super().finalize_scene()
        if not self.with_ball:
            self.events.ball = None
        if self.commands.move.degcl is None:
            self.rewards.latent_similarity = None
        elif self.low_level is None:
            raise BadInputError(
                "commands.move.degcl compares latents, and the action is joint targets: set low_level to the "
                "checkpoint whose encoder made the file"
            )

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Rows of the text's table of Move, what goes beyond the text, and what helps on a laptop."""
        return super().ablations() | {
            "no_degcl": {"commands.move.degcl": None},
            "no_dir": {"rewards.facing": None},
            "no_vel": {"rewards.velocity": None},
            "no_nts": {"rewards.velocity.params.normalize": False},
            "no_fallen": {"events.character.params.fallen_fraction": 0.0},
            "few_samples": {"rewards.velocity.params.scale": 3.0, "commands.move.speed_range": [0.0, 4.0]},
            "with_ball": {"with_ball": True, "physics_hz": 240.0},
        }
