"""SportSuite-Football-v0: move, trap, dribble and kick under PhysicsFC's state machine, steered by a user."""

from __future__ import annotations

from typing import Any

from isaaclab.envs import mdp
from isaaclab.managers import EventTermCfg, ObservationGroupCfg, ObservationTermCfg, RewardTermCfg, TerminationTermCfg
from isaaclab.utils import configclass

from sportsuite.assets import assets_root
from sportsuite.composition.machine_action import MachineActionCfg, SkillCfg
from sportsuite.mdp import events, observations, terminations
from sportsuite.mdp.actions import joint_targets_cfg
from sportsuite.physics.aerodynamics import AerodynamicsActionCfg
from sportsuite.physics.ball_friction import BallFrictionActionCfg
from sportsuite.skills.latent_action import LatentActionCfg
from sportsuite_tasks.football.ball import football
from sportsuite_tasks.football.dribble.dribble_env_cfg import ObservationsCfg as DribbleObservationsCfg
from sportsuite_tasks.football.football_env_cfg import BodyGroupCfg, FootballEnvCfg, body_state_term
from sportsuite_tasks.football.kick.kick_env_cfg import ObservationsCfg as KickObservationsCfg
from sportsuite_tasks.football.mdp import commands, guards, play_terms, user_command
from sportsuite_tasks.football.mdp import events as football_events
from sportsuite_tasks.football.move.move_env_cfg import ObservationsCfg as MoveObservationsCfg
from sportsuite_tasks.football.trap.trap_env_cfg import ObservationsCfg as TrapObservationsCfg

_NEVER = (1.0e9, 1.0e9)
"""Goals are set by the user's command, not drawn."""


def shipped_skills() -> dict[str, str]:
    """Policies that ship, by skill."""
    return {state: f"policies/{state}.pt" for state in guards.TABLE.states}


@configclass
class CommandsCfg:
    """The user's command, and the skills' goals that it drives."""

    user: user_command.UserCommandCfg = user_command.UserCommandCfg()
    move: commands.MoveCommandCfg = commands.MoveCommandCfg(resampling_time_range=_NEVER)
    trap: commands.TrapCommandCfg = commands.TrapCommandCfg()
    dribble: commands.DribbleCommandCfg = commands.DribbleCommandCfg(resampling_time_range=_NEVER)
    kick: commands.KickCommandCfg = commands.KickCommandCfg()


def play_action() -> MachineActionCfg:
    """The four skills under PhysicsFC's table."""
    seen: dict[str, ObservationGroupCfg] = {
        "move": MoveObservationsCfg.PolicyCfg(),
        "trap": TrapObservationsCfg.PolicyCfg(),
        "dribble": DribbleObservationsCfg.PolicyCfg(),
        "kick": KickObservationsCfg.PolicyCfg(),
    }
    return MachineActionCfg(
        asset_name="robot",
        director="user",
        states=guards.TABLE.states,
        transitions=guards.TABLE.rows(),
        guards=dict(guards.GUARDS),
        skills={
            state: SkillCfg(policy=policy, observations={"policy": seen[state]})
            for state, policy in shipped_skills().items()
        },
        layouts={
            "joint_targets": joint_targets_cfg(),
            "latent": LatentActionCfg(
                asset_name="robot", observations={"policy": BodyGroupCfg()}, targets=joint_targets_cfg()
            ),
        },
    )


@configclass
class ActionsCfg:
    """The user's command; what acts on the ball besides contacts."""

    play: MachineActionCfg = play_action()
    ball_friction: BallFrictionActionCfg | None = BallFrictionActionCfg(ball=football())
    air: AerodynamicsActionCfg | None = None


@configclass
class ObservationsCfg:
    """What a coach sees: 223 numbers of the character, 13 of the ball, the active skill."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """For whoever commands."""

        body_state = body_state_term()
        ball_state = ObservationTermCfg(func=observations.object_state_h)
        skill = ObservationTermCfg(func=play_terms.active_skill)

    policy: PolicyCfg = PolicyCfg()


@configclass
class EventsCfg:
    """A standing player with the ball in front of it; another ball when it is gone."""

    character = EventTermCfg(
        func=events.ResetCharacter,  # type: ignore[arg-type]
        mode="reset",
        params={"fallen_states": "motions/fallen_states.npz", "fallen_fraction": 0.0},
    )
    ball = EventTermCfg(
        func=football_events.reset_ball_near,
        mode="reset",
        params={"distance": (1.5, 4.0), "half_angle_deg": 45.0, "rest_fraction": 1.0},
    )
    feed: EventTermCfg | None = EventTermCfg(
        func=play_terms.feed_ball, mode="interval", interval_range_s=(0.5, 0.5), params={"distance": 15.0}
    )


@configclass
class RewardsCfg:
    """A figure to look at; no policy is trained here. 30 undoes the step time that Isaac Lab multiplies with."""

    possession = RewardTermCfg(func=play_terms.possession, weight=30.0, params={"distance": guards.NEAR_M})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    fallen: TerminationTermCfg | None = terminations.fall_term()


@configclass
class FootballPlayEnvCfg(FootballEnvCfg):
    """Config of SportSuite-Football-v0. Its action is the user's command, 9 numbers (docs/tasks/football.md)."""

    actions: ActionsCfg = ActionsCfg()  # type: ignore[assignment]
    commands: CommandsCfg = CommandsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    skills: dict = shipped_skills()
    """Policy of each skill: a file, or the name of a shipped one."""

    low_level: str | None = "policies/prior.pt"
    """Low-level policy of the skills whose actions are latents; not read where no skill needs it."""

    episode_length_s: float = 60.0
    """Time limit [s] (ours)."""

    def _finalize_actions(self) -> None:
        for state, policy in self.skills.items():
            if state in self.actions.play.skills:
                self.actions.play.skills[state].policy = policy
        latent = self.actions.play.layouts.get("latent")
        if latent is not None:
            if self.low_level is None:
                del self.actions.play.layouts["latent"]
            else:
                shipped = assets_root() / self.low_level
                latent.policy = str(shipped) if shipped.is_file() else self.low_level  # type: ignore[attr-defined]

    def interface_fields(self) -> tuple[str, ...]:
        """Nothing: no policy is trained here."""
        return ()

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Who commands instead of the environment's action."""
        return super().ablations() | {
            "random_user": {"commands.user.source": "random"},
        }
