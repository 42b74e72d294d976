"""The wording of errors about names."""

from __future__ import annotations

import pytest

from sportsuite.errors import BadInputError, SportSuiteError, nearest, unknown_name

IDS = ["SportSuite-Trap-v0", "SportSuite-Kick-v0", "Other-Climb-v0"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SportSuite-Trapp-v0", "SportSuite-Trap-v0"),
        ("sportsuite-kick-v0", "SportSuite-Kick-v0"),
        ("climb", "Other-Climb-v0"),
    ],
)
def test_nearest_finds_misspelt_miscased_and_shortened_names(name: str, expected: str) -> None:
    assert nearest(name, IDS)[0] == expected


def test_nearest_is_empty_for_a_name_like_none() -> None:
    assert nearest("qqqq", IDS) == []


def test_nearest_does_not_depend_on_the_order_of_candidates() -> None:
    assert nearest("SportSuite-v0", IDS) == nearest("SportSuite-v0", reversed(IDS))


def test_unknown_name_says_kind_value_and_nearest() -> None:
    error = unknown_name("task", "SportSuite-Trp-v0", IDS)
    assert isinstance(error, BadInputError) and isinstance(error, SportSuiteError) and isinstance(error, ValueError)
    assert str(error).startswith("unknown task 'SportSuite-Trp-v0'")
    assert "'SportSuite-Trap-v0'" in str(error)


def test_unknown_name_lists_few_and_counts_many() -> None:
    assert "known: a, b" in str(unknown_name("clip", "zzzz", ["b", "a"]))
    assert "none of the 20 known names" in str(unknown_name("clip", "zzzz", [f"n{i}" for i in range(20)]))
    assert "no clip to choose from" in str(unknown_name("clip", "zzzz", []))
