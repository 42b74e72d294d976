"""Small Newton models for the tests of native stepping, built without Isaac Lab's environments."""

from __future__ import annotations

import math
from pathlib import Path

import newton
import numpy as np
import warp as wp
from newton.solvers import SolverMuJoCo
from newton.usd import SchemaResolverNewton, SchemaResolverPhysx

from sportsuite.characters.humanoid28_usd import write_humanoid28
from sportsuite.physics.ball_contact import BallContactCfg, ball_pairs_hook
from sportsuite.physics.soles import soles_hook

DT = 1.0 / 240.0
HEIGHT, MASS = 1.6, 47.0
STANDING = 0.89
BALL = BallContactCfg()
BALL_START = (0.6, 0.1, 0.6)
# A triangular sole of 30 cm and a smaller roof: a mesh that stands on exactly three points.
WEDGE = [
    (0.2, 0.0, -0.1),
    (-0.1, 0.17, -0.1),
    (-0.1, -0.17, -0.1),
    (0.1, 0.0, 0.1),
    (-0.05, 0.09, 0.1),
    (-0.05, -0.09, 0.1),
]
WEDGE_FACES = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)]
# Not the hand: for a body that is welded to its parent, MuJoCo Warp weighs equality rows with the parent's inertia.
GRASPING_BODY, GRASP_ANCHOR = "right_lower_arm", (0.0, 0.0, -0.05)
SETTINGS = {"njmax": 200, "nconmax": 48, "cone": "elliptic", "integrator": "implicitfast"}


def football_model(folder: Path, worlds: int, attributes: tuple[str, ...] = (), foot: str = "box") -> newton.Model:
    """Worlds on a shared plane: a humanoid that can hold on, a ball with its own pairs, a wedge and a pendulum.

    Worlds are alike but for the place of the pendulum's fixed base.
    """
    usd = folder / f"humanoid_{foot}.usda"
    if not usd.exists():
        write_humanoid28(usd, HEIGHT, MASS, foot=foot)
    builder = _builder()
    builder.add_ground_plane()
    for world in range(worlds):
        builder.begin_world()
        _add_humanoid(builder, usd)
        _add_ball(builder)
        _add_wedge(builder)
        _add_pendulum(builder, 0.3 * world)
        for hook in (ball_pairs_hook(BALL, DT), soles_hook()):
            hook(builder, world, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
        builder.end_world()
    builder.request_state_attributes(*attributes)
    return builder.finalize(device="cpu")


def ball_model(worlds: int, height: float = BALL.radius) -> newton.Model:
    """A ball per world over a shared plane, with plain contacts."""
    builder = _builder()
    builder.add_ground_plane()
    for _ in range(worlds):
        builder.begin_world()
        _add_ball(builder, (0.0, 0.0, height))
        builder.end_world()
    return builder.finalize(device="cpu")


def _builder() -> newton.ModelBuilder:
    builder = newton.ModelBuilder()
    # No contacts at a distance: they fill the arrays and carry no force.
    builder.default_shape_cfg.gap = 0.0
    builder.rigid_gap = 0.0
    SolverMuJoCo.register_custom_attributes(builder)
    return builder


def _add_humanoid(builder: newton.ModelBuilder, usd: Path) -> None:
    first = len(builder.body_label)
    builder.add_usd(
        str(usd),
        xform=wp.transform((0.0, 0.0, STANDING), wp.quat_identity()),
        schema_resolvers=[SchemaResolverNewton(), SchemaResolverPhysx()],
    )
    arm = next(i for i in range(first, len(builder.body_label)) if builder.body_label[i].endswith(GRASPING_BODY))
    row = {
        "type": int(SolverMuJoCo.EqType.CONNECT),
        "objtype": 1,
        "body1": arm,
        "body2": -1,
        "anchor": wp.vec3(*GRASP_ANCHOR),
        "torquescale": 0.0,
        "relpose": wp.transform_identity(),
        "joint1": -1,
        "joint2": -1,
        "polycoef": [0.0] * 5,
        "label": "grasp",
        "enabled": False,
        "world": builder.current_world,
    }
    values = {f"mujoco:equality_constraint_{name}": value for name, value in row.items()}
    builder.add_custom_values(**values)


def _add_ball(builder: newton.ModelBuilder, place: tuple[float, float, float] = BALL_START) -> None:
    body = builder.add_body(xform=wp.transform(place, wp.quat_identity()), label="/World/Ball")
    density = BALL.mass / (4.0 / 3.0 * math.pi * BALL.radius**3)
    shape = newton.ModelBuilder.ShapeConfig(density=density, mu=BALL.mu_ground, gap=0.0)
    builder.add_shape_sphere(body, radius=BALL.radius, cfg=shape, label="/World/Ball/collision")


def _add_wedge(builder: newton.ModelBuilder) -> None:
    body = builder.add_body(xform=wp.transform((0.6, 0.1, 0.11), wp.quat_identity()), label="/World/Wedge")
    mesh = newton.Mesh(np.array(WEDGE, np.float32), np.array(WEDGE_FACES, np.int32).ravel())
    builder.add_shape_convex_hull(body, mesh=mesh, label="/World/Wedge/collision")


def _add_pendulum(builder: newton.ModelBuilder, offset: float) -> None:
    """A rod on a base that is fixed to the world at a place of its own."""
    inertia = wp.mat33(*(0.01 * np.eye(3)).ravel())
    base = builder.add_link(label="/World/Pendulum/base", mass=1.0, inertia=inertia)
    rod = builder.add_link(label="/World/Pendulum/rod", mass=1.0, inertia=inertia, com=wp.vec3(0.0, 0.0, -0.3))
    root = builder.add_joint_fixed(-1, base, parent_xform=wp.transform((3.0, offset, 2.0), wp.quat_identity()))
    hinge = builder.add_joint_revolute(base, rod, axis=wp.vec3(0.0, 1.0, 0.0))
    builder.add_articulation([root, hinge])


def start(model: newton.Model, seed: int | None = None) -> newton.State:
    """State at the model's coordinates, joints disturbed differently in every world if there is a seed."""
    state = model.state()
    if seed is not None:
        coordinates = world_rows(state.joint_q, model.world_count).copy()
        noise = np.random.default_rng(seed).uniform(-0.05, 0.05, (model.world_count, 28))
        coordinates[:, 7:35] += noise.astype(np.float32)
        coordinates[:, 2] -= 0.01
        state.joint_q.assign(coordinates.ravel())
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    return state


def world_rows(array: wp.array, worlds: int) -> np.ndarray:
    """View a flat per-world array as one row per world."""
    return array.numpy().reshape(worlds, -1)


def body_index(model: newton.Model, ending: str, world: int = 0) -> int:
    """Newton's number of a body."""
    worlds = model.body_world.numpy()
    return next(i for i, label in enumerate(model.body_label) if worlds[i] == world and label.endswith(ending))


def geoms_of(solver: SolverMuJoCo, part: str) -> np.ndarray:
    """(ngeom,) True for the MuJoCo geoms whose shape's label contains ``part``."""
    labels = solver.model.shape_label
    return np.array([part in labels[shape] for shape in solver.mjc_geom_to_newton_shape.numpy()[0]])
