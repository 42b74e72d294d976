"""SportSuite-Trap-v0: bring an incoming pass under control with a given part of the body (PhysicsFC's Trap)."""

from __future__ import annotations

from typing import Any

from isaaclab.envs import mdp
from isaaclab.managers import (
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from isaaclab.utils import configclass

from sportsuite.characters.spec import ARMS, BODY_NAMES
from sportsuite.composition.buffer_events import ResetToBuffer
from sportsuite.mdp import events, observations, terminations
from sportsuite_tasks.football.football_env_cfg import FootballEnvCfg, body_state_term
from sportsuite_tasks.football.mdp import commands, curriculums, rewards
from sportsuite_tasks.football.mdp import events as football_events
from sportsuite_tasks.football.mdp import terminations as football_terminations

PLAYING_BODIES = [name for name in BODY_NAMES if name not in ARMS]
"""Bodies that may play the ball."""


@configclass
class CommandsCfg:
    """The body part that shall receive the ball."""

    trap: commands.TrapCommandCfg = commands.TrapCommandCfg()


@configclass
class ObservationsCfg:
    """223 numbers of the character, 13 of the ball, one-hot of the body part."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What the policy sees; the critic sees the same."""

        body_state = body_state_term()
        ball_state = ObservationTermCfg(func=observations.object_state_h)
        body_part = ObservationTermCfg(func=mdp.generated_commands, params={"command_name": "trap"})

    policy: PolicyCfg = PolicyCfg()


@configclass
class EventsCfg:
    """Start of an episode: the character first (PhysicsFC: in a state of Move), then the ball that is aimed at it."""

    character = EventTermCfg(
        func=events.ResetCharacter,  # type: ignore[arg-type]
        mode="reset",
        params={"fallen_states": "motions/fallen_states.npz", "fallen_fraction": 0.1},
    )
    buffer = EventTermCfg(
        func=ResetToBuffer,  # type: ignore[arg-type]
        mode="reset",
        params={"buffers": {}, "random_yaw": True, "ball": False},
    )
    ball = EventTermCfg(
        func=football_events.reset_ball_pass,
        mode="reset",
        params={
            "ground_fraction": 0.0,
            "lob_speed": (10.0, 30.0),
            "azimuth_deg": (-180.0, 180.0),
            "elapsed_share": (0.0, 0.0),
            "solve_start": True,
        },
    )


@configclass
class RewardsCfg:
    """Two phases around the first contact.

    Isaac Lab multiplies rewards by the step time; 30 undoes that at 30 Hz, so that a step pays what the text's formula
    says.
    """

    before: RewardTermCfg | None = RewardTermCfg(
        func=rewards.trap_before, weight=30.0, params={"command_name": "trap", "scale": 10.0}
    )
    after: RewardTermCfg | None = RewardTermCfg(
        func=rewards.trap_after, weight=30.0, params={"command_name": "trap", "scale": 10.0}
    )
    # Ours, off: shaping for training with few samples and without a motion prior (docs/tasks/trap.md).
    meet_path = RewardTermCfg(
        func=rewards.meet_flight_path,
        weight=0.0,
        params={
            "command_name": "trap",
            "scale": 4.0,
            "asset_cfg": SceneEntityCfg("robot", body_names=PLAYING_BODIES, preserve_order=True),
        },
    )
    touch_bonus = RewardTermCfg(func=rewards.first_touch_bonus, weight=0.0, params={"command_name": "trap"})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    hand_ball: TerminationTermCfg | None = TerminationTermCfg(func=football_terminations.hand_ball)
    fallen = terminations.fall_term(minimum_height=0.15, head_height=0.3)
    trap_over = TerminationTermCfg(func=football_terminations.trap_over, params={"command_name": "trap"})
    ball_missed = TerminationTermCfg(
        func=football_terminations.ball_missed, params={"command_name": "trap", "distance": 3.0}
    )


@configclass
class CurriculumCfg:
    """Stage 1: lobs; stage 2: ground passes too."""

    pass_mix = CurriculumTermCfg(
        func=curriculums.pass_mix,
        # 20,000 steps: about two thirds of a run on a laptop (ours)
        params={"event_name": "ball", "stage_2_step": 20_000, "ground_fraction": 0.2},
    )


@configclass
class TrapEnvCfg(FootballEnvCfg):
    """Config of SportSuite-Trap-v0."""

    commands: CommandsCfg = CommandsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()
    curriculum: CurriculumCfg = CurriculumCfg()

    episode_length_s: float = 5.0
    """Time limit [s]: the longest lob flies 4.3 s (ours)."""

    physics_hz: float = 480.0
    """Lobs of up to 30 m/s need 480 Hz at the body; 240 do up to 20 m/s."""

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Rows of the text's table of Trap."""
        return super().ablations() | {
            "no_before": {"rewards.before": None},
            "no_after": {"rewards.after": None},
            "no_projectile": {"events.ball.params.solve_start": False},
            "no_hand_end": {"terminations.hand_ball": None},
            "no_fallen": {"events.character.params.fallen_fraction": 0.0},
        }
