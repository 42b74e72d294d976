"""A skill's manifest, and what it refuses to play with."""

import copy

import pytest
import torch
import yaml

from sportsuite.assets import asset_path
from sportsuite.errors import BadInputError
from sportsuite.learning.checkpoint import read_checkpoint, write_checkpoint
from sportsuite.skills.skill import find_policy, load_skill

SHIPPED = "policies/trap.pt"


@pytest.fixture(scope="module")
def skill():
    return load_skill(SHIPPED)


@pytest.fixture
def here(skill):
    """What the skill was trained with, as if it were here."""
    return copy.deepcopy({name: dict(group) for name, group in skill.manifest.observations.items()})


def joint_term(skill):
    return copy.deepcopy(dict(next(term for term in skill.manifest.actions.values() if term.get("joint_names"))))


def test_the_manifest_says_what_the_file_says(skill):
    manifest = skill.manifest
    assert manifest.task == "SportSuite-Trap-v0" and manifest.control_hz == 30.0 and manifest.num_actions == 28
    assert manifest.sizes == {"policy": (242,)} and skill.groups == ("policy",)
    assert "sportsuite" in manifest.versions
    assert len(manifest.joint_names) == 28 and len(manifest.sha256) == 64
    assert manifest.file == "trap.pt"


def test_it_acts_like_its_network_and_is_frozen(skill):
    obs = torch.randn(3, 242)
    again = load_skill(asset_path(SHIPPED))
    assert torch.equal(skill({"policy": obs}), again({"policy": obs})) and skill({"policy": obs}).shape == (3, 28)
    assert not any(parameter.requires_grad for parameter in skill.actor.parameters())


def test_actions_are_clamped_as_in_training(tmp_path):
    content = read_checkpoint(asset_path(SHIPPED))
    agent = yaml.safe_load(content["sportsuite"]["agent_cfg"]) | {"clip_actions": 0.01}
    content["sportsuite"]["agent_cfg"] = yaml.safe_dump(agent, sort_keys=False)
    write_checkpoint(tmp_path / "a.pt", content)
    clipped = load_skill(tmp_path / "a.pt")
    obs = {"policy": torch.randn(5, 242)}
    assert load_skill(SHIPPED)(obs).abs().max() > 0.01
    assert clipped(obs).abs().max() <= 0.01 + 1e-7


def test_what_it_was_trained_with_passes(skill, here):
    skill.check_observations(here, {"policy": (242,)})
    assert skill.layout({"other": {"class_type": "m:C"}, "joints": joint_term(skill)}) == "joints"
    skill.check_rate(30.0)


def change(here, path, value):
    *parents, leaf = path
    node = here
    for name in parents:
        node = node[name]
    node[leaf] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("policy", "ball_state", "func"), "m:f", "observation policy.ball_state: .*object_state_h in .*, m:f here"),
        (("policy", "ball_state", "scale"), 2.0, "policy.ball_state: scale is None in the policy's training, 2.0 here"),
        (("policy", "ball_state", "history_length"), 3, "history_length is 0 in .*, 3 here"),
        (("policy", "body_part", "params", "command_name"), "dribble", "command_name is trap in .*, dribble here"),
        (
            ("policy", "body_state", "params", "asset_cfg", "body_names"),
            ["head", "torso"],
            r"asset_cfg.body_names is \['pelvis', .*here",
        ),
    ],
)
def test_other_observations_are_refused(skill, here, path, value, message):
    change(here, path, value)
    with pytest.raises(BadInputError, match=message) as error:
        skill.check_observations(here, {"policy": (242,)})
    assert str(error.value).startswith("skill trap.pt (SportSuite-Trap-v0): ")


def test_missing_groups_and_other_sizes_are_refused(skill, here):
    with pytest.raises(BadInputError, match="sees observation group 'policy'; there is critic"):
        skill.check_observations({"critic": here["policy"]}, {"critic": (242,)})
    with pytest.raises(BadInputError, match=r"\[242\] numbers in the policy's training, \[243\] here"):
        skill.check_observations(here, {"policy": (243,)})
    del here["policy"]["ball_state"]
    with pytest.raises(BadInputError, match="terms .*ball_state.* in the policy's training, .* here"):
        skill.check_observations(here, {"policy": (242,)})


def test_other_actions_are_refused(skill):
    other = joint_term(skill) | {"offset": 0.5}
    with pytest.raises(BadInputError, match="offset is 0.0 in the policy's training, 0.5 here"):
        skill.layout({"joints": other})
    swapped = joint_term(skill)
    swapped["joint_names"] = swapped["joint_names"][::-1]
    with pytest.raises(BadInputError, match="joint_names is .* in the policy's training"):
        skill.layout({"joints": swapped})
    with pytest.raises(
        BadInputError, match="went to .*JointPositionAction.* in training, here they can go to m:Latent"
    ):
        skill.layout({"latent": {"class_type": "m:Latent"}})


def test_another_rate_is_refused(skill):
    with pytest.raises(BadInputError, match="acts at 30 Hz, here actions are taken at 60 Hz: set control_hz=30"):
        skill.check_rate(60.0)


def test_missing_policies_name_the_nearest(tmp_path):
    with pytest.raises(BadInputError, match="policy policies/trp.pt: there is neither such a file"):
        find_policy("policies/trp.pt")
    (tmp_path / "trap.pt").touch()
    with pytest.raises(BadInputError, match="did you mean trap.pt"):
        find_policy(tmp_path / "trp.pt")
