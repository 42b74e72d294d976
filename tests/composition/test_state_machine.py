"""The state machine on plain tensors."""

from types import SimpleNamespace

import pytest
import torch

from sportsuite.composition.state_machine import MachineTable, StateMachine, Transition
from sportsuite.errors import BadInputError

TABLE = MachineTable(
    ("rest", "walk", "run"),
    (
        Transition("rest", "walk", "go"),
        Transition("walk", "run", "hurry", "user hurries"),
        Transition("walk", "rest", "stop"),
        Transition("run", "walk", "stop"),
    ),
)
GUARDS = {name: lambda seen, name=name: getattr(seen, name) for name in ("go", "hurry", "stop")}


def seen(go=(0, 0, 0), hurry=(0, 0, 0), stop=(0, 0, 0)):
    return SimpleNamespace(**{name: torch.tensor(value).bool() for name, value in locals().items()})


@pytest.fixture
def machine():
    return StateMachine(TABLE, GUARDS, 3)


def test_every_world_switches_on_its_own(machine):
    assert machine.names() == ["rest"] * 3
    switched = machine.step(seen(go=(1, 0, 1), hurry=(1, 1, 1)))
    # one transition a step: nobody runs yet
    assert machine.names() == ["walk", "rest", "walk"] and switched.tolist() == [True, False, True]
    assert machine.taken.tolist() == [0, -1, 0] and machine.steps.tolist() == [0, 1, 0]
    machine.step(seen(hurry=(1, 1, 0)))
    assert machine.names() == ["run", "rest", "walk"]
    assert machine.counts.tolist() == [2, 1, 0, 0] and machine.steps.tolist() == [0, 2, 1]


def test_the_first_row_that_holds_is_taken(machine):
    machine.step(seen(go=(1, 1, 1)))
    machine.step(seen(hurry=(1, 0, 1), stop=(1, 1, 0)))
    assert machine.names() == ["run", "rest", "run"] and machine.taken.tolist() == [1, 2, 1]


def test_reset(machine):
    machine.step(seen(go=(1, 1, 1)))
    machine.reset(torch.tensor([1]))
    assert machine.names() == ["walk", "rest", "walk"]
    machine.reset()
    assert machine.names() == ["rest"] * 3 and machine.counts.tolist() == [3, 0, 0, 0]


def test_a_guard_is_asked_once_and_only_where_somebody_waits_for_it():
    asked = []
    guards = {name: lambda seen, name=name: asked.append(name) or getattr(seen, name) for name in GUARDS}
    machine = StateMachine(TABLE, guards, 3)
    machine.step(seen(go=(1, 1, 0)))
    assert asked == ["go"]
    machine.state[2] = machine.index("run")
    asked.clear()
    machine.step(seen())
    assert asked == ["hurry", "stop"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.ones(3), "got shape .3,. and type torch.float32"),
        (torch.ones(2).bool(), r"expected a bool tensor of shape \(3,\), got shape \(2,\)"),
        (True, "got bool"),
    ],
)
def test_guards_that_say_no_truth_value_per_world(value, message):
    machine = StateMachine(TABLE, GUARDS | {"go": lambda seen: value}, 3)
    with pytest.raises(BadInputError, match=message) as error:
        machine.step(seen())
    assert "guard 'go'" in str(error.value)


def test_unknown_guards_name_the_nearest():
    with pytest.raises(BadInputError, match="unknown guard 'hurry'.*known: go, stop"):
        StateMachine(TABLE, {name: GUARDS[name] for name in ("go", "stop")}, 3)


@pytest.mark.parametrize(
    ("states", "rows", "message"),
    [
        (("a", "b", "c"), (("a", "b"), ("c", "a")), "c can't be reached from a"),
        (("a", "b", "c", "d"), (("a", "b"), ("c", "d"), ("d", "c")), "c, d can't be reached"),
        (("a", "b"), (("a", "b"), ("a", "b")), "a -> b is given twice"),
        (("a", "b"), (("a", "b"), ("b", "b")), "b -> b leads nowhere"),
        (("rest", "walk"), (("rest", "walkk"),), "unknown state 'walkk': did you mean 'walk'"),
        (("a", "a"), (), "expected different names"),
        ((), (), "states none"),
    ],
)
def test_tables_are_checked(states, rows, message):
    with pytest.raises(BadInputError, match=message):
        MachineTable(states, tuple(Transition(*row, "g") for row in rows))


def test_the_table_draws_itself():
    assert TABLE.to_mermaid().splitlines() == [
        "stateDiagram-v2",
        "    [*] --> rest",
        "    rest --> walk: go",
        "    walk --> run: user hurries",
        "    walk --> rest: stop",
        "    run --> walk: stop",
    ]


def test_unknown_states_name_the_nearest(machine):
    with pytest.raises(BadInputError, match="unknown state 'wlk': did you mean 'walk'"):
        machine.index("wlk")
