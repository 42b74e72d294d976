"""Sprint-60m-v0: run 60 m down a lane from a standing start."""

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
from sportsuite.characters.spec import BODY_NAMES, FEET, JOINT_NAMES, action_mapping
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.mdp.observations import body_state_h
from sportsuite.mdp.terminations import body_below_height, nonfinite_state
from sportsuite.physics.presets import physics_presets
from sportsuite_sprint.mdp import events, observations, rewards, terminations
from sportsuite_sprint.track import LANE_WIDTH, cross_line_cfg, side_line_cfg, track_ground_cfg

LENGTH = 60.0
"""Distance from the start line to the finish line [m]."""

MUST_STAY_UP = [name for name in BODY_NAMES if name not in (*FEET, "right_shin", "left_shin")]
"""Bodies whose height tells a fall. A shin's origin is the knee, which comes low in a sprinter's stride (ours)."""


@configclass
class TrackSceneCfg(InteractiveSceneCfg):
    """A runner in a lane, per world."""

    ground: AssetBaseCfg = track_ground_cfg()
    start_line: AssetBaseCfg = cross_line_cfg("StartLine", 0.0)
    finish_line: AssetBaseCfg = cross_line_cfg("FinishLine", LENGTH)
    left_line: AssetBaseCfg = side_line_cfg("LeftLine", 1.0, LENGTH)
    right_line: AssetBaseCfg = side_line_cfg("RightLine", -1.0, LENGTH)
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
    """223 numbers of the runner, 4 of the lane."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What the policy sees; the critic sees the same."""

        body_state = ObservationTermCfg(
            func=body_state_h,
            params={"asset_cfg": SceneEntityCfg("robot", body_names=list(BODY_NAMES), preserve_order=True)},
        )
        lane_state = ObservationTermCfg(func=observations.lane_state, params={"length": LENGTH})

    policy: PolicyCfg = PolicyCfg()


@configclass
class EventsCfg:
    """Start of an episode."""

    start = EventTermCfg(func=events.reset_on_start_line, mode="reset")


@configclass
class RewardsCfg:
    """Isaac Lab multiplies rewards by the step time; the factor 30 undoes that at 30 Hz."""

    # 9 m/s is about the mean speed of the best over this distance; the character will be slower
    speed = RewardTermCfg(func=rewards.root_speed_x_linear, weight=30.0, params={"reference": 9.0})
    lane = RewardTermCfg(func=rewards.lane_offset_y_exp, weight=30.0 * 0.2, params={"scale": 4.0})
    # over a fixed distance the speed term pays the same however long it takes; this makes arriving worth it (ours)
    finish = RewardTermCfg(func=rewards.finish_line_crossed, weight=30.0 * 100.0, params={"length": LENGTH})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    finished = TerminationTermCfg(func=terminations.finished, params={"length": LENGTH})
    out_of_lane = TerminationTermCfg(func=terminations.out_of_lane, params={"half_width": 0.5 * LANE_WIDTH})
    fallen = TerminationTermCfg(
        func=body_below_height,
        params={
            "minimum_height": 0.15,
            "head_height": 0.3,
            "asset_cfg": SceneEntityCfg("robot", body_names=MUST_STAY_UP),
            "head_cfg": SceneEntityCfg("robot", body_names=["head"]),
        },
    )


@configclass
class DashEnvCfg(SportEnvCfg):
    """Config of Sprint-60m-v0. Rates come from the base: 30 Hz control, 120 Hz physics."""

    # worlds don't touch each other, so that their lanes may lie side by side, as on a track
    scene: TrackSceneCfg = TrackSceneCfg(num_envs=256, env_spacing=LANE_WIDTH)
    actions: ActionsCfg = ActionsCfg()
    observations: ObservationsCfg = ObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: RewardsCfg = RewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    episode_length_s: float = 20.0
    """Time limit [s]: 3 m/s, a jog, just makes it (ours)."""

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        self.sim.physics = physics_presets()
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(-4.0, -4.0, 2.5), lookat=(2.0, 0.0, 0.8))
