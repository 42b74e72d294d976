"""With football boots, native stepping does what MuJoCo Warp does: soles on the ground, meshes at the ball."""

from __future__ import annotations

from pathlib import Path

import newton
import numpy as np
import pytest
import warp as wp
from newton import StateFlags

from tests.physics.mujoco_cpu import scenes
from tests.physics.mujoco_cpu.conftest import WORLDS
from tests.physics.mujoco_cpu.pairs import Pair, Snapshot, force_difference, make_pair

# From some states a corner touches down within rounding of the start of a step, and so a step sooner in one solver.
SEED = 1
BALL_COORDINATES = slice(35, 38)  # behind the humanoid's 7 + 28
OVER_THE_LEFT_TOES = (0.18, 0.09, 0.25)  # clear of the shin


@pytest.fixture(scope="module")
def booted(folder: Path) -> newton.Model:
    with wp.ScopedDevice("cpu"):
        return scenes.football_model(folder, WORLDS, ("body_qdd", "body_parent_f"), foot="boot")


@pytest.fixture(scope="module")
def pair(booted: newton.Model) -> Pair:
    return make_pair(booted, SEED)


@pytest.fixture(scope="module")
def course(pair: Pair) -> list[tuple[Snapshot, Snapshot]]:
    """50 steps: the humanoids land on their boots and are pushed."""
    return [pair.step(push=20.0) for _ in range(50)]


def _touching(model: newton.Model, shots: list[tuple[Snapshot, Snapshot]], *parts: str) -> bool:
    """Whether shapes whose labels contain the two parts pressed on each other in any step."""
    labels = model.shape_label
    pairs = [(labels[first], labels[second]) for _, ours in shots for first, second in ours.forces]
    return any(all(any(part in label for label in pair) for part in parts) for pair in pairs)


def test_one_step_agrees_to_float_precision(course: list[tuple[Snapshot, Snapshot]]) -> None:
    theirs, ours = course[0]
    assert np.abs(theirs.q - ours.q).max() < 1e-6
    assert theirs.contacts > 8


def test_fifty_steps_in_contact_stay_close(course: list[tuple[Snapshot, Snapshot]]) -> None:
    theirs, ours = course[49]
    assert np.abs(theirs.q - ours.q).max() < 1e-4
    assert np.abs(theirs.qd - ours.qd).max() < 1e-2


def test_contact_and_row_counts_are_equal_throughout(course: list[tuple[Snapshot, Snapshot]]) -> None:
    assert [shots[0].contacts for shots in course] == [shots[1].contacts for shots in course]
    assert all((theirs.rows == ours.rows).all() for theirs, ours in course)


def test_contact_forces_agree_within_a_percent(course: list[tuple[Snapshot, Snapshot]]) -> None:
    for theirs, ours in course:
        difference, largest = force_difference(theirs, ours)
        assert difference < 0.01 * largest


def test_the_sole_meets_the_ground_and_the_mesh_does_not(
    booted: newton.Model, course: list[tuple[Snapshot, Snapshot]]
) -> None:
    assert _touching(booted, course, "ground", "foot/sole")
    assert not _touching(booted, course, "ground", "foot/collider")


def test_a_ball_that_falls_on_a_boot_agrees_and_meets_the_mesh(
    booted: newton.Model, pair: Pair, course: list[tuple[Snapshot, Snapshot]]
) -> None:
    for solver, state in zip((pair.warp, pair.native), pair.states, strict=True):
        solver.reset(state, flags=StateFlags.JOINT_Q | StateFlags.JOINT_QD)
        coordinates = scenes.world_rows(state.joint_q, WORLDS).copy()
        coordinates[:, BALL_COORDINATES] = OVER_THE_LEFT_TOES + 0.003 * np.arange(WORLDS)[:, None]
        state.joint_q.assign(coordinates.ravel())
        newton.eval_fk(booted, state.joint_q, state.joint_qd, state)
    shots = [pair.step() for _ in range(60)]
    assert _touching(booted, shots, "Ball", "left_foot/collider")
    assert not _touching(booted, shots, "Ball", "foot/sole")
    theirs, ours = shots[-1]
    assert np.abs(theirs.q - ours.q).max() < 1e-4
    assert [theirs.contacts for theirs, _ in shots] == [ours.contacts for _, ours in shots]
