"""Worlds are stepped independently, and what goes wrong in one is said and counted."""

from __future__ import annotations

import logging

import newton
import numpy as np
import pytest

from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu
from tests.physics.mujoco_cpu.conftest import WORLDS
from tests.physics.mujoco_cpu.scenes import DT, SETTINGS, start, world_rows


def _solver(model: newton.Model, threads: int = 1, **overrides: object) -> SolverMuJoCoCpu:
    return SolverMuJoCoCpu(model, num_threads=threads, **{**SETTINGS, **overrides})


def _run(solver: SolverMuJoCoCpu, state: newton.State, steps: int, substeps: int = 1) -> None:
    control = solver.model.control()
    for _ in range(steps):
        solver.step_substeps(state, state, control, DT, substeps)


def test_the_number_of_threads_changes_no_bit(lean_model: newton.Model) -> None:
    results = []
    for threads in (1, 2):
        solver, state = _solver(lean_model, threads), start(lean_model, seed=5)
        _run(solver, state, 30)
        data = solver.mjw_data
        count = int(data.nacon.numpy()[0])
        contacts = [getattr(data.contact, name).numpy()[:count] for name in ("pos", "geom", "worldid", "efc_address")]
        results.append([state.joint_q.numpy(), state.joint_qd.numpy(), data.efc.force.numpy(), *contacts])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    assert (np.diff(results[0][5]) >= 0).all(), "contacts must be in world order"


def test_fused_substeps_equal_single_steps(lean_model: newton.Model) -> None:
    fused, single = start(lean_model, seed=6), start(lean_model, seed=6)
    _run(_solver(lean_model), fused, 5, substeps=4)
    _run(_solver(lean_model), single, 20)
    # Single steps pass through float32 between substeps.
    np.testing.assert_allclose(fused.joint_q.numpy(), single.joint_q.numpy(), atol=1e-5)


def test_a_lost_world_is_named_and_touches_no_other(lean_model: newton.Model, caplog: pytest.LogCaptureFixture) -> None:
    clean, struck = start(lean_model, seed=7), start(lean_model, seed=7)
    solver = _solver(lean_model, threads=2)
    _run(_solver(lean_model), clean, 20)
    _run(solver, struck, 10)
    world_rows(struck.joint_q, WORLDS)[2, 9] = np.nan
    with caplog.at_level(logging.WARNING):
        _run(solver, struck, 10)
    ours, theirs = world_rows(struck.joint_q, WORLDS), world_rows(clean.joint_q, WORLDS)
    np.testing.assert_array_equal(ours[[0, 1, 3]], theirs[[0, 1, 3]])
    assert np.isnan(ours[2, :35]).all(), "a lost world must not hide"
    assert not (solver.mjw_data.contact.worldid.numpy()[: int(solver.mjw_data.nacon.numpy()[0])] == 2).any()
    assert solver.warnings["BADQPOS"] == 10
    assert sum("position" in record.message and "world 2" in record.message for record in caplog.records) == 1


def test_a_lost_world_recovers_when_it_is_reset(lean_model: newton.Model) -> None:
    solver, state = _solver(lean_model), start(lean_model)
    world_rows(state.joint_q, WORLDS)[1] = np.inf
    _run(solver, state, 3)
    state.joint_q.assign(lean_model.joint_q)
    state.joint_qd.zero_()
    _run(solver, state, 10)
    rows = world_rows(state.joint_q, WORLDS)
    np.testing.assert_array_equal(rows[1, :42], rows[0, :42])


def test_a_force_that_blows_up_loses_only_its_world(lean_model: newton.Model) -> None:
    solver, state = _solver(lean_model, threads=2), start(lean_model)
    state.body_f.numpy()[3, 0] = np.nan
    _run(solver, state, 1, substeps=4)
    state.clear_forces()
    rows = world_rows(state.joint_q, WORLDS)
    assert np.isnan(rows[0]).any()
    assert np.isfinite(rows[1:]).all()
    assert solver.warnings["BADQACC"] == 1


def test_contacts_beyond_the_arrays_act_and_are_counted(
    lean_model: newton.Model, caplog: pytest.LogCaptureFixture
) -> None:
    wide, narrow = _solver(lean_model), _solver(lean_model, threads=2, nconmax=1)
    states = start(lean_model, seed=9), start(lean_model, seed=9)
    capacity, lost = narrow.get_max_contact_count(), 0
    assert capacity == WORLDS
    with caplog.at_level(logging.WARNING):
        for _ in range(20):
            _run(wide, states[0], 1)
            _run(narrow, states[1], 1)
            lost += max(0, int(wide.mjw_data.nacon.numpy()[0]) - capacity)
    np.testing.assert_array_equal(states[0].joint_q.numpy(), states[1].joint_q.numpy())
    assert int(narrow.mjw_data.nacon.numpy()[0]) == capacity
    assert int(narrow.mjw_data.ncollision.numpy()[0]) == int(wide.mjw_data.nacon.numpy()[0])
    # The first ones in world order are kept, whichever thread found them.
    kept = narrow.mjw_data.contact.pos.numpy()
    np.testing.assert_array_equal(kept, wide.mjw_data.contact.pos.numpy()[:capacity])
    assert narrow.contact_overflow == lost > 0
    assert wide.contact_overflow == 0
    assert sum("nconmax" in record.message for record in caplog.records) == 1


def test_rows_beyond_njmax_act_and_are_counted(lean_model: newton.Model, caplog: pytest.LogCaptureFixture) -> None:
    wide, narrow = _solver(lean_model), _solver(lean_model, njmax=8)
    states = start(lean_model, seed=8), start(lean_model, seed=8)
    with caplog.at_level(logging.WARNING):
        _run(wide, states[0], 20)
        _run(narrow, states[1], 20)
    np.testing.assert_array_equal(states[0].joint_q.numpy(), states[1].joint_q.numpy())
    limit = narrow.mjw_data.efc.force.shape[1]
    assert narrow.row_overflow > 0 and wide.row_overflow == 0
    assert (narrow.mjw_data.contact.efc_address.numpy() < limit).all()
    assert any("njmax" in record.message for record in caplog.records)


def test_a_pair_written_in_one_world_counts_there_at_the_next_step(lean_model: newton.Model) -> None:
    """The ball falls on the wedge after 60 steps; in one world that contact is far softer."""
    solver, state = _solver(lean_model), start(lean_model)
    _run(solver, state, 50)
    solver.mjw_model.pair_solref.numpy()[1] = (-1.0, -1.0)
    _run(solver, state, 20)
    balls = world_rows(state.joint_q, WORLDS)[:, 37]
    assert balls[0] == balls[2] == balls[3]
    assert balls[1] < balls[0] - 0.01


def test_an_error_names_world_and_cause_and_stepping_goes_on(lean_model: newton.Model) -> None:
    solver, state = _solver(lean_model, threads=2), start(lean_model)
    for mj_model in solver._loop.models.models:
        mj_model.opt.integrator = 99
    with pytest.raises(RuntimeError, match=r"world \d+: .*integrator"):
        _run(solver, state, 1)
    reference = start(lean_model)
    _run(_solver(lean_model), reference, 5)
    _run(solver, state, 5)
    np.testing.assert_array_equal(state.joint_q.numpy(), reference.joint_q.numpy())
