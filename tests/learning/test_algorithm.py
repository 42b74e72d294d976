import logging

import pytest
import torch
from tensordict import TensorDict

from sportsuite.errors import SportSuiteError
from tests.learning.toy_env import ToyEnv, toy_runner


def rollout(runner, poison=None):
    obs = runner.env.get_observations()
    runner.env.poison = poison
    with torch.inference_mode():
        for _ in range(runner.cfg["num_steps_per_env"]):
            obs, rewards, dones, extras = runner.env.step(runner.alg.act(obs))
            runner.alg.process_env_step(obs, rewards, dones, extras)
        runner.alg.compute_returns(obs)


def weights(runner):
    parameters = [*runner.alg.actor.parameters(), *runner.alg.critic.parameters()]
    return torch.cat([p.detach().flatten().clone() for p in parameters])


def test_critic_keeps_its_rate_while_the_schedule_moves_the_policys():
    runner = toy_runner(**{"algorithm.critic_learning_rate": 2e-3, "algorithm.desired_kl": 1e-9})
    rollout(runner)
    runner.alg.update()
    policy, critic = runner.alg.optimizer.param_groups
    assert policy["lr"] == runner.alg.learning_rate < 5e-4  # the tiny KL target pushed it down
    assert critic["lr"] == 2e-3
    held = {id(p) for p in critic["params"]}
    assert held == {id(p) for p in runner.alg.critic.parameters()}


def test_only_the_critic_learns_while_it_warms_up():
    runner = toy_runner(**{"algorithm.critic_learning_rate": None})
    runner.alg.warmup_left = 1
    actor, critic = ([p.detach().clone() for p in net.parameters()] for net in (runner.alg.actor, runner.alg.critic))
    rate = runner.alg.learning_rate
    rollout(runner)
    runner.alg.update()
    assert all(map(torch.equal, actor, runner.alg.actor.parameters()))
    assert not any(map(torch.equal, critic, runner.alg.critic.parameters()))
    assert runner.alg.learning_rate == rate
    rollout(runner)
    runner.alg.update()
    assert not any(map(torch.equal, actor, runner.alg.actor.parameters()))
    assert runner.alg.learning_rate != rate


def test_shared_rate_keeps_one_parameter_group():
    runner = toy_runner(**{"algorithm.critic_learning_rate": None})
    assert len(runner.alg.optimizer.param_groups) == 1


def test_rollout_with_nan_leaves_the_weights_alone(caplog):
    runner = toy_runner()
    before = weights(runner)
    with caplog.at_level(logging.WARNING):
        rollout(runner, poison=torch.arange(8) == 3)
        losses = runner.alg.update()
    assert losses == {"skipped_updates": 1.0}
    assert torch.equal(weights(runner), before)
    assert "rewards of 1 worlds (first: 3)" in caplog.text
    # the next good rollout is learned from, and the count stays visible
    rollout(runner)
    assert runner.alg.update()["skipped_updates"] == 1.0
    assert not torch.equal(weights(runner), before)
    assert torch.isfinite(weights(runner)).all()


def test_training_stops_when_every_update_is_skipped():
    runner = toy_runner(**{"algorithm.max_skipped_updates": 2})
    rollout(runner, poison=torch.ones(8, dtype=torch.bool))
    runner.alg.update()
    rollout(runner, poison=torch.ones(8, dtype=torch.bool))
    with pytest.raises(SportSuiteError, match="2 updates in a row"):
        runner.alg.update()


class TwoStates(ToyEnv):
    """Leaving state 0 pays 1 and leads to 1, leaving 1 pays 0 and leads to 0; an episode is cut after one step."""

    max_episode_length = 1

    def _reset(self, ids):
        self.position[ids] = torch.randint(0, 2, (len(ids),)).float()

    def get_observations(self):
        one_hot = torch.stack([1 - self.position, self.position], dim=-1)
        return TensorDict({"policy": one_hot}, batch_size=[self.num_envs])

    def step(self, action):
        reward = 1 - self.position
        self.position = 1 - self.position
        final = self.get_observations()
        self.position = self.position.clone()
        self._reset(torch.arange(self.num_envs))
        out = torch.ones(self.num_envs, dtype=torch.bool)
        return self.get_observations(), reward, out.long(), {"time_outs": out, "final_obs": final}


def test_values_of_a_time_limited_chain_are_exact():
    # without a limit V(0) = 1 / (1 - g^2) and V(1) = g / (1 - g^2); rsl_rl's own bootstrap learns V(0) = 1 / (1 - g)
    gamma = 0.5
    changes = {"algorithm.gamma": gamma, "algorithm.critic_learning_rate": 1e-2, "algorithm.max_grad_norm": 100.0}
    runner = toy_runner(TwoStates(64), **changes)
    for _ in range(45):
        rollout(runner)
        runner.alg.update()
    states = TensorDict({"policy": torch.eye(2)}, batch_size=[2])
    values = runner.alg.critic(states).squeeze(-1)
    exact = torch.tensor([1.0, gamma]) / (1 - gamma**2)
    assert torch.allclose(values, exact, atol=0.1)


def test_bootstrap_uses_the_reached_state_only_for_time_outs():
    runner = toy_runner(ToyEnv(4))
    obs = runner.env.get_observations()
    final = TensorDict({"policy": torch.tensor([[5.0, 25.0]] * 4), "critic": torch.zeros(4, 2)}, batch_size=[4])
    final["policy"][2] = torch.nan
    time_outs = torch.tensor([False, True, True, False])
    done = torch.tensor([1, 1, 1, 0])
    with torch.inference_mode():
        runner.alg.act(obs)
        before = runner.alg.transition.values.squeeze(-1).clone()
        reached = runner.alg.critic(final[1:2]).item()
        rewards = torch.tensor([1.0, 2.0, 3.0, 4.0])
        runner.alg.process_env_step(obs, rewards, done, {"time_outs": time_outs, "final_obs": final})
    stored = runner.alg.storage.rewards[0, :, 0]
    # a world whose last state is lost falls back to the state before
    expected = torch.tensor([1.0, 2.0 + 0.99 * reached, 3.0 + 0.99 * before[2].item(), 4.0])
    assert torch.allclose(stored, expected)
    assert torch.equal(rewards, torch.tensor([1.0, 2.0, 3.0, 4.0]))  # the env's tensor is not written to


def test_fresh_policy_asks_for_small_actions():
    runner = toy_runner()
    obs = TensorDict({"policy": torch.randn(100, 2), "critic": torch.randn(100, 2)}, batch_size=[100])
    assert runner.alg.actor(obs).abs().max() < 0.05
    assert torch.allclose(runner.alg.actor(obs, stochastic_output=True).std(), torch.tensor(0.08), rtol=0.3)


def test_it_learns(tmp_path):
    torch.manual_seed(0)
    runner = toy_runner(ToyEnv(64), log_dir=tmp_path, **{"actor.distribution_cfg.init_std": 0.3})
    runner.learn(25)
    obs = runner.env.get_observations()
    with torch.inference_mode():
        for _ in range(55):
            obs, *_ = runner.env.step(runner.alg.actor(obs))
    late = runner.env.position[runner.env.episode_length_buf > 10].abs()
    assert late.mean() < 0.25  # 0.5 without control
