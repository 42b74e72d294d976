"""A low-level policy is trained for an instant, saved, and driven by its latent in another environment."""

import pytest
import torch
from isaaclab.assets import ArticulationCfg, AssetBaseCfg
from isaaclab.envs import mdp
from isaaclab.managers import EventTermCfg, ObservationGroupCfg, ObservationTermCfg, SceneEntityCfg, TerminationTermCfg
from isaaclab.scene import InteractiveSceneCfg
from isaaclab.utils import configclass
from isaaclab_rl.rsl_rl import RslRlVecEnvWrapper, create_rsl_rl_runner, handle_deprecated_rsl_rl_cfg

from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.characters.spec import BODY_NAMES, JOINT_NAMES
from sportsuite.envs.make_env import resolve_physics
from sportsuite.envs.sport_env import SportEnv
from sportsuite.envs.sport_env_cfg import SportEnvCfg
from sportsuite.errors import BadInputError
from sportsuite.learning.agent_cfgs import amp_cfg, calm_cfg
from sportsuite.learning.checkpoint import strip_checkpoint
from sportsuite.learning.policy import load_actor
from sportsuite.mdp import observations
from sportsuite.mdp.actions import joint_targets_cfg
from sportsuite.motion.reference import ReferenceMotionCfg, ResetToReference, prior_features_h
from sportsuite.physics.ground import ground_cfg
from sportsuite.physics.presets import physics_presets
from sportsuite.priors.latent import LatentCommandCfg, latent, latent_window
from sportsuite.skills.latent_action import (
    LatentActionCfg,
    calls_per_policy_step,
    check_actions,
    check_observations,
)

CHARACTER = {"asset_cfg": SceneEntityCfg("robot", body_names=list(BODY_NAMES), preserve_order=True)}


@configclass
class SceneCfg(InteractiveSceneCfg):
    ground: AssetBaseCfg = ground_cfg()
    robot: ArticulationCfg = humanoid28_cfg("football", "box")


@configclass
class BodyGroupCfg(ObservationGroupCfg):
    body_state = ObservationTermCfg(func=observations.body_state_h, params=CHARACTER)


@configclass
class LowObservationsCfg:
    @configclass
    class PriorCfg(ObservationGroupCfg):
        features = ObservationTermCfg(func=prior_features_h)

    @configclass
    class LatentCfg(ObservationGroupCfg):
        value = ObservationTermCfg(func=latent, params={"command_name": "latent"})

    @configclass
    class WindowCfg(ObservationGroupCfg):
        value = ObservationTermCfg(func=latent_window, params={"command_name": "latent"})

    policy: BodyGroupCfg = BodyGroupCfg()
    prior: PriorCfg = PriorCfg()
    latent: LatentCfg = LatentCfg()
    latent_window: WindowCfg = WindowCfg()


@configclass
class HighObservationsCfg:
    policy: BodyGroupCfg = BodyGroupCfg()


@configclass
class LowActionsCfg:
    joint_pos: mdp.JointPositionActionCfg = joint_targets_cfg()


@configclass
class HighActionsCfg:
    latent: LatentActionCfg = LatentActionCfg(
        asset_name="robot", observations={"policy": BodyGroupCfg()}, targets=joint_targets_cfg()
    )


@configclass
class CommandsCfg:
    latent: LatentCommandCfg = LatentCommandCfg(window_frames=60)


@configclass
class EventsCfg:
    character = EventTermCfg(
        func=ResetToReference,  # type: ignore[arg-type]
        mode="reset",
        params={"motion": ReferenceMotionCfg(clips=["isaaclab:walk"]), "fallen_states": "motions/fallen_states.npz"},
    )


@configclass
class TerminationsCfg:
    time_out = TerminationTermCfg(func=mdp.time_out, time_out=True)


@configclass
class NothingCfg:
    pass


@configclass
class LowEnvCfg(SportEnvCfg):
    scene: SceneCfg = SceneCfg(num_envs=4, env_spacing=4.0)
    actions: LowActionsCfg = LowActionsCfg()
    commands: CommandsCfg = CommandsCfg()
    observations: LowObservationsCfg = LowObservationsCfg()
    events: EventsCfg = EventsCfg()
    rewards: NothingCfg = NothingCfg()
    terminations: TerminationsCfg = TerminationsCfg()
    episode_length_s: float = 1.0

    def __post_init__(self) -> None:
        self.sim.physics = physics_presets()
        self.sim.device = "cpu"


@configclass
class HighEnvCfg(LowEnvCfg):
    actions: HighActionsCfg = HighActionsCfg()
    commands: NothingCfg = NothingCfg()
    observations: HighObservationsCfg = HighObservationsCfg()


@pytest.fixture(scope="module")
def policies(tmp_path_factory, _environments):
    """A CALM policy and one without a latent, trained for one iteration, stripped."""
    folder = tmp_path_factory.mktemp("policies")
    _environments["close"]()
    env = SportEnv(resolve_physics(LowEnvCfg(), None))
    small = {"num_steps_per_env": 12, "algorithm.num_mini_batches": 2}
    cfgs = {"calm": calm_cfg("smoke", "low", **small), "amp": amp_cfg("smoke", "low", **small)}
    try:
        for name, cfg in cfgs.items():
            cfg.device, cfg.algorithm.mirror = "cpu", None
            cfg = handle_deprecated_rsl_rl_cfg(cfg, "5.5.1")
            runner = create_rsl_rl_runner(RslRlVecEnvWrapper(env), cfg, log_dir=None)
            runner.learn(1)
            runner.save(str(folder / "whole.pt"))
            strip_checkpoint(folder / "whole.pt", folder / f"{name}.pt")
    finally:
        env.close()
    return folder


def high_env(policy, **changes):
    cfg = HighEnvCfg()
    cfg.actions.latent.policy = str(policy)
    for path, value in changes.items():
        owner, _, field = path.replace("__", ".").rpartition(".")
        target = cfg
        for name in filter(None, owner.split(".")):
            target = target[name] if isinstance(target, dict) else getattr(target, name)
        setattr(target, field, value)
    return SportEnv(resolve_physics(cfg, None))


@pytest.fixture
def env(policies, _environments):
    _environments["close"]()
    environment = high_env(policies / "calm.pt")
    yield environment
    environment.close()


def test_latent_drives_the_mean_action_of_the_frozen_policy(env, policies):
    assert env.action_manager.total_action_dim == 64
    obs, _ = env.reset()
    term = env.action_manager.get_term("latent")
    action = 3.0 * torch.randn(4, 64)
    actor, _ = load_actor(policies / "calm.pt")
    z = torch.nn.functional.normalize(action.clamp(-1, 1), dim=-1)
    expected = actor({"policy": obs["policy"], "latent": z})
    env.step(action)
    assert torch.allclose(term.processed_actions, z)
    assert torch.allclose(term.raw_actions, action)
    assert torch.allclose(term._targets.raw_actions, expected, atol=1e-5)
    # another latent, another action
    env.step(-action)
    assert (term._targets.raw_actions - expected).abs().max() > 1e-4
    assert not any(p.requires_grad for p in term._actor.parameters())


def test_episodes_go_on_through_resets(env):
    env.reset()
    for _ in range(35):
        obs, *_ = env.step(torch.randn(4, 64))
    assert torch.isfinite(obs["policy"]).all()


@pytest.mark.parametrize(
    ("policy", "changes", "message"),
    [
        ("amp", {}, "takes no latent: it sees policy"),
        ("calm", {"control_hz": 20.0}, "acts at 30 Hz; here actions are taken at 20 Hz"),
        (
            "calm",
            {"actions__latent__targets__use_default_offset": False},
            "use_default_offset is True in the policy's training, False here",
        ),
        (
            "calm",
            {"actions__latent__targets__joint_names": list(JOINT_NAMES[:-1])},
            "the policy gives 28 actions, 27 here",
        ),
        (
            "calm",
            {"actions__latent__observations__policy__body_state": ObservationTermCfg(func=mdp.joint_pos)},
            "body_state.*in the policy's training.*joint_pos here",
        ),
    ],
)
def test_interface_is_checked(policies, _environments, policy, changes, message):
    _environments["close"]()
    if "joint_names" in str(changes):
        scale = {name: value for name, value in joint_targets_cfg().scale.items() if name != JOINT_NAMES[-1]}  # type: ignore[union-attr]
        changes = changes | {"actions__latent__targets__scale": scale}
    with pytest.raises(BadInputError, match=message):
        high_env(policies / f"{policy}.pt", **changes).close()


def test_rates():
    assert calls_per_policy_step(30.0, 1 / 30, 1 / 30) == 1
    # a high-level policy at 6 Hz on single physics steps at 120 Hz
    assert calls_per_policy_step(30.0, 1 / 120, 1 / 6) == 4
    for call_dt, step_dt in ((1 / 6, 1 / 6), (1 / 120, 1 / 60), (1 / 50, 1 / 10)):
        with pytest.raises(BadInputError, match="control_hz=30"):
            calls_per_policy_step(30.0, call_dt, step_dt)


def test_differences_name_both_sides():
    trained = {"a": {"func": "m:f"}, "b": {"func": "m:g"}, "history_length": 0}
    check_observations("policy", trained, dict(trained))
    with pytest.raises(BadInputError, match=r"terms a, b in the policy's training, b, a here"):
        check_observations("policy", trained, {"b": {"func": "m:g"}, "a": {"func": "m:f"}})
    with pytest.raises(BadInputError, match=r"policy.b: m:g in the policy's training, m:h here"):
        check_observations("policy", trained, trained | {"b": {"func": "m:h"}})
    check_actions({"j": {"scale": 1.0}}, {"scale": 1.0})
    with pytest.raises(BadInputError, match=r"action j: scale is 1.0 in the policy's training, 2.0 here"):
        check_actions({"j": {"scale": 1.0}}, {"scale": 2.0})
    with pytest.raises(BadInputError, match="2 action terms"):
        check_actions({"j": {}, "k": {}}, {})
