"""Isaac Lab drives the native solver: sensors, touches, wrenches and resets of a scene."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from isaaclab_newton.physics import NewtonManager

from tests.physics import scene as scenes

WEIGHT = 47.0 * 9.81
BESIDE = torch.tensor([1.0, 0.0, 0.11])
SUBSTEPS = scenes.SUBSTEPS["mujoco_cpu"]


@pytest.fixture(scope="module")
def scene(_environments: dict) -> Iterator[scenes.Scene]:
    # one simulation per process: another test's environment may still be open
    _environments["close"]()
    with scenes.running_scene("mujoco_cpu", num_envs=4) as running:
        yield running


def test_substeps_run_fused_unless_a_callback_acts_between_them(
    scene: scenes.Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    solver = NewtonManager._solver
    step = type(solver).step_substeps
    monkeypatch.setattr(
        type(solver), "step_substeps", lambda self, *args: (calls.append(args[-1]), step(self, *args))[1]
    )
    scene.place_robot()
    scene.step(1)
    assert calls == [SUBSTEPS]
    monkeypatch.setattr(NewtonManager, "_state_force_callbacks", [lambda state: None])
    scene.step(1)
    assert calls == [SUBSTEPS] + [1] * SUBSTEPS


def test_feet_and_ball_report_what_they_carry(scene: scenes.Scene) -> None:
    solver = NewtonManager._solver
    tracked = [bool(flag) for flag in _labels_contain(solver, "/Ball")]
    impulses = solver.track_contacts(tracked, [-1] * len(tracked), 0)
    scene.place_robot()
    scene.place_ball(BESIDE)
    forces = []
    steps = round(0.5 / scene.dt)
    for _ in range(steps):
        scene.step(1)
        forces.append(scene.scene["feet"].data.net_forces_w.torch[..., 2].sum(-1).clone())
    mean = torch.stack(forces[steps // 2 :]).mean()
    assert abs(float(mean) - WEIGHT) < 0.15 * WEIGHT
    # The ball rests beside the humanoid all the while.
    rested = scene.ball_spec.mass * 9.81 * steps * scene.dt
    assert torch.allclose(_torch(impulses)[:, 0], torch.full((4,), rested), rtol=0.05)


def test_a_wrench_on_the_ball_of_one_world_moves_it_there_alone(scene: scenes.Scene) -> None:
    scene.place_robot()
    scene.place_ball(BESIDE)
    scene.step(20)
    before = scene.ball_position().clone()
    composer = scene.ball.permanent_wrench_composer
    force = torch.zeros(4, 1, 3)
    force[2, 0, 0] = 5.0
    composer.set_forces_and_torques_index(forces=force, torques=torch.zeros(4, 1, 3), is_global=True)
    scene.step(round(0.25 / scene.dt))
    composer.set_forces_and_torques_index(forces=torch.zeros(4, 1, 3), torques=torch.zeros(4, 1, 3), is_global=True)
    moved = (scene.ball_position() - before)[:, 0]
    assert float(moved[2]) > 0.1
    assert torch.cat([moved[:2], moved[3:]]).abs().max() < 1e-3


def _labels_contain(solver: object, part: str) -> list[bool]:
    labels = solver.model.shape_label
    return [part in labels[shape] for shape in solver.mjc_geom_to_newton_shape.numpy()[0]]


def _torch(array: object) -> torch.Tensor:
    import warp as wp

    return wp.to_torch(array)
