"""Native stepping does what MuJoCo Warp does, from the same states."""

from __future__ import annotations

from collections.abc import Iterator

import newton
import numpy as np
import pytest
from newton import ModelFlags, StateFlags

from tests.physics.mujoco_cpu.conftest import WORLDS
from tests.physics.mujoco_cpu.pairs import Pair, Snapshot, force_difference, make_pair
from tests.physics.mujoco_cpu.scenes import GRASPING_BODY, body_index, start, world_rows


@pytest.fixture(scope="module")
def pair(model: newton.Model) -> Pair:
    return make_pair(model)


@pytest.fixture(scope="module")
def course(pair: Pair) -> list[tuple[Snapshot, Snapshot]]:
    """70 steps: the humanoids land and are pushed, the ball falls on the wedge, the pendulums swing."""
    return [pair.step(push=20.0) for _ in range(70)]


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
    for theirs, ours in course[::10]:
        difference, largest = force_difference(theirs, ours)
        assert difference < 0.01 * largest


def test_the_ball_met_the_mesh(model: newton.Model, course: list[tuple[Snapshot, Snapshot]]) -> None:
    ball, wedge = model.shape_label.index("/World/Ball/collision"), model.shape_label.index("/World/Wedge/collision")
    touched = [any(set(key) == {ball, wedge} for key in ours.forces) for _, ours in course]
    assert any(touched)


def test_accelerations_and_joint_reactions_agree(course: list[tuple[Snapshot, Snapshot]]) -> None:
    for theirs, ours in course[:10]:
        assert np.abs(theirs.qdd - ours.qdd).max() < 1e-3 * np.abs(theirs.qdd).max()
        assert np.abs(theirs.parent_f - ours.parent_f).max() < 1e-3 * np.abs(theirs.parent_f).max()


def test_a_subset_reset_agrees_and_leaves_the_others(pair: Pair, course: list[tuple[Snapshot, Snapshot]]) -> None:
    mask = np.array([False, True, False, True, False])
    pair.align()
    for solver, state in zip((pair.warp, pair.native), pair.states, strict=True):
        before = world_rows(state.joint_q, WORLDS).copy()
        solver.reset(state, world_mask=_mask(mask), flags=StateFlags.JOINT_Q | StateFlags.JOINT_QD)
        after = world_rows(state.joint_q, WORLDS)
        assert (after[0] == before[0]).all()
        assert (after[1] == world_rows(pair.model.joint_q, WORLDS)[1]).all()
    assert not pair.native.mjw_data.qacc_warmstart.numpy()[[1, 3]].any()
    theirs, ours = pair.step()
    assert np.abs(theirs.q - ours.q).max() < 1e-6
    assert theirs.contacts == ours.contacts


def _mask(values: np.ndarray) -> object:
    import warp as wp

    return wp.array(values, dtype=wp.bool, device="cpu")


def test_a_grasp_switched_on_in_one_world_agrees_and_holds(pair: Pair, course: list[tuple[Snapshot, Snapshot]]) -> None:
    pair.align()
    arm, world = body_index(pair.model, GRASPING_BODY, 2), 2
    place = pair.states[1].body_q.numpy()[arm, :3] + np.array([0.0, 0.0, -0.05], np.float32)
    for solver in (pair.warp, pair.native):
        assert not solver.mjw_data.eq_active.numpy().any()
        solver.mjw_data.eq_active.numpy()[world, 0] = True
        solver.mjw_model.eq_data.numpy()[world, 0, 3:6] = place
    for _ in range(10):
        theirs, ours = pair.step()
    assert np.abs(theirs.q - ours.q).max() < 1e-5
    assert (theirs.rows == ours.rows).all()
    assert pair.native.mjw_data.ne.numpy().tolist() == [0, 0, 3, 0]
    held = pair.states[1].body_q.numpy()[arm, :3]
    assert np.abs(held - place - np.array([0.0, 0.0, 0.05])).max() < 0.01


@pytest.fixture
def randomised(model: newton.Model) -> Iterator[newton.Model]:
    """The model with masses, inertias, centres of mass, armatures, gains and friction of their own in every world."""
    names = (
        *("body_mass", "body_inv_mass", "body_inertia", "body_com", "joint_armature", "joint_target_ke"),
        *("joint_target_kd", "shape_material_mu"),
    )
    kept = {name: getattr(model, name).numpy().copy() for name in names}
    random = np.random.default_rng(1)
    scale = random.uniform(0.7, 1.4, model.body_count).astype(np.float32)
    model.body_mass.assign(kept["body_mass"] * scale)
    model.body_inv_mass.assign(np.where(kept["body_inv_mass"] > 0, kept["body_inv_mass"] / scale, 0.0))
    model.body_inertia.assign(kept["body_inertia"] * scale[:, None, None])
    model.body_com.assign(kept["body_com"] + random.uniform(-0.02, 0.02, kept["body_com"].shape).astype(np.float32))
    for name in ("joint_armature", "joint_target_ke", "joint_target_kd", "shape_material_mu"):
        values = kept[name]
        getattr(model, name).assign(values * random.uniform(0.7, 1.3, values.shape).astype(np.float32))
    yield model
    for name, values in kept.items():
        getattr(model, name).assign(values)


def test_parameters_of_their_own_in_every_world_agree(pair: Pair, randomised: newton.Model) -> None:
    before = pair.native.mjw_model.body_mass.numpy().copy()
    pair.states = (start(randomised, seed=3), start(randomised, seed=3))
    for solver, state in zip((pair.warp, pair.native), pair.states, strict=True):
        solver.reset(state, flags=0)
        solver.mjw_data.eq_active.zero_()
        solver.notify_model_changed(ModelFlags.ALL)
    assert (pair.native.mjw_model.body_mass.numpy() != before).any()
    for name in ("body_subtreemass", "body_invweight0", "dof_invweight0", "jnt_solref"):
        theirs, ours = getattr(pair.warp.mjw_model, name).numpy(), getattr(pair.native.mjw_model, name).numpy()
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    for _ in range(20):
        theirs, ours = pair.step()
    assert np.abs(theirs.q - ours.q).max() < 1e-4
    assert theirs.contacts == ours.contacts
    assert "body_mass" in pair.native._loop.models.varying
