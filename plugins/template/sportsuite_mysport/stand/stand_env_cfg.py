"""MySport-Stand-v0: stand upright. The order of this file is the usual one: scene, managers, env cfg."""

from __future__ import annotations

from isaaclab.assets import ArticulationCfg, AssetBaseCfg
from isaaclab.envs import mdp
from isaaclab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.utils import configclass
from isaaclab.visualizers import VisualizerCfg

from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.characters.spec import BODY_NAMES, JOINT_NAMES, action_mapping
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.mdp import events, observations, terminations
from sportsuite.physics.ground import ground_cfg
from sportsuite.physics.presets import physics_presets
from sportsuite_mysport.mdp import rewards
from sportsuite_mysport.mdp import terminations as mysport_terminations


@configclass
class SceneCfg(InteractiveSceneCfg):
    """A humanoid on the ground, per world."""

    ground: AssetBaseCfg = ground_cfg()
    robot: ArticulationCfg = humanoid28_cfg("football", "boot")


@configclass
class ActionsCfg:
    """PD targets of all joints around the standing pose."""

    joint_pos = mdp.JointPositionActionCfg(
        asset_name="robot",
        joint_names=list(JOINT_NAMES),
        preserve_order=True,
        scale=dict(zip(JOINT_NAMES, action_mapping().scale, strict=True)),
        use_default_offset=True,
    )


@configclass
class ObservationsCfg:
    """What the policy sees; the critic sees the same."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """The state of all bodies in the heading frame."""

        body_state = ObservationTermCfg(
            func=observations.body_state_h,
            params={"asset_cfg": SceneEntityCfg("robot", body_names=list(BODY_NAMES), preserve_order=True)},
        )

    policy: PolicyCfg = PolicyCfg()


@configclass
class EventsCfg:
    """How an episode starts."""

    character = EventTermCfg(
        func=events.ResetCharacter,
        mode="reset",
        params={"fallen_states": "motions/fallen_states.npz", "fallen_fraction": 0.0},
    )


@configclass
class RewardsCfg:
    """What is paid for; Isaac Lab multiplies by the step time, so a weight of 30 at 30 Hz pays the term's own value."""

    height = RewardTermCfg(func=rewards.root_height_w_exp, weight=30.0, params={"target": 0.85, "scale": 10.0})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    left_area = TerminationTermCfg(func=mysport_terminations.root_left_area, params={"radius": 2.0})
    fallen = TerminationTermCfg(
        func=terminations.body_below_height,
        params={
            "minimum_height": 0.15,
            "head_height": 0.3,
            "asset_cfg": SceneEntityCfg("robot", body_names=["pelvis", "torso", "right_hand", "left_hand"]),
            "head_cfg": SceneEntityCfg("robot", body_names=["head"]),
        },
    )


@configclass
class StandEnvCfg(SportEnvCfg):
    """Config of MySport-Stand-v0. Rates come from the base: 30 Hz control, 120 Hz physics."""

    scene: SceneCfg = SceneCfg(num_envs=256, env_spacing=5.0)
    actions: ActionsCfg = ActionsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    episode_length_s: float = 5.0
    """Time limit [s]."""

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        self.sim.physics = physics_presets()
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(3.0, -3.0, 2.0), lookat=(0.0, 0.0, 0.8))
