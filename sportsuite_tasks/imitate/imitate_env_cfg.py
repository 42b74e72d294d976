"""Configs of the motion prior tasks: go where told in the style of clips; latents of a prior."""

from __future__ import annotations

from isaaclab.assets import ArticulationCfg, AssetBaseCfg
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
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.utils import configclass
from isaaclab.visualizers import VisualizerCfg

from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.characters.spec import BODY_NAMES
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.mdp import commands, curriculums, observations, rewards, terminations
from sportsuite.mdp.actions import joint_targets_cfg
from sportsuite.motion.reference import ReferenceMotionCfg, ResetToReference, prior_features_h
from sportsuite.physics.ground import ground_cfg
from sportsuite.physics.presets import physics_presets
from sportsuite.priors.latent import LatentCommandCfg, latent, latent_window

HEADING_CLIPS = [
    "isaaclab:walk",
    "isaaclab:run",
    "suite:stand",
    "suite:walk_slow",
    "suite:walk_turning_left",
    "suite:turn_left",
]
"""Clips that everybody has; their mirror images are used as well."""

LATENT_CLIPS = [*HEADING_CLIPS, "suite:walk_left", "suite:walk_backward"]
"""What a latent policy learns without a data set of one's own."""

_CHARACTER = {"asset_cfg": SceneEntityCfg("robot", body_names=list(BODY_NAMES), preserve_order=True)}


@configclass
class SceneCfg(InteractiveSceneCfg):
    """A character on a plane, per world."""

    ground: AssetBaseCfg = ground_cfg()
    robot: ArticulationCfg = humanoid28_cfg("football", "boot")


@configclass
class ActionsCfg:
    """PD targets of all joints."""

    joint_pos: mdp.JointPositionActionCfg = joint_targets_cfg()


@configclass
class PriorGroupCfg(ObservationGroupCfg):
    """What discriminators and encoders see of one frame."""

    features = ObservationTermCfg(func=prior_features_h)


@configclass
class LatentGroupCfg(ObservationGroupCfg):
    """The latent in force, the last input of a policy."""

    value = ObservationTermCfg(func=latent, params={"command_name": "latent"})


@configclass
class LatentWindowGroupCfg(ObservationGroupCfg):
    """The reference motion that the latent stands for, which CALM's encoder sees."""

    value = ObservationTermCfg(func=latent_window, params={"command_name": "latent"})


@configclass
class LatentCommandsCfg:
    """What to do."""

    latent: LatentCommandCfg = LatentCommandCfg(window_frames=60)


@configclass
class LatentObservationsCfg:
    """223 numbers of the character; what it shall do is a group of its own."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What a policy sees besides the latent."""

        body_state = ObservationTermCfg(func=observations.body_state_h, params=_CHARACTER)

    policy: PolicyCfg = PolicyCfg()
    prior: PriorGroupCfg = PriorGroupCfg()
    latent: LatentGroupCfg = LatentGroupCfg()
    latent_window: LatentWindowGroupCfg = LatentWindowGroupCfg()


@configclass
class HeadingCommandsCfg:
    """Where to go."""

    heading: commands.HeadingCommandCfg = commands.HeadingCommandCfg()


@configclass
class HeadingObservationsCfg:
    """223 numbers of the character and the command."""

    @configclass
    class PolicyCfg(ObservationGroupCfg):
        """What the policy sees; the critic sees the same."""

        body_state = ObservationTermCfg(func=observations.body_state_h, params=_CHARACTER)
        heading = ObservationTermCfg(func=mdp.generated_commands, params={"command_name": "heading"})

    policy: PolicyCfg = PolicyCfg()
    prior: PriorGroupCfg = PriorGroupCfg()


@configclass
class EventsCfg:
    """Starts from the reference motion, pushes on the way."""

    character = EventTermCfg(
        func=ResetToReference,  # type: ignore[arg-type]
        mode="reset",
        params={
            "motion": ReferenceMotionCfg(clips=HEADING_CLIPS),
            "fallen_states": "motions/fallen_states.npz",
            "reference_fraction": 0.4,  # ours: with 0.9 the first step out of a stance is hardly ever practised
            "fallen_fraction": 0.0,
            "joint_noise": 0.02,
            "lift": 0.01,
        },
    )
    push = EventTermCfg(
        func=mdp.push_by_setting_velocity,
        mode="interval",
        interval_range_s=(4.0, 8.0),
        params={"velocity_range": {"x": (-0.5, 0.5), "y": (-0.5, 0.5)}},
    )


@configclass
class LatentEventsCfg(EventsCfg):
    """Half of the starts from the reference, half standing, one in ten lying on the ground (ASE, CALM)."""

    def __post_init__(self) -> None:
        """Change what differs."""
        self.character.params |= {
            "motion": ReferenceMotionCfg(clips=LATENT_CLIPS),
            "reference_fraction": 0.5,
            "fallen_fraction": 0.1,
        }
        self.push = None


@configclass
class LatentRewardsCfg:
    """Nothing: a latent policy learns from its priors alone."""


@configclass
class HeadingRewardsCfg:
    """One per step at best. Isaac Lab multiplies rewards by the step time; 30 undoes that at 30 Hz."""

    velocity = RewardTermCfg(
        func=rewards.heading_velocity, weight=30.0 * 0.6, params={"command_name": "heading", "scale": 4.0}
    )
    facing = RewardTermCfg(func=rewards.heading_facing, weight=30.0 * 0.25, params={"command_name": "heading"})
    standing_feet = RewardTermCfg(func=rewards.feet_stand_still, weight=30.0 * 0.15, params={"scale": 2.0})


@configclass
class TerminationsCfg:
    """How an episode ends."""

    nonfinite = TerminationTermCfg(func=terminations.nonfinite_state)
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)
    fallen = terminations.fall_term()


@configclass
class HeadingCurriculumCfg:
    """From slow straight walks to running and turning."""

    level = CurriculumTermCfg(func=curriculums.HeadingCommandLevel, params={"start": 0.0, "error": 0.35})  # type: ignore[arg-type]


@configclass
class ImitateHeadingEnvCfg(SportEnvCfg):
    """Config of SportSuite-ImitateHeading-v0."""

    scene: SceneCfg = SceneCfg(num_envs=512, env_spacing=4.0)
    actions: ActionsCfg = ActionsCfg()
    commands: HeadingCommandsCfg = HeadingCommandsCfg()
    observations: HeadingObservationsCfg = HeadingObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: HeadingRewardsCfg = HeadingRewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()
    curriculum: HeadingCurriculumCfg = HeadingCurriculumCfg()

    episode_length_s: float = 10.0
    physics_hz: float = 120.0

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        self.sim.physics = physics_presets()
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(4.0, -4.0, 2.5), lookat=(0.0, 0.0, 0.8))
        self.events.character.params["motion"].speed_range = self.commands.heading.speed_range


@configclass
class ImitateEnvCfg(SportEnvCfg):
    """Config of SportSuite-Imitate-v0: the low-level policy of ASE and CALM.

    A data set of one's own: ``env.events.character.params.motion.clips=[a.npz,b.npz]``.
    """

    scene: SceneCfg = SceneCfg(num_envs=512, env_spacing=4.0)
    actions: ActionsCfg = ActionsCfg()
    commands: LatentCommandsCfg = LatentCommandsCfg()
    observations: LatentObservationsCfg = LatentObservationsCfg()
    events: LatentEventsCfg = LatentEventsCfg()
    rewards: LatentRewardsCfg = LatentRewardsCfg()
    terminations: TerminationsCfg = TerminationsCfg()

    episode_length_s: float = 10.0
    physics_hz: float = 120.0

    def __post_init__(self) -> None:
        """Fill in what a class-level default can't hold."""
        self.sim.physics = physics_presets()
        self.sim.default_visualizer_cfg = VisualizerCfg(eye=(4.0, -4.0, 2.5), lookat=(0.0, 0.0, 0.8))
