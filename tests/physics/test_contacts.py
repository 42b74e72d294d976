"""Touches are found, by name, on every backend."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
import warp as wp

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.errors import BadInputError
from sportsuite.physics.contacts import TOUCH_SENSOR, TouchTracker, add_touch_sensor, track_touches
from sportsuite.physics.touch_kernel import add_normal_impulses


def test_all_of_more_than_a_hundred_touches_are_found(measured):
    assert measured["hits"] >= 100
    assert measured["found"] == measured["hits"]


def test_no_touch_is_reported_where_the_ball_kept_its_velocity(measured):
    assert measured["phantom_touches"] == 0


def test_touch_of_one_boot_is_reported_as_that_boot_and_nothing_else(measured):
    for side in ("left_foot", "right_foot"):
        assert measured[side] == [[side]] * len(measured[side])


def test_bounce_is_booked_on_the_ground_with_its_impulse(measured):
    # m (1 + e) v with v = sqrt(2 g h) for 1 m: 0.45 * 1.8 * 4.4294 = 3.588 N s.
    assert measured["drop_ground_impulse"] == pytest.approx(3.588, rel=0.03)
    assert measured["standing_body_impulse"] == 0.0


def test_close_leaves_nothing_behind(measured):
    assert measured["callbacks_left"] == 0


def tracker() -> tuple[TouchTracker, list[str]]:
    closed: list[str] = []
    return TouchTracker(("left_foot", "head"), torch.zeros(3, 3), lambda: closed.append("closed")), closed


def test_clear_resets_the_given_worlds_only_and_keeps_the_tensor():
    touch, _ = tracker()
    impulse = touch.impulse
    impulse += 1.0
    touch.clear(torch.tensor([1]))
    assert impulse.tolist() == [[1.0] * 3, [0.0] * 3, [1.0] * 3]
    touch.clear()
    assert touch.impulse is impulse and not impulse.any()


def test_touched_leaves_out_the_ground():
    touch, _ = tracker()
    touch.impulse[0, 2] = 1.0
    touch.impulse[1, 1] = 1.0
    assert touch.touched.tolist() == [[False, False], [False, True], [False, False]]


def test_slot_names_the_nearest_body():
    touch, _ = tracker()
    assert touch.slot("head") == 1
    with pytest.raises(BadInputError, match="left_foot"):
        touch.slot("left_fot")


def test_closing_twice_releases_once():
    touch, closed = tracker()
    touch.close()
    touch.close()
    assert closed == ["closed"]


def test_sensor_filters_every_body_of_every_robot():
    scene = SimpleNamespace(
        ball=SimpleNamespace(prim_path="{ENV_REGEX_NS}/Ball"),
        red=SimpleNamespace(prim_path="{ENV_REGEX_NS}/Red"),
        blue=SimpleNamespace(prim_path="{ENV_REGEX_NS}/Blue"),
    )
    add_touch_sensor(scene, robots=("red", "blue"), bodies=("head", "left_foot"))
    sensor = getattr(scene, TOUCH_SENSOR)
    assert sensor.prim_path == "{ENV_REGEX_NS}/Ball"
    expected = [f"{{ENV_REGEX_NS}}/{robot}/{body}" for robot in ("Red", "Blue") for body in ("head", "left_foot")]
    assert sensor.filter_prim_paths_expr == expected


@pytest.mark.parametrize(("pyramidal", "ground"), [(0, 2.0), (1, 2.0 + 3.0 + 5.0 + 7.0)])
def test_kernel_books_normal_impulses_of_the_ball_only(pyramidal, ground):
    """Ball = geom 2, slots: geom 0 the ground (last column), geom 1 body 0."""
    contacts = [
        # geoms, world, rows
        ((0, 2), 0, (0, 1, 2, 3)),
        ((2, 1), 1, (0, 1, 2, 3)),
        ((0, 1), 0, (0, 1, 2, 3)),  # no ball
        ((0, 2), 0, (-1, -1, -1, -1)),  # not active
        ((0, 2), 0, (0, 1, 2, 3)),  # beyond the count
    ]
    total = wp.zeros((2, 2), dtype=float, device="cpu")
    inputs = [
        wp.array([4], dtype=int, device="cpu"),
        wp.array([wp.vec2i(*geoms) for geoms, _, _ in contacts], dtype=wp.vec2i, device="cpu"),
        wp.array([world for _, world, _ in contacts], dtype=int, device="cpu"),
        wp.array([3] * 5, dtype=int, device="cpu"),
        wp.array([rows for _, _, rows in contacts], dtype=int, device="cpu"),
        wp.array([[2.0, 3.0, 5.0, 7.0], [1.0, 0.0, 0.0, 0.0]], dtype=float, device="cpu"),
        wp.array([1, 0, 1], dtype=int, device="cpu"),
        wp.array([0, 0, 1], dtype=int, device="cpu"),
        pyramidal,
        0.5,
        total,
    ]
    wp.launch(add_normal_impulses, dim=5, inputs=inputs, device="cpu")
    assert total.numpy().tolist() == [[0.0, 0.5 * ground], [0.5, 0.0]]


class FakeScene(dict):
    """Knows its entities, nothing else."""


def test_unknown_entity_and_body_are_named():
    scene = FakeScene(ball=None, robot=SimpleNamespace(body_names=list(BODY_NAMES)))
    with pytest.raises(BadInputError, match="'bal'.*'ball'"):
        track_touches(scene, ball="bal")
    with pytest.raises(BadInputError, match="'left_fot'.*'left_foot'"):
        track_touches(scene, bodies=("left_fot",))


def test_pinned_memory_is_dropped_only_on_request():
    """In a process of its own, because it changes warp for good."""
    code = (
        "import warp as wp, sportsuite.physics.ovphysx_cpu as m\n"
        "if wp.is_cuda_available():\n"
        "    assert not m.allow_ovphysx_without_cuda()\n"
        "else:\n"
        "    try:\n"
        "        wp.zeros(2, device='cpu', pinned=True); raise SystemExit('pinned memory worked without CUDA')\n"
        "    except RuntimeError: pass\n"
        "    assert m.allow_ovphysx_without_cuda()\n"
        "    first = wp.zeros\n"
        "    assert m.allow_ovphysx_without_cuda() and wp.zeros is first\n"
        "    assert wp.zeros(2, device='cpu', pinned=True).numpy().tolist() == [0.0, 0.0]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
