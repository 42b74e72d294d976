"""What every football task has in common: pitch, player, ball, rates, physics, and how the player is driven."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isaaclab.assets import ArticulationCfg, AssetBaseCfg, RigidObjectCfg
from isaaclab.envs import mdp
from isaaclab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    SceneEntityCfg,
)
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.utils import configclass
from isaaclab.visualizers import VisualizerCfg

from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.characters.spec import BODY_NAMES
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.mdp import observations
from sportsuite.mdp.actions import joint_targets_cfg
from sportsuite.motion.reference import ReferenceMotionCfg, ResetToReference, prior_features_h
from sportsuite.physics.aerodynamics import AerodynamicsActionCfg, AerodynamicsCfg
from sportsuite.physics.ball_contact import BallContactCfg, ball_cfg, ball_pairs_hook
from sportsuite.physics.ball_friction import BallFrictionActionCfg
from sportsuite.physics.contacts import add_touch_sensor
from sportsuite.physics.presets import is_newton, physics_presets
from sportsuite.skills.latent_action import LatentActionCfg
from sportsuite.skills.skill import find_policy
from sportsuite_tasks.football.ball import football
from sportsuite_tasks.football.pitch import pitch_cfg


@configclass
class FootballSceneCfg(InteractiveSceneCfg):
    """A player and a ball on grass, per world."""

    ground: AssetBaseCfg = pitch_cfg()
    robot: ArticulationCfg = humanoid28_cfg("football", "boot")
    ball: RigidObjectCfg | None = ball_cfg(football())


@configclass
class FootballActionsCfg:
    """The player's joints, directly or through a low-level policy, and what acts on the ball besides contacts."""

    joint_pos: mdp.JointPositionActionCfg | None = joint_targets_cfg()
    latent: LatentActionCfg | None = None
    ball_friction: BallFrictionActionCfg | None = BallFrictionActionCfg(ball=football())
    air: AerodynamicsActionCfg | None = None


def body_state_term() -> ObservationTermCfg:
    """223 numbers of the character, the part of the observation that every policy begins with."""
    return ObservationTermCfg(
        func=observations.body_state_h,
        params={"asset_cfg": SceneEntityCfg("robot", body_names=list(BODY_NAMES), preserve_order=True)},
    )


@configclass
class BodyGroupCfg(ObservationGroupCfg):
    """What a low-level policy sees besides its latent."""

    body_state = body_state_term()


@configclass
class PriorGroupCfg(ObservationGroupCfg):
    """What discriminators see of one frame."""

    features = ObservationTermCfg(func=prior_features_h)


def reference_start(
    reference_fraction: float, speed_range: tuple[float, float] | None = None, fallen_fraction: float = 0.1
) -> EventTermCfg:
    """Start from the reference motion, standing or (PhysicsFC: 10 %) lying.

    Args:
        reference_fraction: Share of starts from the motion among those that don't begin lying.
        speed_range: Speeds for which clips are drawn [m/s]; by weight if None.
        fallen_fraction: Share of lying starts.
    """
    return EventTermCfg(
        func=ResetToReference,  # type: ignore[arg-type]
        mode="reset",
        params={
            "motion": ReferenceMotionCfg(clips=["isaaclab:walk", "isaaclab:run"], speed_range=speed_range),
            "fallen_states": "motions/fallen_states.npz",
            "reference_fraction": reference_fraction,
            "fallen_fraction": fallen_fraction,
            "joint_noise": 0.02,
            "lift": 0.01,
        },
    )


@configclass
class FootballEnvCfg(SportEnvCfg):
    """Base of the football tasks."""

    scene: FootballSceneCfg = FootballSceneCfg(num_envs=256, env_spacing=8.0)
    ball: BallContactCfg = football()
    """Size, mass and contact behaviour of the ball."""

    actions: FootballActionsCfg = FootballActionsCfg()

    physics_hz: float = 240.0
    ball_name: str | None = "ball"

    low_level: str | None = None
    """Checkpoint of a low-level policy, a file or the name of an asset such as ``policies/prior.pt``: the action is
    then its latent, as in PhysicsFC. None: the action is 28 joint targets."""

    foot: str = "boot"
    """Collision shape of the feet: ``boot`` (PhysicsFC) or ``box``."""

    drag: bool = False
    """Whether the air slows the ball down. PhysicsFC leaves it out."""

    magnus: bool = False
    """Whether spin bends the ball's flight. PhysicsFC leaves it out and names it as a limit."""

    aerodynamics: AerodynamicsCfg = AerodynamicsCfg()
    """The air, where :attr:`drag` or :attr:`magnus` is set."""

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        self.sim.physics = physics_presets()
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(4.0, -4.0, 2.5), lookat=(0.0, 0.0, 0.8))

    def finalize_scene(self) -> None:
        """Build the ball, the feet and the actions that the overrides ask for, and what contacts need."""
        if self.foot != "boot":
            wanted = humanoid28_cfg("football", self.foot)
            self.scene.robot.spawn, self.scene.robot.init_state = wanted.spawn, wanted.init_state
        self._finalize_actions()
        if self.ball_name is None:
            self.scene.ball, self.actions.ball_friction, self.actions.air = None, None, None
            return
        self.scene.ball = ball_cfg(self.ball)
        if self.actions.ball_friction is not None:
            self.actions.ball_friction.ball = self.ball
        self.actions.air = self._air()
        if not is_newton(self.sim.physics):
            add_touch_sensor(self.scene)

    def _finalize_actions(self) -> None:
        if self.low_level is None:
            self.actions.latent = None
            return
        self.actions.joint_pos = None
        self.actions.latent = LatentActionCfg(
            asset_name="robot",
            policy=str(find_policy(self.low_level)),
            observations={"policy": BodyGroupCfg()},
            targets=joint_targets_cfg(),
        )
        if hasattr(self.observations, "prior"):
            # the low-level policy has the style; nothing reads one-frame features any more
            self.observations.prior = None

    def _air(self) -> AerodynamicsActionCfg | None:
        if not (self.drag or self.magnus):
            return None
        air = self.aerodynamics.replace(magnus=self.magnus)  # type: ignore[attr-defined]
        if not self.drag:
            air.drag_coefficient = 0.0
        return AerodynamicsActionCfg(aerodynamics=air, radius=self.ball.radius, mass=self.ball.mass)

    def interface_fields(self) -> tuple[str, ...]:
        """What a policy can't be played without: see the base class."""
        return ("low_level", "foot", "drag", "magnus")

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Variants that every football task has."""
        return {"box_foot": {"foot": "box"}, "drag": {"drag": True}, "magnus": {"magnus": True}}

    def world_hooks(self) -> list[Callable]:
        """Contact pairs between the ball and everything it can hit."""
        return [] if self.ball_name is None else [ball_pairs_hook(self.ball, self.substep_dt())]
