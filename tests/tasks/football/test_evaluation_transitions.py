"""Switches as they are measured: by hand, and in the simulator with skills of fresh weights."""

import math

import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.evaluation.rollout import run_episodes
from sportsuite.learning.policy import zero_policy
from sportsuite_tasks.football.evaluation.comparison import COLUMNS, compare, comparison_rows
from sportsuite_tasks.football.evaluation.matching import MatchRule
from sportsuite_tasks.football.evaluation.transitions import (
    TrialProbe,
    transition_metrics,
    transition_protocol,
)
from sportsuite_tasks.football.evaluation.trials import SCENARIOS, TrialUser, kick_trial_over, trap_trial_over
from sportsuite_tasks.football.mdp.guards import TABLE
from tests.tasks.football.fake_skills import write_fake_skill

TASK = "SportSuite-Football-v0"
RULE = MatchRule()
NAN = math.nan


def test_every_scenario_is_a_transition_of_the_machine():
    assert set(SCENARIOS.values()) <= {(row.source, row.target) for row in TABLE.transitions}
    assert all(hasattr(TrialUser, f"_lead_{scenario}") for scenario in SCENARIOS)


def test_dribble_figures_count_only_switches():
    table = {
        "switched": torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0]),
        "reached": torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0]),
        "reach_s": torch.tensor([1.0, NAN, 2.0, 6.0, NAN]),
    }
    metrics = transition_metrics("move_to_dribble", table, RULE, 30.0)
    assert metrics["move_to_dribble.switches"].value == 4.0
    assert metrics["move_to_dribble.TADG"].value == 3.0 and metrics["move_to_dribble.TADG"].reference == 1.51
    assert metrics["move_to_dribble.DGAR30"].value == 75.0
    assert transition_metrics("trap_to_dribble", table, RULE, 30.0)["trap_to_dribble.TADG"].reference == 2.71


def test_trap_figures():
    table = {
        "switched": torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0]),
        "success": torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0]),
        "relative_speed": torch.tensor([4.0, 50.0, 90.0, 6.0, NAN]),
    }
    metrics = transition_metrics("move_to_trap", table, RULE, 30.0)
    assert metrics["move_to_trap.TSR"].value == 50.0 and metrics["move_to_trap.TSR"].reference == pytest.approx(74.1)
    assert metrics["move_to_trap.RBSPT"].value == 5.0


def test_kick_figures():
    table = {
        "switched": torch.tensor([1.0, 1.0, 1.0, 0.0]),
        "touched": torch.tensor([1.0, 1.0, 0.0, 1.0]),
        "direction_error_deg": torch.tensor([10.0, 20.0, NAN, 99.0]),
        "speed_error": torch.tensor([1.0, 3.0, NAN, 99.0]),
        "seconds": torch.tensor([0.5, 1.5, NAN, 99.0]),
    }
    metrics = transition_metrics("dribble_to_kick", table, RULE, 30.0)
    values = {name.removeprefix("dribble_to_kick."): metric.value for name, metric in metrics.items()}
    assert values == pytest.approx({"switches": 3, "KSR": 200 / 3, "TTK": 1.0, "KDD": 15.0, "KSD": 2.0})
    assert all(metric.definition for metric in metrics.values())


def test_when_traps_and_kicks_are_decided():
    flags = [torch.tensor(column).bool() for column in zip(*[(0, 0), (1, 0), (1, 1), (0, 0)], strict=True)]
    touched, judged = flags
    bounced, playing = torch.tensor([0, 1, 0, 1]).bool(), torch.tensor([1, 0, 0, 1]).bool()
    # in the air; touched and not yet judged; judged; on the ground untouched
    assert trap_trial_over(touched, judged, bounced, playing).tolist() == [False, False, True, True]
    assert kick_trial_over(touched, judged, torch.tensor([1, 0, 0, 0]).bool()).tolist() == [False, False, True, True]


def test_comparison_says_whether_the_sign_is_the_texts():
    def document(ksr, ttk, kdd, ksd):
        figures = {"KSR": (ksr, "%"), "TTK": (ttk, "s"), "KDD": (kdd, "deg"), "KSD": (ksd, "m/s")}
        return {"metrics": {name: {"value": v, "unit": u, "definition": name} for name, (v, u) in figures.items()}}

    compared = compare(document(90.0, 2.0, 20.0, 6.0), document(30.0, 1.0, 30.0, NAN))
    assert {name: entry["same_sign"] for name, entry in compared.items()} == {
        "KSR": True,  # more hits with buffers, as in the text
        "TTK": False,  # the text is faster with them
        "KDD": True,
        "KSD": None,
    }
    rows = comparison_rows(compared)
    assert rows[0] == ("KSR", "90", "30", "100", "16.9", "%", "yes") and len(rows[0]) == len(COLUMNS)
    assert rows[3][2] == "-" and rows[3][-1] == "-"


def test_unknown_scenarios_are_named():
    protocol = transition_protocol()
    protocol.scenarios = ["dribble_to_kik"]
    user = type("Terms", (), {"get_term": lambda self, name: None})()
    env = type("Env", (), {"command_manager": user})()
    with pytest.raises(BadInputError, match="dribble_to_kick"):
        protocol.run(env, None, 1, 0, lambda done, wanted: None)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def skills(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skills")
    return {skill: str(write_fake_skill(folder / f"{skill}.pt", skill)) for skill in TABLE.states}


@pytest.fixture
def env(make, skills):
    from sportsuite.envs.make_env import load_env_cfg
    from sportsuite.plugins.manager import find_task

    make.close()
    cfg = load_env_cfg(find_task(TASK).spec.env_cfg)
    protocol = transition_protocol()
    protocol.trials.wait_s, protocol.trials.prepare_s = (0.2, 0.2), 1.0
    protocol.trials.ball_distance = (1.6, 1.6)
    protocol.configure(cfg)
    return make(TASK, fresh=True, cfg=cfg, num_envs=2, device="cpu", skills=skills, **{"terminations.fallen": None})


class Script(TrialProbe):
    """Moves the ball in every step; ``place(env)`` returns its offset from the root and its velocity, each (N, 2)."""

    def __init__(self, env, place):
        step = env.step

        def placed_step(action):
            offset, velocity = place(env)
            pose, speed = torch.zeros(env.num_envs, 7), torch.zeros(env.num_envs, 6)
            pose[:, :2] = env.scene["robot"].data.root_link_pos_w.torch[:, :2] + offset
            pose[:, 2], pose[:, 6] = 0.11, 1.0
            speed[:, :2] = velocity
            env.scene["ball"].write_root_pose_to_sim_index(root_pose=pose)
            env.scene["ball"].write_root_velocity_to_sim_index(root_velocity=speed)
            return step(action)

        env.step = placed_step
        self.restore = lambda: env.__dict__.pop("step")


def test_trials_in_the_simulator(env):
    """A goal that is matched from the switch on takes five steps; a kick that loses the ball hits nothing."""
    user = env.command_manager.get_term("user")
    coming = torch.tensor([[-1.0, 0.0]]).repeat(2, 1)

    def roll(env):
        goal = torch.where(user.switched.unsqueeze(1), user.goal, coming)
        # world 1's ball is never right
        goal[1] = torch.where(user.switched[1], user.goal[1] + 3.0, goal[1])
        return torch.tensor([[1.6, 0.0]]).repeat(2, 1), goal

    user.choose("move_to_dribble", MatchRule(relative=0.3, absolute=1.0))
    user.cfg.settings.goal_limit_s = 0.5
    script = Script(env, roll)
    table = run_episodes(env, zero_policy(env), 2, 0, script)
    script.restore()
    assert table["switched"].tolist() == [1.0, 1.0] and table["reached"].tolist() == [1.0, 0.0]
    # the first step of the trial came before the switch could set the ball's velocity
    assert table["reach_s"][0] == pytest.approx(6 / 30) and math.isnan(table["reach_s"][1])

    def lose(env):
        kicking = (user.switched_at >= 0).float().unsqueeze(1)
        return torch.tensor([[1.5, 0.0]]) + 4.0 * kicking * torch.tensor([[1.0, 0.0]]), coming

    user.choose("dribble_to_kick", RULE)
    script = Script(env, lose)
    table = run_episodes(env, zero_policy(env), 2, 0, script)
    script.restore()
    assert table["switched"].tolist() == [1.0, 1.0] and table["touched"].tolist() == [0.0, 0.0]
    assert torch.isnan(table["seconds"]).all()
    # dribbling begins in the first step and lasts 0.2 s; the machine gives the kick up in the step after the loss
    assert table["length_s"].tolist() == pytest.approx([8 / 30, 8 / 30], abs=0.034)
