"""How keys become the values of controls."""

import math

import pytest

from sportsuite.errors import BadInputError
from sportsuite.viewer.controls import (
    Control,
    Steerable,
    check_controls,
    direction_of,
    held_keys,
    pressed,
    steerable_term,
    turned,
)
from tests.viewer.fake_term import FakeTerm

GO = Control("go", "direction", "Go", keys=("w", "a", "s", "d", "arrowup", "arrowleft", "arrowdown", "arrowright"))
HALF = math.sqrt(0.5)


@pytest.mark.parametrize(
    ("held", "local"),
    [
        ("", (0.0, 0.0)),
        ("w", (1.0, 0.0)),
        ("a", (0.0, 1.0)),
        ("s", (-1.0, 0.0)),
        ("d", (0.0, -1.0)),
        ("arrowup", (1.0, 0.0)),
        ("arrowright shift", (0.0, -1.0)),
        ("w a", (HALF, HALF)),
        ("s arrowright", (-HALF, -HALF)),
        ("w s", (0.0, 0.0)),
        ("w s d", (0.0, -1.0)),
        ("w arrowup", (1.0, 0.0)),
        ("k unknown", (0.0, 0.0)),
    ],
)
def test_keys_point_somewhere(held, local):
    assert direction_of(GO, held_keys(held)) == pytest.approx(local)


@pytest.mark.parametrize(
    ("local", "heading", "world"),
    [
        ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0)),
        ((0.0, 1.0), (1.0, 0.0), (0.0, 1.0)),  # left of the x axis is y
        ((1.0, 0.0), (0.0, -1.0), (0.0, -1.0)),
        ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0)),  # who looks along -y has x to the left
        ((0.0, -1.0), (0.6, 0.8), (0.8, -0.6)),
    ],
)
def test_directions_are_seen_from_the_camera(local, heading, world):
    assert turned(local, heading) == pytest.approx(world)


def test_a_press_is_a_key_that_goes_down():
    kick = Control("kick", "press", "Kick", keys=("k", "space"))
    assert pressed(kick, held_keys("w"), held_keys("w k"))
    assert pressed(kick, held_keys("k"), held_keys("k space"))
    assert not pressed(kick, held_keys("k"), held_keys("k w"))
    assert not pressed(kick, held_keys("k"), held_keys(""))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "hols", "keys": ("x",)}, "unknown kind of control 'x' 'hols': did you mean 'hold'"),
        ({"kind": "direction", "keys": ("w", "a", "s")}, "3 keys: expected four"),
        ({"kind": "direction"}, "0 keys: expected four"),
        ({"kind": "press"}, "control 'x': expected a key"),
        ({"kind": "number", "low": 1.0, "high": 2.0, "default": 3.0}, "default 3.0: expected 1.0 to 2.0"),
    ],
)
def test_bad_controls_are_refused(options, message):
    with pytest.raises(BadInputError, match=message):
        Control("x", label="X", **options)


def test_names_and_keys_belong_to_one_control():
    trap, kick = Control("trap", "press", "Trap", keys=("t",)), Control("kick", "press", "Kick", keys=("k", "t"))
    with pytest.raises(BadInputError, match="key 't' is used by 'trap' and 'kick'"):
        check_controls((trap, kick))
    with pytest.raises(BadInputError, match="'trap' is declared twice"):
        check_controls((trap, trap))


def test_the_term_that_can_be_steered_is_found():
    class Manager:
        active_terms = ("velocity", "user")
        terms = {"velocity": object(), "user": FakeTerm()}

        def get_term(self, name):
            return self.terms[name]

    class Env:
        command_manager = Manager()

    assert isinstance(steerable_term(Env()), Steerable)
    assert steerable_term(Env()) is Manager.terms["user"]
    assert steerable_term(object()) is None
