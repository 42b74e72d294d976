"""SportSuite-ElevenASide-v0: twenty-two players and a ball in one world, under the football state machine."""

from __future__ import annotations

import math
from collections.abc import Callable

from isaaclab.assets import AssetBaseCfg, RigidObjectCfg
from isaaclab.envs import mdp
from isaaclab.managers import EventTermCfg, ObservationGroupCfg, ObservationTermCfg, RewardTermCfg, TerminationTermCfg
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.utils import configclass
from isaaclab.visualizers import VisualizerCfg

from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.mdp import terminations
from sportsuite.physics.ball_contact import BallContactCfg, ball_cfg, ball_pairs_hook
from sportsuite.physics.contacts import add_touch_sensor
from sportsuite.physics.crowd import crowd_hook
from sportsuite.physics.presets import is_newton, physics_presets
from sportsuite_tasks.football.ball import football
from sportsuite_tasks.football.eleven import eleven_terms, tactics
from sportsuite_tasks.football.eleven.team_action import TeamActionCfg
from sportsuite_tasks.football.football.football_play_env_cfg import shipped_skills
from sportsuite_tasks.football.pitch import pitch_cfg

PLAYERS = tuple(f"player_{number:02d}" for number in range(2 * tactics.TEAM))
"""Scene entities of the players; the first eleven play towards +x."""


@configclass
class SceneCfg(InteractiveSceneCfg):
    """Grass and a ball; the players are added when the size of the pitch is known."""

    ground: AssetBaseCfg = pitch_cfg()
    ball: RigidObjectCfg = ball_cfg(football())


@configclass
class ActionsCfg:
    """The tempo of both teams."""

    team: TeamActionCfg = TeamActionCfg(players=PLAYERS, skills=shipped_skills())


@configclass
class ObservationsCfg:
    """Where everybody is."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """For whoever sets the tempo."""

        places = ObservationTermCfg(func=eleven_terms.places, params={"players": PLAYERS})

    policy: PolicyCfg = PolicyCfg()


@configclass
class EventsCfg:
    """Kick-off."""

    kick_off = EventTermCfg(func=mdp.reset_scene_to_default, mode="reset")


@configclass
class RewardsCfg:
    """A figure to look at. 30 undoes the step time that Isaac Lab multiplies with."""

    standing = RewardTermCfg(func=eleven_terms.standing, weight=30.0, params={"players": PLAYERS})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)


@configclass
class ElevenASideEnvCfg(SportEnvCfg):
    """Config of SportSuite-ElevenASide-v0."""

    scene: SceneCfg = SceneCfg(num_envs=1, env_spacing=120.0)
    ball: BallContactCfg = football()
    actions: ActionsCfg = ActionsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    physics_hz: float = 240.0
    episode_length_s: float = 60.0
    pitch_scale: float = 1.0
    """Size of the pitch against 105 m x 68 m."""

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        # room for 22 players who all lie on the ground: 15 contacts of three rows each
        self.sim.physics = physics_presets(max_constraints=2000, max_contacts=600)
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(0.0, -40.0, 20.0), lookat=(0.0, 0.0, 0.0))

    def finalize_scene(self) -> None:
        """Put the players where their team lines up."""
        home = tactics.home_positions(self.pitch_scale).tolist()
        for number, name in enumerate(PLAYERS):
            player = humanoid28_cfg("football", "boot", f"{{ENV_REGEX_NS}}/Player_{number:02d}")
            height = player.init_state.pos[2]
            yaw = 0.0 if number < tactics.TEAM else math.pi
            player.init_state.pos = (home[number][0], home[number][1], height)
            player.init_state.rot = (0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
            setattr(self.scene, name, player)
        self.scene.ball = ball_cfg(self.ball)
        self.actions.team.scale = self.pitch_scale
        if not is_newton(self.sim.physics):
            add_touch_sensor(self.scene, robots=PLAYERS)

    def world_hooks(self) -> list[Callable]:
        """Contact pairs between the ball and everything it can hit."""
        return [ball_pairs_hook(self.ball, self.substep_dt())]

    def late_world_hooks(self) -> list[Callable]:
        """Collision masks for more colliders than Newton can work out exactly."""
        return [crowd_hook()]
