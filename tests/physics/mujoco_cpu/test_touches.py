"""Normal impulses are summed over every substep, whatever the cone."""

from __future__ import annotations

import math

import newton
import numpy as np
import pytest
import warp as wp

from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu
from tests.physics.mujoco_cpu.scenes import BALL, DT, SETTINGS, ball_model, geoms_of, start

GRAVITY = 9.81


@pytest.fixture(scope="module")
def resting() -> newton.Model:
    return ball_model(3)


def _tracker(solver: SolverMuJoCoCpu, num_slots: int = 2) -> wp.array:
    """Follow the ball; the ground has no column of its own."""
    ball = geoms_of(solver, "Ball")
    return solver.track_contacts(ball, np.where(ball, 0, -1), num_slots)


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_resting_ball_presses_with_its_weight(resting: newton.Model, cone: str) -> None:
    solver = SolverMuJoCoCpu(resting, num_threads=2, **{**SETTINGS, "cone": cone})
    state, control = start(resting), resting.control()
    for _ in range(60):
        solver.step_substeps(state, state, control, DT, 4)
    total = _tracker(solver)
    for _ in range(5):
        solver.step_substeps(state, state, control, DT, 4)
    expected = BALL.mass * GRAVITY * 20 * DT
    np.testing.assert_allclose(total.numpy(), [[0.0, 0.0, expected]] * 3, rtol=1e-3)


def test_a_bounce_inside_fused_substeps_is_not_missed() -> None:
    """The impulse of a bounce is the ball's change of momentum plus what gravity took meanwhile."""
    model = ball_model(2, height=0.5)
    solver = SolverMuJoCoCpu(model, num_threads=1, **SETTINGS)
    total, control = _tracker(solver), model.control()
    state = start(model)
    before = state.joint_qd.numpy().reshape(2, 6)[0, 2]
    fall = math.sqrt(2 * (0.5 - BALL.radius) / GRAVITY)
    substeps = int(2 * fall / DT)
    solver.step_substeps(state, state, control, DT, substeps)
    after = state.joint_qd.numpy().reshape(2, 6)[0, 2]
    expected = BALL.mass * (after - before + GRAVITY * substeps * DT)
    assert expected > BALL.mass * GRAVITY * fall, "the ball must have met the ground"
    np.testing.assert_allclose(total.numpy()[:, 2], expected, rtol=1e-3)
    assert int(solver.mjw_data.nacon.numpy()[0]) in (0, 2)


def test_every_tracker_has_its_own_columns_and_sum(resting: newton.Model) -> None:
    solver = SolverMuJoCoCpu(resting, **SETTINGS)
    ball = geoms_of(solver, "Ball")
    ground = ~ball
    by_ground = solver.track_contacts(ball, np.where(ground, 0, -1), 1)
    by_ball = solver.track_contacts(ground, np.where(ball, 2, -1), 3)
    state, control = start(resting), resting.control()
    solver.step_substeps(state, state, control, DT, 8)
    assert by_ground.shape == (3, 2) and by_ball.shape == (3, 4)
    pressed = by_ground.numpy()[:, 0]
    assert (pressed > 0).all()
    np.testing.assert_array_equal(by_ball.numpy(), np.stack([0 * pressed, 0 * pressed, pressed, 0 * pressed], axis=1))
    view = wp.to_torch(by_ground)
    solver.clear_tracked(by_ground, np.array([True, False, True]))
    assert view[:, 0].tolist() == [0.0, pressed[1], 0.0]


def test_bad_trackers_are_refused(resting: newton.Model) -> None:
    solver = SolverMuJoCoCpu(resting, **SETTINGS)
    with pytest.raises(ValueError, match="2 geoms"):
        solver.track_contacts([True], [0], 1)
    with pytest.raises(ValueError, match=r"expected -1\.\.0"):
        solver.track_contacts([True, False], [0, 1], 1)
