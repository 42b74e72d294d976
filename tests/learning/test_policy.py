import json
from types import SimpleNamespace

import pytest
import torch
import yaml
from isaaclab.managers import SceneEntityCfg
from isaaclab.utils import configclass

from sportsuite.errors import BadInputError
from sportsuite.learning import policy as policies
from sportsuite.learning.checkpoint import read_checkpoint, write_checkpoint
from tests.learning.toy_env import ToyEnv, toy_cfg, toy_runner

TASK = SimpleNamespace(spec=SimpleNamespace(id="Toy-v0"), origin=SimpleNamespace(module="toy_sport.plugin"))


class PlayedToyEnv(ToyEnv):
    """With what a policy reads of an unwrapped environment."""

    @property
    def obs_buf(self):
        return dict(self.get_observations().items())

    @property
    def action_manager(self):
        return SimpleNamespace(total_action_dim=self.num_actions)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    runner = toy_runner(log_dir=folder)
    runner.learn(3)
    return runner, folder / "model_2.pt"


def edited(source, target, **changes):
    """Copy a checkpoint with changes to its description."""
    content = read_checkpoint(source)
    content["sportsuite"] |= changes
    write_checkpoint(target, content)
    return target


def test_loaded_policy_acts_like_the_trained_one(trained):
    runner, path = trained
    env = PlayedToyEnv()
    policy = policies.load_policy(path, env, TASK)  # type: ignore[arg-type]
    obs = env.get_observations()
    normalizer = runner.alg.actor.obs_normalizer
    assert normalizer.mean.abs().max() > 1e-3  # otherwise a policy without it would pass
    expected = runner.get_inference_policy()(obs)
    assert torch.equal(policy(obs), expected)
    assert torch.equal(policy(dict(obs.items())), expected)
    assert policy.about["samples"] == 3 * 8 * 16 and policy.about["kind"] == "checkpoint"


def test_actions_are_clipped_as_in_training(trained, tmp_path):
    _, path = trained
    cfg = yaml.safe_load(read_checkpoint(path)["sportsuite"]["agent_cfg"]) | {"clip_actions": 1e-4}
    clipped = edited(path, tmp_path / "a.pt", agent_cfg=yaml.safe_dump(cfg))
    env = PlayedToyEnv()
    policy = policies.load_policy(clipped, env, TASK)  # type: ignore[arg-type]
    assert policy(env.get_observations()).abs().max() <= 1e-4


def test_other_task_and_other_observations(trained):
    _, path = trained
    other = SimpleNamespace(spec=SimpleNamespace(id="Other-v0"), origin=TASK.origin)
    with pytest.raises(BadInputError, match="trained on Toy-v0, not on Other-v0"):
        policies.load_policy(path, PlayedToyEnv(), other)  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="other observations"):
        policies.load_policy(path, PlayedToyEnv(extra_obs=1), TASK)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["actor", "distribution"])
def test_a_file_does_not_choose_what_is_imported(trained, tmp_path, monkeypatch, part):
    (tmp_path / "intruder.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nclass Net: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    cfg = yaml.safe_load(read_checkpoint(trained[1])["sportsuite"]["agent_cfg"])
    (cfg["actor"] if part == "actor" else cfg["actor"]["distribution_cfg"])["class_name"] = "intruder:Net"
    forged = edited(trained[1], tmp_path / "a.pt", agent_cfg=yaml.safe_dump(cfg))
    with pytest.raises(BadInputError, match="intruder:Net"):
        policies.load_policy(forged, PlayedToyEnv(), TASK)  # type: ignore[arg-type]
    assert not (tmp_path / "ran").exists()


def test_untrained_policy_follows_its_seed_and_nothing_else():
    env = PlayedToyEnv()
    obs = env.get_observations()
    state = torch.get_rng_state()
    first, again, other = (policies.untrained_policy(env, toy_cfg(), seed)(obs) for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


def test_zero_policy():
    env = PlayedToyEnv()
    assert torch.equal(policies.zero_policy(env)(env.get_observations()), torch.zeros(8, 1))


@configclass
class TermCfg:
    history_length: int = 0
    params: dict = {"asset_cfg": SceneEntityCfg("robot")}


@configclass
class GroupCfg:
    position: TermCfg = TermCfg()


@configclass
class ObservationsCfg:
    policy: GroupCfg = GroupCfg()


@configclass
class EnvCfg:
    control_hz: float = 30.0
    observations: ObservationsCfg = ObservationsCfg()
    actions: TermCfg = TermCfg()


def test_checkpoint_plays_with_the_observations_it_was_trained_with(trained, tmp_path):
    saved = {
        "control_hz": 60.0,
        "observations": {"policy": {"position": {"history_length": 3, "params": {"asset_cfg": {"body_ids": [1, 2]}}}}},
        "actions": {"history_length": 0},
    }
    path = edited(trained[1], tmp_path / "a.pt", env_cfg=yaml.safe_dump(saved))
    cfg = EnvCfg()
    assert policies.restore_interface(cfg, path) == [
        "control_hz=60.0",
        "observations.policy.position.history_length=3",
    ]
    assert cfg.observations.policy.position.history_length == 3
    assert cfg.observations.policy.position.params["asset_cfg"].body_ids == slice(None)
    assert policies.restore_interface(cfg, path) == []


def test_term_that_training_switched_off_stays_off(trained, tmp_path):
    path = edited(
        trained[1], tmp_path / "a.pt", env_cfg=yaml.safe_dump({"observations": {"policy": {"position": None}}})
    )
    cfg = EnvCfg()
    policies.restore_interface(cfg, path)
    assert cfg.observations.policy.position is None


def test_config_from_a_version_that_had_more(trained, tmp_path):
    path = edited(
        trained[1], tmp_path / "a.pt", env_cfg=yaml.safe_dump({"observations": {"policy": {"speed": {"a": 1}}}})
    )
    with pytest.raises(BadInputError, match="speed"):
        policies.restore_interface(EnvCfg(), path)


def test_shipped_policy_has_a_card(trained, tmp_path):
    metric = {"value": 0.5, "unit": "1", "reference": 0.6, "definition": "share"}
    document = {"episodes": 10, "seeds": [0, 1], "metrics": {"success": metric}}
    policies.ship_policy(trained[1], tmp_path / "toy.pt", document, "nothing but the reward")
    card = json.loads((tmp_path / "toy.card.json").read_text())
    assert card["samples"] == 3 * 8 * 16 and card["train_seconds"] > 0 and card["machine"]
    assert card["figures"] == {"success": {"value": 0.5, "unit": "1", "reference": 0.6}}
    assert card["seeds"] == {"training": 42, "evaluation": [0, 1]}
    loaded = policies.load_policy(tmp_path / "toy.pt", PlayedToyEnv(), TASK)  # type: ignore[arg-type]
    assert loaded.about["card"] == card and loaded.about["sha256"] == card["sha256"]


def test_missing_shipped_policy(monkeypatch, tmp_path):
    task = SimpleNamespace(
        spec=SimpleNamespace(id="Toy-v0", policy="p.pt"), origin=SimpleNamespace(distribution="toys")
    )
    monkeypatch.setattr(policies, "policy_path", lambda task: tmp_path / "p.pt")
    with pytest.raises(BadInputError, match="reinstall toys"):
        policies.pretrained_path(task)  # type: ignore[arg-type]
    monkeypatch.setattr(policies, "policy_path", lambda task: None)
    with pytest.raises(BadInputError, match="ships no policy"):
        policies.pretrained_path(task)  # type: ignore[arg-type]
