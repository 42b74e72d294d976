"""SportSuite-Kick-v0: kick the ball with a given velocity in space (PhysicsFC's Kick)."""

from __future__ import annotations

from typing import Any

from isaaclab.envs import mdp
from isaaclab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from isaaclab.utils import configclass

from sportsuite.characters.spec import FEET
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

    kick: commands.KickCommandCfg | commands.PassZoneCommandCfg = commands.KickCommandCfg()
    zone: commands.PassZoneCommandCfg | None = commands.PassZoneCommandCfg()
    """Takes the place of ``kick`` where ``pass_zone`` is set."""


@configclass
class ObservationsCfg:
    """223 numbers of the character, 13 of the ball, 3 of the goal; one frame for discriminators."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What the policy sees; the critic sees the same."""

        body_state = body_state_term()
        ball_state = ObservationTermCfg(func=observations.object_state_h)
        goal = ObservationTermCfg(func=mdp.generated_commands, params={"command_name": "kick"})

    policy: PolicyCfg = PolicyCfg()
    prior: PriorGroupCfg | None = PriorGroupCfg()


@configclass
class EventsCfg:
    """Start of an episode: standing or slow with a ball in front; PhysicsFC: 70 % Dribble's states."""

    character = reference_start(reference_fraction=0.5, speed_range=(0.0, 1.5))
    ball = EventTermCfg(
        func=football_events.reset_ball_near,
        mode="reset",
        params={
            "distance": (0.4, 1.2),
            "half_angle_deg": 45.0,
            "follow": (0.0, 1.0),
            "speed": (0.0, 1.5),
            "rest_fraction": 0.5,
        },
    )
    buffer = EventTermCfg(
        func=ResetToBuffer,  # type: ignore[arg-type]
        mode="reset",
        params={"buffers": {}, "random_yaw": True},
    )


@configclass
class RewardsCfg:
    """One per step at best. Isaac Lab multiplies rewards by the step time; 30 undoes that at 30 Hz."""

    kick: RewardTermCfg | None = RewardTermCfg(
        func=rewards.kicked_ball_velocity,
        weight=30.0,
        params={"command_name": "kick", "scale": 1.0, "normalize": True},
    )
    # Ours: in place of it where pass_zone is set.
    zone: RewardTermCfg | None = RewardTermCfg(
        func=rewards.pass_into_zone, weight=30.0, params={"command_name": "kick", "tolerance": 0.2}
    )
    # Ours, off: shaping for training with few samples (docs/tasks/kick.md).
    approach = RewardTermCfg(
        func=rewards.foot_towards_ball,
        weight=0.0,
        params={
            "command_name": "kick",
            "asset_cfg": SceneEntityCfg("robot", body_names=list(FEET), preserve_order=True),
            "behind": 0.0,
        },
    )


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    fallen = terminations.fall_term()
    kick_over = TerminationTermCfg(func=football_terminations.kick_over, params={"command_name": "kick"})
    ball_lost = TerminationTermCfg(
        func=football_terminations.ball_lost_before_kick, params={"command_name": "kick", "distance": 3.0}
    )


@configclass
class KickEnvCfg(FootballEnvCfg):
    """Config of SportSuite-Kick-v0."""

    commands: CommandsCfg = CommandsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    episode_length_s: float = 5.0
    """Time limit [s] (ours; PhysicsFC's player takes 3 s from the command to the kick)."""

    physics_hz: float = 480.0
    """Kicks of up to 35 m/s need 480 Hz; 240 do up to 20 m/s."""

    foot_choice: bool = False
    """Whether a foot is asked for, which has to play the ball (ours)."""

    pass_zone: bool = False
    """Whether the goal is a zone on the ground instead of a velocity (ours)."""

    def finalize_scene(self) -> None:
        """Choose between the two kinds of goal, and hand the choice of a foot on to it."""
        super().finalize_scene()
        if not self.pass_zone:
            self.rewards.zone = None
        elif self.commands.zone is not None:
            self.commands.kick, self.rewards.kick = self.commands.zone, None
        self.commands.zone = None
        self.commands.kick.foot_choice = self.foot_choice

    def interface_fields(self) -> tuple[str, ...]:
        """What a policy can't be played without: see the base class."""
        return (*super().interface_fields(), "foot_choice", "pass_zone")

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Rows of the text's table of Kick, what goes beyond the text, and what helps on a laptop."""
        return super().ablations() | {
            "no_nts": {"rewards.kick.params.normalize": False},
            "no_fallen": {"events.character.params.fallen_fraction": 0.0},
            "foot_choice": {"foot_choice": True},
            "pass_zone": {"pass_zone": True},
            "few_samples": {
                "rewards.approach.weight": 3.0,
                "rewards.approach.params.behind": 0.25,
                "commands.kick.speed_range": [5.0, 20.0],
                "physics_hz": 240.0,
            },
        }
