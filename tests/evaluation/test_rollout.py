import pytest
import torch

from sportsuite.errors import SportSuiteError
from sportsuite.evaluation.rollout import quotas, run_episodes
from sportsuite.learning.policy import Policy
from tests.evaluation.clock_env import ClockEnv

STILL = Policy(lambda obs: obs["policy"])


@pytest.mark.parametrize(
    ("episodes", "num_envs", "expected"), [(6, 3, [2, 2, 2]), (7, 3, [3, 2, 2]), (2, 3, [1, 1, 0])]
)
def test_quotas(episodes, num_envs, expected):
    assert quotas(episodes, num_envs).tolist() == expected


def test_short_episodes_do_not_count_more_often():
    # the first four episodes to end anywhere would all be of one step
    table = run_episodes(ClockEnv([1, 10]), STILL, 4, seed=0)
    assert table["length_s"].tolist() == [0.5, 0.5, 5.0, 5.0]
    assert table["return"].tolist() == [1.0, 1.0, 10.0, 10.0]
    assert table["terminated"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert table["end:short"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert table["end:time_out"].tolist() == [0.0, 0.0, 1.0, 1.0]


class AgeProbe:
    """Adds up the ages it sees: 1 + 2 + ... + length if every step is seen once, and before the reset."""

    def __init__(self, num_envs):
        self.total = torch.zeros(num_envs)

    def observe(self, env, ids):
        self.total[ids] += env.age[ids]

    def finish(self, env, ids):
        found = {"ages": self.total[ids].clone(), "last": env.age[ids].clone()}
        self.total[ids] = 0.0
        return found


def test_probe_sees_every_step_once_and_before_the_reset():
    table = run_episodes(ClockEnv([1, 3, 4]), STILL, 6, seed=0, probe=AgeProbe(3))
    assert table["ages"].tolist() == [1.0, 1.0, 6.0, 6.0, 10.0, 10.0]
    assert table["last"].tolist() == [1.0, 1.0, 3.0, 3.0, 4.0, 4.0]


def test_seed_progress_and_no_trace_left_on_the_environment():
    env, seen = ClockEnv([2, 3]), []
    run_episodes(env, STILL, 2, seed=9, progress=lambda done, wanted: seen.append((done, wanted)))
    assert env.seeds == [9]
    assert seen[-1] == (2, 2)
    assert "_reset_idx" not in vars(env)


def test_endless_episodes_are_reported():
    with pytest.raises(SportSuiteError, match="no time limit"):
        run_episodes(ClockEnv([1, 1000]), STILL, 2, seed=0)
