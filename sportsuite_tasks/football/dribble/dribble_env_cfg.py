"""SportSuite-Dribble-v0: run with the ball where told and as fast as told (PhysicsFC's Dribble)."""

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
from sportsuite.mdp import observations, terminations
from sportsuite_tasks.football.football_env_cfg import (
    FootballEnvCfg,
    PriorGroupCfg,
    body_state_term,
    reference_start,
)
from sportsuite_tasks.football.mdp import commands, rewards
from sportsuite_tasks.football.mdp import events as football_events
from sportsuite_tasks.football.mdp import terminations as football_terminations


@configclass
class CommandsCfg:
    """The velocity that the ball shall have."""

    dribble: commands.DribbleCommandCfg = commands.DribbleCommandCfg()


@configclass
class ObservationsCfg:
    """223 numbers of the character, 13 of the ball, 2 of the goal; one frame for discriminators."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What the policy sees; the critic sees the same."""

        body_state = body_state_term()
        ball_state = ObservationTermCfg(func=observations.object_state_h)
        goal = ObservationTermCfg(func=mdp.generated_commands, params={"command_name": "dribble"})

    policy: PolicyCfg = PolicyCfg()
    prior: PriorGroupCfg | None = PriorGroupCfg()


@configclass
class EventsCfg:
    """Start of an episode: the character, a ball in front of it, then states of other skills where given."""

    # PhysicsFC starts from Trap's and Move's states; without them from walking and running, or standing (ours)
    character = reference_start(reference_fraction=0.7)
    ball = EventTermCfg(
        func=football_events.reset_ball_near,
        mode="reset",
        params={"distance": (0.4, 1.5), "half_angle_deg": 60.0, "follow": (0.0, 1.0), "speed": (0.0, 1.0)},
    )
    buffer = EventTermCfg(
        func=ResetToBuffer,  # type: ignore[arg-type]
        mode="reset",
        params={"buffers": {}, "random_yaw": True},
    )


@configclass
class RewardsCfg:
    """PhysicsFC's 0.6 + 0.2 + 0.2. Isaac Lab multiplies rewards by the step time; 30 undoes that at 30 Hz."""

    ball_velocity: RewardTermCfg | None = RewardTermCfg(
        func=rewards.ball_velocity_match,
        weight=30.0 * 0.6,
        params={"command_name": "dribble", "scale": 10.0, "normalize": True},
    )
    ball_root_position: RewardTermCfg | None = RewardTermCfg(
        func=rewards.ball_root_distance, weight=30.0 * 0.2, params={"scale": 10.0}
    )
    root_velocity: RewardTermCfg | None = RewardTermCfg(
        func=rewards.run_to_ball,
        weight=30.0 * 0.2,
        params={"command_name": "dribble", "scale": 10.0, "normalize": True},
    )
    # Ours, off: shaping for training with few samples (docs/tasks/dribble.md).
    ball_along_goal = RewardTermCfg(func=rewards.ball_along_goal, weight=0.0, params={"command_name": "dribble"})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    fallen = terminations.fall_term()
    ball_too_far: TerminationTermCfg | None = TerminationTermCfg(
        func=football_terminations.ball_too_far, params={"distance": 3.0}
    )


@configclass
class DribbleEnvCfg(FootballEnvCfg):
    """Config of SportSuite-Dribble-v0."""

    commands: CommandsCfg = CommandsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    episode_length_s: float = 10.0
    """Time limit [s] (ours)."""

    foot_choice: bool = False
    """Whether a foot is asked for, which has to play the ball (ours)."""

    def finalize_scene(self) -> None:
        """Hand the choice of a foot on to the command."""
        super().finalize_scene()
        self.commands.dribble.foot_choice = self.foot_choice

    def interface_fields(self) -> tuple[str, ...]:
        """What a policy can't be played without: see the base class."""
        return (*super().interface_fields(), "foot_choice")

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Rows of the text's table of Dribble, what goes beyond the text, and what helps on a laptop."""
        return super().ablations() | {
            "no_ball_vel": {"rewards.ball_velocity": None},
            "no_ball_root_pos": {"rewards.ball_root_position": None},
            "no_root_vel": {"rewards.root_velocity": None},
            "no_distance_end": {"terminations.ball_too_far": None},
            "no_nts": {
                "rewards.ball_velocity.params.normalize": False,
                "rewards.root_velocity.params.normalize": False,
            },
            "no_fallen": {"events.character.params.fallen_fraction": 0.0},
            "foot_choice": {"foot_choice": True},
            "few_samples": {
                "rewards.ball_velocity.params.scale": 2.0,
                "rewards.ball_root_position.params.scale": 2.0,
                "rewards.root_velocity.params.scale": 2.0,
                "rewards.ball_along_goal.weight": 15.0,
                "commands.dribble.speed_range": [0.0, 4.0],
            },
        }
