import pytest
import torch

from sportsuite.learning.policy import Policy
from sportsuite_tasks.football.evaluation.goals import run_goals
from tests.tasks.football.goal_env import GoalEnv

STILL = Policy(lambda obs: torch.zeros(1))


class Counting:
    """Keeps the goal and counts the steps it is seen in."""

    def __init__(self, num_envs):
        self.goal, self.steps = torch.zeros(num_envs), torch.zeros(num_envs)
        self.restarts = 0

    def aim(self, env):
        self.goal = env.goals.velocity_w[:, 0].clone()

    def observe(self, env, ids):
        self.steps[ids] += 1

    def finish(self, env, ids, episode_over):
        self.restarts += len(ids) * episode_over
        found = {"goal": self.goal[ids].clone(), "steps": self.steps[ids].clone()}
        self.steps[ids] = 0.0
        return found


def test_goals_are_counted_with_the_steps_that_were_made_towards_them():
    """Goals of 4 steps. World 0 plays on; world 1 falls in step 6, in the middle of its second goal, and again."""
    env = GoalEnv([1000, 6], period=4)
    probe = Counting(2)
    table = run_goals(env, STILL, "move", 6, seed=0, probe=probe)
    # the framework counts the step in which a fall is noticed as the first of the next goal
    assert table["steps"].tolist() == [4.0, 4.0, 4.0, 4.0, 2.0, 3.0]
    # drawn at the reset: 1 and 2; after step 4: 3 and 4; at the fall: 5; after step 8: 6
    assert table["goal"].tolist() == [1.0, 3.0, 6.0, 2.0, 4.0, 5.0]
    # in steps 6 and 12; the second is no longer counted
    assert probe.restarts == 2
    assert "_reset_idx" not in vars(env)


def test_every_world_has_its_share_of_goals():
    table = run_goals(GoalEnv([1000, 1], period=4), STILL, "move", 4, seed=0, probe=Counting(2))
    # the world that falls in every step would have had all of them
    assert table["steps"].tolist() == [4.0, 4.0, 1.0, 1.0]


def test_progress():
    seen = []
    env = GoalEnv([1000], period=2)
    run_goals(env, STILL, "move", 2, 0, Counting(1), progress=lambda done, wanted: seen.append((done, wanted)))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize("period", [1, 3])
def test_goals_end_by_themselves(period):
    table = run_goals(GoalEnv([1000], period), STILL, "move", 3, seed=0, probe=Counting(1))
    assert table["steps"].tolist() == [period] * 3
