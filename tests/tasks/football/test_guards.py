"""PhysicsFC's eight transitions, by hand."""

import pytest
import torch

from sportsuite.composition.state_machine import StateMachine
from sportsuite_tasks.football.mdp import guards
from sportsuite_tasks.football.mdp.guards import GUARDS, TABLE, Play

PAPER = {
    ("move", "trap"),
    ("move", "dribble"),
    ("dribble", "kick"),
    ("dribble", "move"),
    ("trap", "dribble"),
    ("trap", "move"),
    ("kick", "move"),
    ("kick", "dribble"),
}


def play(ball=(5.0, 0.0), ball_vel=(0.0, 0.0), root=(0.0, 0.0), root_vel=(0.0, 0.0), **flags) -> Play:
    def row(value):
        return torch.tensor([value], dtype=torch.float32)

    on = {name: torch.tensor([name in flags]) for name in ("touched", "trap", "kick", "cancel")}
    return Play(row(root), row(root_vel), row(ball), row(ball_vel), **on)


TOWARDS, AWAY = (-3.0, 0.0), (3.0, 0.0)


@pytest.mark.parametrize(
    ("guard", "seen", "holds"),
    [
        ("trap_wanted", play(ball_vel=TOWARDS, trap=1), True),
        ("trap_wanted", play(ball_vel=TOWARDS), False),
        ("trap_wanted", play(ball_vel=AWAY, trap=1), False),
        # the player runs after a ball that rolls away, and catches up: it approaches
        ("trap_wanted", play(ball_vel=AWAY, root_vel=(4.0, 0.0), trap=1), True),
        # (3, 1) off to the side: the dot product with the way to the player is -3*-3 + 1*-1 > 0
        ("trap_wanted", play(ball=(3.0, 1.0), ball_vel=(-3.0, 1.0), trap=1), True),
        ("ball_comes_near", play(ball=(1.9, 0.0), ball_vel=TOWARDS), True),
        ("ball_comes_near", play(ball=(2.1, 0.0), ball_vel=TOWARDS), False),
        ("ball_comes_near", play(ball=(1.9, 0.0), ball_vel=AWAY), False),
        ("ball_comes_near", play(ball=(1.9, 0.0)), False),
        # diagonal distance 2.12 m
        ("ball_comes_near", play(ball=(1.5, 1.5), ball_vel=TOWARDS), False),
        ("kick_wanted", play(kick=1), True),
        ("kick_wanted", play(), False),
        ("ball_lost", play(ball=(2.01, 0.0)), True),
        ("ball_lost", play(ball=(1.99, 0.0)), False),
        ("ball_touched", play(touched=1), True),
        ("ball_touched", play(), False),
        ("trap_over", play(ball_vel=TOWARDS), False),
        ("trap_over", play(ball_vel=TOWARDS, cancel=1), True),
        ("trap_over", play(ball_vel=AWAY), True),
        ("trap_over", play(), False),
        ("kick_done", play(ball=(1.0, 0.0)), False),
        ("kick_done", play(ball=(1.0, 0.0), touched=1), True),
        ("kick_done", play(ball=(2.5, 0.0)), True),
        ("kick_cancelled", play(cancel=1), True),
        ("kick_cancelled", play(kick=1), False),
    ],
)
def test_guard(guard, seen, holds):
    assert GUARDS[guard](seen).tolist() == [holds]


def test_the_table_has_the_eight_transitions_of_the_text():
    assert {(row.source, row.target) for row in TABLE.transitions} == PAPER and len(TABLE.transitions) == 8
    assert set(GUARDS) == {row.guard for row in TABLE.transitions}
    assert TABLE.states[0] == "move"


SCRIPT = [
    (play(ball_vel=TOWARDS), "move"),
    (play(ball_vel=TOWARDS, trap=1), "trap"),
    (play(ball_vel=AWAY, trap=1), "move"),
    (play(ball_vel=TOWARDS, trap=1), "trap"),
    (play(ball=(0.3, 0.0), ball_vel=TOWARDS, touched=1, trap=1), "dribble"),
    (play(ball=(0.5, 0.0), kick=1), "kick"),
    (play(ball=(0.5, 0.0), cancel=1), "dribble"),
    (play(ball=(0.5, 0.0), kick=1), "kick"),
    (play(ball=(0.5, 0.0), ball_vel=(15.0, 0.0), touched=1, kick=1), "move"),
    (play(ball=(1.5, 0.0), ball_vel=TOWARDS), "dribble"),
    (play(ball=(2.5, 0.0), ball_vel=AWAY), "move"),
]


def test_a_script_takes_each_of_the_eight_and_never_a_ninth():
    machine = StateMachine(TABLE, GUARDS, 1)
    for number, (seen, expected) in enumerate(SCRIPT):
        machine.step(seen)
        assert machine.names() == [expected], f"step {number}"
    assert (machine.counts > 0).all()


def test_chance_takes_each_of_the_eight_and_never_a_ninth():
    torch.manual_seed(0)
    machine = StateMachine(TABLE, GUARDS, 512)
    taken = set()
    for _ in range(60):
        before = machine.names()
        flags = (torch.rand(4, 512) < 0.3).unbind()
        machine.step(Play(*(3.0 * torch.randn(4, 512, 2)).unbind(), *flags))
        taken |= {pair for pair in zip(before, machine.names(), strict=True) if pair[0] != pair[1]}
    assert taken == PAPER


def test_a_wanted_trap_comes_before_a_dribble():
    machine = StateMachine(TABLE, GUARDS, 1)
    machine.step(play(ball=(1.0, 0.0), ball_vel=TOWARDS, trap=1))
    assert machine.names() == ["trap"]


def test_the_drawing_in_the_docs_is_the_table():
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "composition.md").read_text()
    assert TABLE.to_mermaid() in text


def test_near_and_closing_is_the_guard_of_dribble():
    assert guards.near_and_closing.__doc__ and guards.NEAR_M == 2.0
