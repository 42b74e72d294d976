"""Mirrored observations and actions: the maps, and a real environment whose characters mirror each other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from tensordict import TensorDict

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.mdp import observations, symmetry
from sportsuite.motion.library import MotionLibrary, MotionStates
from sportsuite.motion.mirror import mirror_clip
from sportsuite.motion.reference import write_states
from tests.motion.samples import make_clip

TASK = "SportSuite-ImitateHeading-v0"


def twice(mirror_map: symmetry.MirrorMap) -> bool:
    index, sign = mirror_map
    value = torch.rand(3, len(index))
    once = value[:, index] * sign
    return torch.equal(once[:, index] * sign, value) and not torch.equal(once, value)


@pytest.mark.parametrize("size", ["body_state", "joint", "object", "direction"])
def test_mirroring_twice_changes_nothing(size: str) -> None:
    maps = {
        "body_state": symmetry.body_state_map,
        "joint": symmetry.joint_map,
        "object": symmetry.object_map,
        "direction": lambda: symmetry.direction_map(3),
    }
    assert twice(maps[size]())


def test_joints_change_sides_by_hand() -> None:
    index, sign = symmetry.joint_map()
    action = torch.zeros(1, 28)
    for name, value in (("right_knee", 0.3), ("left_shoulder_x", 0.5), ("abdomen_y", 0.7), ("abdomen_z", 0.9)):
        action[0, spec.JOINT_NAMES.index(name)] = value
    mirrored = dict(zip(spec.JOINT_NAMES, (action[:, index] * sign)[0].tolist(), strict=True))
    found = {name: value for name, value in mirrored.items() if value}
    expected = {"left_knee": 0.3, "right_shoulder_x": -0.5, "abdomen_y": 0.7, "abdomen_z": -0.9}
    assert found == pytest.approx(expected)


def test_an_object_in_front_to_the_left_is_to_the_right() -> None:
    index, sign = symmetry.object_map()
    # place, orientation xyzw, velocity, spin
    seen = torch.tensor([[2.0, 1.0, 0.1, 0.1, 0.2, 0.3, 0.9, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]])
    expected = torch.tensor([[2.0, -1.0, 0.1, -0.1, 0.2, -0.3, 0.9, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0]])
    torch.testing.assert_close(seen[:, index] * sign, expected)


@pytest.fixture
def env(make):
    env = make(TASK, num_envs=4, seed=1, device="cpu")
    env.reset()
    return env


def test_the_mirrored_character_is_seen_as_the_map_says(env) -> None:
    """Worlds 2 and 3 are the mirror images of worlds 0 and 1, their commands too."""
    clip = make_clip(8, ball=False)
    joint_pos = 0.2 * clip.joint_pos
    clip = clip.with_(joint_pos=joint_pos, root_pos=clip.root_pos + [0.0, 0.0, 3.0])
    library = MotionLibrary([clip, mirror_clip(clip)])
    clips, times = torch.tensor([0, 0, 1, 1]), torch.tensor([0.05, 0.15, 0.05, 0.15])
    states: MotionStates = library.states(clips, times)
    write_states(env, torch.arange(4), states)
    command = env.command_manager.get_term("heading")
    command.direction_w[:] = torch.tensor([[0.6, 0.8], [0.0, -1.0], [0.6, -0.8], [0.0, 1.0]])
    command.speed[:] = torch.tensor([1.0, 2.0, 1.0, 2.0])
    obs = env.observation_manager.compute_group("policy")
    index, sign = symmetry.group_map(env, "policy")
    assert index.shape == (obs.shape[1],)
    torch.testing.assert_close(obs[:2, index] * sign, obs[2:], atol=2e-4, rtol=1e-4)
    assert (obs[:2] - obs[2:]).abs().max() > 0.5


def test_samples_are_followed_by_their_mirror_images(env) -> None:
    obs = TensorDict(env.observation_manager.compute(), batch_size=[4])
    actions = torch.rand(4, 28)
    both, acts = symmetry.mirror_samples(env, obs, actions)
    assert both.batch_size == torch.Size([8]) and acts.shape == (8, 28)
    torch.testing.assert_close(both["policy"][:4], obs["policy"])
    torch.testing.assert_close(acts[:4], actions)
    # the mirror images' mirror images are the samples
    again, acts_again = symmetry.mirror_samples(env, both[4:], acts[4:])
    torch.testing.assert_close(again["policy"][4:], obs["policy"])
    torch.testing.assert_close(acts_again[4:], actions)
    assert not torch.allclose(both["policy"][4:], obs["policy"])
    # what only discriminators see stays as it is
    torch.testing.assert_close(both["prior"][4:], obs["prior"])
    assert symmetry.mirror_samples(env, None, None) == (None, None)


def test_an_unknown_observation_is_named() -> None:
    def wind(env: object) -> torch.Tensor:
        return torch.zeros(1, 2)

    def manager(**terms: object) -> SimpleNamespace:
        cfgs = [SimpleNamespace(func=func, params={}) for func in terms.values()]
        group = SimpleNamespace(active_terms={"policy": list(terms)}, _group_obs_term_cfgs={"policy": cfgs})
        env = SimpleNamespace(observation_manager=group, device="cpu")
        env.unwrapped = env
        return env

    index, _ = symmetry.group_map(manager(body=observations.body_state_h, ball=observations.object_state_h), "policy")
    assert len(index) == 223 + 13 and index[223:].tolist() == list(range(223, 236))
    with pytest.raises(BadInputError, match="observation policy.wind: its mirror image is unknown"):
        symmetry.group_map(manager(body=observations.body_state_h, wind=wind), "policy")
