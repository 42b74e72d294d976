"""What a new training takes over from another task's policy."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
import yaml
from rsl_rl.models import MLPModel
from tensordict import TensorDict

from sportsuite.errors import BadInputError
from sportsuite.learning import warm_start as module
from sportsuite.learning.models import LatentActor
from sportsuite.learning.warm_start import common_columns, warm_start, widen
from sportsuite_tasks.football.models import FeatureInput


def body(env):
    """Stands for an observation term."""


def ball(env):
    """Stands for another one."""


def goal(env, command_name):
    """Stands for a term that is told what to show."""


def term(func, **params):
    return SimpleNamespace(func=func, params=params, __dataclass_fields__={})


def manager(*terms):
    names = [f"t{index}" for index in range(len(terms))]
    group = SimpleNamespace(**{name: entry for name, (entry, _) in zip(names, terms, strict=True)})
    return SimpleNamespace(
        cfg=SimpleNamespace(policy=group),
        active_terms={"policy": names},
        group_obs_term_dim={"policy": [(size,) for _, size in terms]},
    )


def saved(*functions):
    terms = {f"s{i}": {"func": f"{__name__}:{f.__name__}", "params": params} for i, (f, params) in enumerate(functions)}
    return {"observations": {"policy": {"concatenate_terms": True, **terms}}}


def test_terms_are_common_up_to_the_first_that_differs():
    here = manager((term(body), 5), (term(ball), 3), (term(goal, command_name="kick"), 2))
    assert common_columns(saved((body, {}), (ball, {})), here) == 8
    assert common_columns(saved((body, {}), (goal, {"command_name": "kick"})), here) == 5
    assert common_columns(saved((ball, {})), here) == 0


def test_a_term_that_shows_another_command_is_another_term():
    here = manager((term(body), 5), (term(goal, command_name="kick"), 2))
    assert common_columns(saved((body, {}), (goal, {"command_name": "kick"})), here) == 7
    assert common_columns(saved((body, {}), (goal, {"command_name": "heading"})), here) == 5


def test_widen_copies_leading_columns():
    old, new = torch.tensor([[1.0, 2.0, 3.0]]), torch.zeros(1, 4)
    assert widen(new, old, 2, rest=9.0).tolist() == [[1.0, 2.0, 9.0, 9.0]]  # type: ignore[union-attr]
    assert widen(torch.zeros(2), torch.ones(2), 1, rest=0.0).tolist() == [1.0, 1.0]  # type: ignore[union-attr]
    assert widen(torch.zeros(2, 4), torch.zeros(3, 4), 2, rest=0.0) is None


@pytest.fixture
def checkpoint(monkeypatch):
    """A checkpoint of a network on 3 numbers, of which 2 are the new task's."""
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    prior = torch.nn.Linear(2, 1)
    content = {
        "sportsuite": {"env_cfg": yaml.safe_dump(saved((body, {}), (ball, {})))},
        "actor_state_dict": network.state_dict(),
        "critic_state_dict": network.state_dict(),
        "channels": {"priors": {"style": {"model": prior.state_dict()}}},
    }
    monkeypatch.setattr(module, "read_checkpoint", lambda path, device: content)
    return network, prior


def learner(inputs, outputs=2):
    def network():
        return torch.nn.Sequential(torch.nn.Linear(inputs, 4), torch.nn.Linear(4, outputs))

    prior = SimpleNamespace(model=torch.nn.Linear(2, 1))
    prior.load_state = lambda state: prior.model.load_state_dict(state["model"])
    return SimpleNamespace(actor=network(), critic=network(), priors={"style": prior}, critic_warmup=7, warmup_left=0)


def env(*terms):
    return SimpleNamespace(unwrapped=SimpleNamespace(device="cpu", observation_manager=manager(*terms)))


def test_new_inputs_change_nothing_at_first(checkpoint):
    old, prior = checkpoint
    algorithm = learner(inputs=6)
    copied = warm_start(algorithm, env((term(body), 2), (term(goal, command_name="kick"), 4)), "any.pt")
    assert copied == ["actor", "critic", "style"]
    shared, rest = torch.rand(5, 2), torch.rand(5, 4)
    expected = old(torch.cat((shared, torch.zeros(5, 1)), dim=1))
    assert torch.allclose(algorithm.actor(torch.cat((shared, rest), dim=1)), expected)
    assert torch.equal(algorithm.priors["style"].model.weight, prior.weight)


def test_the_noise_of_actions_stays_fresh():
    def noisy(std: float) -> torch.nn.Module:
        network = torch.nn.Linear(2, 2)
        network.register_parameter("log_std_param", torch.nn.Parameter(torch.full((2,), std)))
        return network

    fresh, old = noisy(-2.0), noisy(-4.0)
    assert module._load(fresh, old.state_dict(), columns=2)
    assert torch.equal(fresh.weight, old.weight)
    assert fresh.log_std_param.tolist() == [-2.0, -2.0]  # type: ignore[union-attr]


def test_nothing_in_common_is_an_error(checkpoint):
    with pytest.raises(BadInputError, match="first observation"):
        warm_start(learner(inputs=6), env((term(goal, command_name="kick"), 6)), "any.pt")


def test_other_actions_are_an_error(checkpoint):
    with pytest.raises(BadInputError, match="actions"):
        warm_start(learner(inputs=6, outputs=3), env((term(body), 2), (term(ball), 4)), "any.pt")


class Doubled(MLPModel):
    """A network that appends its first two inputs, doubled, to the normalised observation."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        usual = self.obs_normalizer
        self.obs_normalizer = torch.nn.Module()
        self.obs_normalizer.normalizer = usual
        self.obs_normalizer.forward = lambda obs: torch.cat((usual(obs), 2.0 * obs[:, :2]), dim=1)

    def _get_latent_dim(self):
        return self.obs_dim + 2


@pytest.mark.parametrize("old_type", [MLPModel, Doubled])
def test_features_of_the_network_are_taken_over_or_change_nothing_at_first(old_type):
    """From 5 inputs to 6, of which 3 are common: what those do stays, with the features if the old network had them."""
    old_obs, obs = (TensorDict({"policy": torch.randn(50, size)}, batch_size=[50]) for size in (5, 6))
    obs["policy"][:, :3] = old_obs["policy"][:, :3]
    options = {"hidden_dims": [8], "activation": "relu", "obs_normalization": True}
    old = old_type(old_obs, {"actor": ["policy"]}, "actor", 2, **options)
    old.get_submodule("obs_normalizer.normalizer" if old_type is Doubled else "obs_normalizer").update(
        old_obs["policy"]
    )
    new = Doubled(obs, {"actor": ["policy"]}, "actor", 2, **options)
    assert module._load(new, old.state_dict(), columns=3)
    known = old_obs.clone()
    mean = {module._name(name): tensor for name, tensor in old.state_dict().items()}["obs_normalizer._mean"]
    known["policy"][:, 3:] = mean[:, 3:]
    torch.testing.assert_close(new(obs), old(known), atol=1e-5, rtol=0.0)


def test_input_statistics_move_no_faster_than_a_policy_learns():
    """Of a policy that has seen millions of samples; 160,000 of another kind may shift its inputs by a fiftieth."""
    unit = torch.randn(50, 5)
    unit = (unit - unit.mean(0)) / unit.std(0, correction=0)
    obs = TensorDict({"policy": unit}, batch_size=[50])
    options = {"hidden_dims": [8], "activation": "relu", "obs_normalization": True}
    old, new = (MLPModel(obs, {"actor": ["policy"]}, "actor", 2, **options) for _ in range(2))
    old.update_normalization(obs)
    old.obs_normalizer.count.fill_(20_000_000)
    assert module._load(new, old.state_dict(), columns=5)
    new.train()
    for _ in range(20):
        new.update_normalization(TensorDict({"policy": 1.0 + 2.0 * torch.randn(8000, 5)}, batch_size=[8000]))
    shift = (new.obs_normalizer._mean - old.obs_normalizer._mean) / old.obs_normalizer._std
    assert 0.0 < shift.mean() < 0.025
    assert (new.obs_normalizer._std / old.obs_normalizer._std).max() < 1.05


def test_a_latent_policy_begins_as_one_without_a_latent():
    old_obs = TensorDict({"policy": torch.randn(50, 5)}, batch_size=[50])
    options = {"hidden_dims": [8], "activation": "relu", "obs_normalization": True}
    old = MLPModel(old_obs, {"actor": ["policy"]}, "actor", 2, **options)
    old.update_normalization(old_obs)
    obs = TensorDict({"policy": old_obs["policy"][:, :3], "latent": torch.randn(50, 4)}, batch_size=[50])
    groups = {"actor": ["policy", "latent"]}
    new = LatentActor(
        obs, groups, "actor", 2, style_dims=[6], encoder={"frames": 2, "dim": 3, "hidden_dims": [4]}, **options
    )
    style = new.obs_normalizer.style[0].weight.clone()
    assert module._load(new, old.state_dict(), columns=3)
    # the two inputs that went away count as their means
    known = old_obs.clone()
    known["policy"][:, 3:] = old.obs_normalizer._mean[:, 3:]
    torch.testing.assert_close(new(obs), old(known), atol=1e-5, rtol=0.0)
    assert torch.equal(new.obs_normalizer.style[0].weight, style)
    # a network with other parts is none of these
    assert not module._load(torch.nn.ModuleDict({"mlp": new.mlp, "more": torch.nn.Linear(1, 1)}), old.state_dict(), 3)


class _LastTwo(torch.nn.Module):
    """Features for tests: what a walker would be told, worked out from the observation."""

    size = 2
    walker = "heading"

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return 2.0 * obs[:, -2:]


class _Walker(MLPModel):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.obs_normalizer = FeatureInput(self.obs_normalizer, _LastTwo())

    def _get_latent_dim(self) -> int:
        return self.obs_dim + _LastTwo.size


@pytest.mark.parametrize(("command", "same"), [("heading", True), ("dribble", False)])
def test_features_that_stand_for_a_command_take_its_weights(monkeypatch, command, same):
    """The walker's actions under a command are the new network's where the features give that command."""
    torch.manual_seed(0)

    def observation(size):
        return TensorDict({"policy": 3.0 * torch.randn(50, size) + 1.0}, batch_size=50)

    walker = MLPModel(observation(5), {"actor": ["policy"]}, "actor", 2, [8], obs_normalization=True)
    for _ in range(20):
        walker.update_normalization(observation(5))
    content = {
        "sportsuite": {"env_cfg": yaml.safe_dump(saved((body, {}), (goal, {"command_name": command})))},
        "actor_state_dict": walker.state_dict(),
    }
    monkeypatch.setattr(module, "read_checkpoint", lambda path, device: content)
    player = _Walker(observation(7), {"actor": ["policy"]}, "actor", 2, [8], obs_normalization=True)
    here = env((term(body), 3), (term(goal, command_name="move"), 4))
    assert warm_start(SimpleNamespace(actor=player, critic_warmup=0), here, "any.pt") == ["actor"]
    seen = observation(7)["policy"]
    told = torch.cat((seen[:, :3], 2.0 * seen[:, -2:]), dim=1)
    actions = player.eval()(TensorDict({"policy": seen}, batch_size=50))
    expected = walker.eval()(TensorDict({"policy": told}, batch_size=50))
    assert torch.allclose(actions, expected, atol=1e-5) == same
