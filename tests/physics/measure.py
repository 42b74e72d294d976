"""Runs the physics experiments on one backend and writes what happened as JSON: ``measure.py BACKEND OUTPUT``.

Each backend gets a process of its own, because one process holds one simulation. One scene serves all experiments; in
each of its worlds the ball is thrown differently while the character stands beside it.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import torch
from scene import SUBSTEP_DT, Scene, running_scene

from sportsuite.characters import spec
from sportsuite.physics.aerodynamics import (
    AerodynamicsCfg,
    aerodynamic_coefficients,
    aerodynamic_force_w,
    apply_aerodynamics,
)
from sportsuite.physics.ball_contact import basketball_contact
from sportsuite.physics.contacts import TouchTracker, track_touches

NUM_ENVS = 14
ASIDE = 3.0
"""How far from the character the ball is thrown where they shouldn't meet [m]."""

DROPS = (1.0, 1.007, 2.0)
HEAD_ON = (20.0, 20.0, 20.0)
SLIDES = ((10.0, 0.0), (5.0, -100.0))
"""Velocity along x [m/s] and spin about y [rad/s] of balls put on the ground."""
OBLIQUE = ((2.0, -8.0, 0.0), (12.0, -3.0, 0.0), (0.0, -5.0, 20.0), (15.0, -8.0, 0.0), (10.0, -1.0, 0.0))
"""Velocities along x and z [m/s] and spins about y [rad/s] of balls thrown at the ground."""


def main() -> None:
    backend, output = sys.argv[1], Path(sys.argv[2])
    torch.manual_seed(1)
    with running_scene(backend, NUM_ENVS) as scene:
        touch = track_touches(scene.scene)
        result = {
            "backend": backend,
            **describe(scene),
            **free_balls_and_standing(scene, touch),
            **single_foot(scene, touch),
            **thrown_at_bodies(scene, touch),
            **pulses(scene),
            **flight(scene),
        }
        touch.close()
        result["callbacks_left"] = callbacks_left(backend, scene)
    if backend == "mujoco_cpu":
        with running_scene(backend, 2, basketball_contact()) as scene:
            result["basketball_rebound"] = basketball_drop(scene)
    output.write_text(json.dumps(result))


def describe(scene: Scene) -> dict:
    robot = scene.robot
    return {
        "joint_names": robot.joint_names,
        "body_names": robot.body_names,
        "mass": robot.data.body_mass.torch[0].sum().item(),
        "stiffness": robot.data.joint_stiffness.torch[0].tolist(),
        "limits": robot.data.joint_pos_limits.torch[0].tolist(),
    }


def free_balls_and_standing(scene: Scene, touch: TouchTracker) -> dict:
    """Five seconds of standing, the ball doing something else in every world."""
    height, velocity, spin = torch.zeros(NUM_ENVS), torch.zeros(NUM_ENVS, 3), torch.zeros(NUM_ENVS, 3)
    radius = scene.ball_spec.radius
    world = 0
    slots: dict[str, list[int]] = {"drop": [], "head_on": [], "slide": [], "oblique": []}
    for drop in DROPS:
        height[world] = drop
        slots["drop"].append(world)
        world += 1
    for index, speed in enumerate(HEAD_ON):
        height[world], velocity[world, 2] = speed * SUBSTEP_DT * (1.2 + index / 3), -speed
        slots["head_on"].append(world)
        world += 1
    for speed, turn in SLIDES:
        velocity[world, 0], spin[world, 1] = speed, turn
        slots["slide"].append(world)
        world += 1
    for along, down, turn in OBLIQUE:
        height[world] = -down * SUBSTEP_DT * 1.5
        velocity[world] = torch.tensor([along, 0.0, down])
        spin[world, 1] = turn
        slots["oblique"].append(world)
        world += 1
    position = torch.stack([torch.zeros(NUM_ENVS), torch.full((NUM_ENVS,), ASIDE), height + radius], dim=1)
    scene.place_robot()
    scene.place_ball(position, velocity, spin)
    touch.clear()
    heights, states, ground = [], {}, torch.zeros(NUM_ENVS)
    for step in range(round(5.0 / scene.dt)):
        scene.step()
        time = (step + 1) * scene.dt
        heights.append(scene.ball_position()[:, 2] - radius)
        if math.isclose(time, 3 * 2 * SUBSTEP_DT):
            states["impact"] = torch.cat([scene.ball_velocity(), scene.ball_spin()], dim=1)
        if math.isclose(time, 0.6):
            ground = touch.impulse[:, -1].clone()
        if math.isclose(time, 2.0):
            states["slide"] = torch.cat([scene.ball_velocity(), scene.ball_spin()], dim=1)
    path = torch.stack(heights)
    robot = scene.robot.data
    feet = scene.scene["feet"].data.net_forces_w.torch[:, :, 2]
    return {
        "rebounds": [first_rebound(path[:, index], scene.dt) for index in slots["drop"]],
        "head_on": [states["impact"][index, 2].item() for index in slots["head_on"]],
        "oblique": [states["impact"][index, [0, 2, 4]].tolist() for index in slots["oblique"]],
        "slides": [states["slide"][index, [0, 4]].tolist() for index in slots["slide"]],
        "slide_hops": [path[:, index].max().item() for index in slots["slide"]],
        "resting_depth": -path[-1].min().item(),
        "drop_ground_impulse": ground[slots["drop"][0]].item(),
        "standing_body_impulse": touch.impulse[:, :-1].max().item(),
        "root_height_change": (robot.root_pos_w.torch[:, 2] - robot.default_root_pose.torch[:, 2]).abs().max().item(),
        "joint_speed": robot.joint_vel.torch.abs().max().item(),
        "feet_force": feet.sum(dim=1).tolist(),
    }


def first_rebound(height: torch.Tensor, dt: float) -> float:
    """Highest point between the first bounce and the second [m]."""
    falling = int((height < 0.03).nonzero()[0])
    rising = height[falling + round(0.1 / dt) :]
    second = (rising < 0.03).nonzero()
    return rising[: int(second[0])].max().item() if len(second) else rising.max().item()


def single_foot(scene: Scene, touch: TouchTracker) -> dict:
    """A slow ball rolls against one boot of the standing character: left in even worlds, right in odd ones."""
    side = torch.tensor([1.0, -1.0]).repeat(NUM_ENVS // 2)
    zeros = torch.zeros(NUM_ENVS)
    scene.place_robot()
    position = torch.stack([zeros + 0.45, 0.085 * side, zeros + scene.ball_spec.radius], dim=1)
    scene.place_ball(position, torch.tensor([-3.0, 0.0, 0.0]))
    seen = torch.zeros(NUM_ENVS, len(touch.body_names), dtype=torch.bool)
    touch.clear()
    for _ in range(round(0.15 / scene.dt)):
        scene.step()
        first = ~seen.any(dim=1)
        seen[first] |= touch.touched[first]
        touch.clear()
    names = [[touch.body_names[body] for body in row.nonzero().flatten()] for row in seen]
    return {"left_foot": names[0::2], "right_foot": names[1::2]}


def thrown_at_bodies(scene: Scene, touch: TouchTracker) -> dict:
    """Balls thrown at random places of the character: are all touches found, and is energy gained?"""
    hits, found, ratios, phantom = 0, 0, [], 0
    for speed in 2 * (5.0, 10.0, 15.0, 20.0):
        scene.place_robot()
        aside, height = 0.14 * torch.rand(NUM_ENVS) - 0.07, 1.3 * torch.rand(NUM_ENVS) + 0.15
        # From the front in even worlds, from behind in odd ones.
        side = torch.tensor([1.0, -1.0]).repeat(NUM_ENVS // 2)
        away = 0.5 + 0.1 * torch.rand(NUM_ENVS)
        scene.place_ball(
            torch.stack([side * away, aside, height], dim=1), torch.outer(side, torch.tensor([-speed, 0, 0]))
        )
        touch.clear()
        hit, seen = torch.zeros(NUM_ENVS, dtype=torch.bool), torch.zeros(NUM_ENVS, dtype=torch.bool)
        fastest = torch.zeros(NUM_ENVS)
        for _ in range(round((0.7 / speed + 0.05) / scene.dt)):
            before = scene.ball_velocity()
            touch.clear()
            scene.step()
            after = scene.ball_velocity()
            # Ground friction changes the horizontal speed too, but only where the tracker books the ground.
            kicked = ((after - before)[:, :2].norm(dim=1) > 0.3) & (touch.impulse[:, -1] == 0.0)
            phantom += int((touch.touched.any(dim=1) & ((after - before).norm(dim=1) < 1e-3)).sum())
            hit |= kicked
            seen |= touch.touched.any(dim=1) & hit
            fastest = torch.where(hit, torch.maximum(fastest, after.norm(dim=1)), fastest)
        hits, found = hits + int(hit.sum()), found + int((hit & seen).sum())
        ratios.append((fastest / speed).max().item())
    return {"hits": hits, "found": found, "speed_ratios": ratios, "phantom_touches": phantom}


def pulses(scene: Scene) -> dict:
    """In the air, each world moves the target of one hinge only: which hinge moves most?"""
    target = torch.zeros(spec.NUM_JOINTS, spec.NUM_JOINTS)
    for index, name in enumerate(spec.JOINT_NAMES):
        low, high = spec.JOINT_LIMITS[name]
        target[index, index] = 0.25 if high > -low else -0.25
    elbow = spec.JOINT_NAMES.index("right_elbow")
    target[elbow, elbow] = -0.5
    rounds = []
    for first in range(0, spec.NUM_JOINTS, NUM_ENVS):
        scene.place_robot((0.0, 0.0, 0.5))
        scene.place_ball(torch.tensor([0.0, ASIDE, scene.ball_spec.radius]))
        scene.target(target[first : first + NUM_ENVS])
        scene.step(round(0.1 / scene.dt))
        rounds.append(scene.robot.data.joint_pos.torch.clone())
    moved = torch.cat(rounds)
    most = [spec.JOINT_NAMES[index] for index in moved.abs().argmax(dim=1)]
    return {
        "pulsed": most,
        "pulse_signs": torch.sign(moved.diagonal() * target.diagonal()).tolist(),
        "elbow_step": moved[elbow, elbow].item(),
    }


def flight(scene: Scene) -> dict:
    """Half a second of flight with drag and Magnus force, and the same flight integrated in fine steps."""
    ball = scene.ball_spec
    air = aerodynamic_coefficients(AerodynamicsCfg(magnus=True), ball.radius)
    position, velocity = torch.tensor([0.0, ASIDE, 1.0]), torch.tensor([25.0, 0.0, 5.0])
    spin = torch.tensor([0.0, 0.0, 50.0])
    scene.place_ball(position, velocity, spin)
    for _ in range(round(0.5 / scene.dt)):
        apply_aerodynamics(scene.ball, air, ball.mass, scene.dt)
        scene.step()
    position, velocity, spin = position.double(), velocity.double(), spin.double()
    steps = 2000
    for _ in range(steps):
        force = aerodynamic_force_w(velocity.unsqueeze(0), spin.unsqueeze(0), air)[0]
        velocity = velocity + 0.5 / steps * (force / ball.mass + torch.tensor([0.0, 0.0, -9.81]))
        position = position + 0.5 / steps * velocity
    error = (scene.ball_position()[0] - position).norm().item()
    scene.ball.permanent_wrench_composer.reset()
    return {"flight_error": error}


def basketball_drop(scene: Scene) -> float:
    scene.place_robot((0.0, ASIDE, 0.0))
    radius = scene.ball_spec.radius
    scene.place_ball(torch.tensor([0.0, 0.0, 1.8 + radius]))
    heights = []
    for _ in range(round(1.4 / scene.dt)):
        scene.step()
        heights.append(scene.ball_position()[0, 2] - radius)
    return first_rebound(torch.stack(heights), scene.dt)


def callbacks_left(backend: str, scene: Scene) -> int:
    """Callbacks and sensors of ours that remain after the tracker was closed."""
    if backend == "ovphysx":
        return sum(name.endswith("_sum") for name in scene.scene.sensors)
    from isaaclab_newton.physics import NewtonManager

    callbacks = [*NewtonManager._state_force_callbacks, *NewtonManager._post_step_callbacks]
    return sum(callback.__module__.startswith("sportsuite") for callback in callbacks)


if __name__ == "__main__":
    main()
