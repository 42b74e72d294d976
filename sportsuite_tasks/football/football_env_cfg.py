"""What every football task has in common: pitch, player, ball, rates and physics."""

from __future__ import annotations

from collections.abc import Callable

from isaaclab.assets import ArticulationCfg, AssetBaseCfg, RigidObjectCfg
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.utils import configclass
from isaaclab.visualizers import VisualizerCfg

from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.physics.ball_contact import BallContactCfg, ball_cfg, ball_pairs_hook
from sportsuite.physics.ball_friction import BallFrictionActionCfg
from sportsuite.physics.contacts import add_touch_sensor
from sportsuite.physics.presets import is_newton, physics_presets
from sportsuite_tasks.football.ball import football
from sportsuite_tasks.football.pitch import pitch_cfg


@configclass
class FootballSceneCfg(InteractiveSceneCfg):
    """A player and a ball on grass, per world."""

    ground: AssetBaseCfg = pitch_cfg()
    robot: ArticulationCfg = humanoid28_cfg("football", "boot")
    ball: RigidObjectCfg = ball_cfg(football())


@configclass
class FootballActionsCfg:
    """What acts in every football task besides the policy: the ball's friction at oblique bounces."""

    ball_friction: BallFrictionActionCfg = BallFrictionActionCfg(ball=football())


@configclass
class FootballEnvCfg(SportEnvCfg):
    """Base of the football tasks."""

    scene: FootballSceneCfg = FootballSceneCfg(num_envs=256, env_spacing=8.0)
    ball: BallContactCfg = football()
    """Size, mass and contact behaviour of the ball."""

    actions: FootballActionsCfg = FootballActionsCfg()

    physics_hz: float = 240.0
    ball_name: str | None = "ball"

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        self.sim.physics = physics_presets()
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(4.0, -4.0, 2.5), lookat=(0.0, 0.0, 0.8))

    def finalize_scene(self) -> None:
        """Build the ball that the overrides ask for, and what its contacts need on the chosen backend."""
        self.scene.ball = ball_cfg(self.ball)
        self.actions.ball_friction.ball = self.ball
        if not is_newton(self.sim.physics):
            add_touch_sensor(self.scene)

    def world_hooks(self) -> list[Callable]:
        """Contact pairs between the ball and everything it can hit."""
        return [ball_pairs_hook(self.ball, self.substep_dt())]
