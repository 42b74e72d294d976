"""Two bits are enough for many characters in one world."""

import itertools

from sportsuite.physics.crowd import crowd_masks

KINDS = {
    "ground": crowd_masks(fixed=True, sole=False, shod=False, ball=False),
    "limb": crowd_masks(fixed=False, sole=False, shod=False, ball=False),
    "boot": crowd_masks(fixed=False, sole=False, shod=True, ball=False),
    "sole": crowd_masks(fixed=False, sole=True, shod=True, ball=False),
    "ball": crowd_masks(fixed=False, sole=False, shod=False, ball=True),
}


def meets(a: str, b: str) -> bool:
    """MuJoCo's rule."""
    (type_a, affinity_a), (type_b, affinity_b) = KINDS[a], KINDS[b]
    return bool(type_a & affinity_b or type_b & affinity_a)


def test_who_touches_whom():
    expected = {("ground", "limb"), ("ground", "sole"), ("limb", "limb"), ("limb", "boot"), ("boot", "boot")}
    pairs = itertools.combinations_with_replacement(KINDS, 2)
    assert {pair for pair in pairs if meets(*pair)} == expected
