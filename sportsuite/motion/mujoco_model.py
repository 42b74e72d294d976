"""The humanoid as a kinematic MuJoCo model, built from the numbers in the character's spec.

Motion tools use it for positions, Jacobians and pictures. Nothing collides in it and its masses are the shapes' own.
"""

from __future__ import annotations

import functools

import mujoco
import numpy as np

from sportsuite.characters import spec
from sportsuite.characters.humanoid28_shapes import COLLIDER_COLOURS, COLLIDERS, foot_colliders, side_free
from sportsuite.characters.shapes import Box, Capsule, Mesh, Shape, Sphere
from sportsuite.errors import unknown_name
from sportsuite.motion.clip import Clip

ROOT_DOFS = 6
"""Velocity coordinates of the floating root: three translations in the world, three rotations in the pelvis frame."""

NUM_DOFS = ROOT_DOFS + spec.NUM_JOINTS

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@functools.cache
def humanoid_model(character: str, foot: str = "boot") -> mujoco.MjModel:
    """Build the kinematic model of a character. The same object is returned every time: don't change it.

    Bodies and hinges carry the names and the order of :mod:`sportsuite.characters.spec`; ``qpos`` is the pelvis
    position, its quaternion in MuJoCo's order wxyz, and the 28 hinge angles.

    Args:
        character: Key of :data:`~sportsuite.characters.spec.VARIANTS`.
        foot: Kind of foot, ``"boot"`` or ``"box"``.

    Raises:
        BadInputError: If the character or the kind of foot is unknown.
    """
    scale = model_scale(character, foot)
    mj_spec = mujoco.MjSpec()
    mj_spec.modelname = f"humanoid28_{character}_{foot}"
    mj_spec.compiler.degree = False
    parents: dict[str | None, mujoco.MjsBody] = {None: mj_spec.worldbody}
    for body in spec.BODIES:
        node = parents[body.parent].add_body(name=body.name, pos=[scale * value for value in body.offset])
        parents[body.name] = node
        _add_joints(node, body)
        for index, shape in enumerate(_shapes(body.name, foot)):
            _add_geom(mj_spec, node, f"{body.name}_{index}", shape, scale)
    return mj_spec.compile()


def model_scale(character: str, foot: str = "boot") -> float:
    """Factor on every length of a character.

    Raises:
        BadInputError: If the character or the kind of foot is unknown.
    """
    if character not in spec.VARIANTS:
        raise unknown_name("character", character, spec.VARIANTS)
    return spec.body_scale(spec.VARIANTS[character].height, foot)


def sole_points(character: str, foot: str = "boot") -> np.ndarray:
    """Outline of the sole in the frame of a foot, the same for both feet, shape (P, 3) [m]; all at one height."""
    (shape,) = foot_colliders(foot)
    corners = np.array(_corners(shape)) * model_scale(character, foot)
    return corners[corners[:, 2] < corners[:, 2].min() + 1e-6]


def body_spheres(character: str) -> list[tuple[str, np.ndarray, float]]:
    """Spheres that make up the colliders other than the feet: body, centre in its frame (3,) [m], radius [m].

    A capsule is as low as the lower of the spheres at its ends.
    """
    scale, spheres = model_scale(character), []
    for body in (body for body in spec.BODY_NAMES if body not in spec.FEET):
        for shape in COLLIDERS[side_free(body)]:
            centres = (shape.centre,) if isinstance(shape, Sphere) else (shape.start, shape.end)  # type: ignore
            spheres += [(body, scale * np.array(centre), scale * shape.radius) for centre in centres]  # type: ignore
    return spheres


def qpos_of(clip: Clip) -> np.ndarray:
    """MuJoCo coordinates of every frame of a clip, shape (T, 35), float64."""
    wxyz = np.roll(np.asarray(clip.root_quat, np.float64), 1, axis=1)
    return np.concatenate((np.asarray(clip.root_pos, np.float64), wxyz, np.asarray(clip.joint_pos, np.float64)), axis=1)


def with_qpos(clip: Clip, qpos: np.ndarray) -> Clip:
    """The clip with its motion replaced by MuJoCo coordinates of shape (T, 35); float32 like stored clips."""
    quat = np.roll(qpos[:, 3:7], -1, axis=1)
    quat = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return clip.with_(
        root_pos=qpos[:, :3].astype(np.float32),
        root_quat=quat.astype(np.float32),
        joint_pos=qpos[:, 7:].astype(np.float32),
    )


@functools.cache
def joint_limits() -> np.ndarray:
    """Lower and upper limit of the 28 hinges, shape (2, 28) [rad]; read-only."""
    limits = np.array([spec.JOINT_LIMITS[name] for name in spec.JOINT_NAMES]).T
    limits.setflags(write=False)
    return limits


def _add_joints(node: mujoco.MjsBody, body: spec.BodySpec) -> None:
    if body.parent is None:
        node.add_freejoint(name="root")
    if body.joint is None:
        return
    for axis in spec.JOINTS[body.joint].axes:
        name = spec.hinge_name(body.joint, axis)
        node.add_joint(
            name=name,
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=_AXES[axis],
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            range=spec.JOINT_LIMITS[name],
        )


def _shapes(body: str, foot: str) -> tuple[Shape, ...]:
    return foot_colliders(foot) if body in spec.FEET else COLLIDERS[side_free(body)]


def _add_geom(mj_spec: mujoco.MjSpec, node: mujoco.MjsBody, name: str, shape: Shape, scale: float) -> None:
    body = name.rsplit("_", 1)[0]
    look = {"name": name, "rgba": (*COLLIDER_COLOURS[side_free(body)], 1.0), "contype": 0, "conaffinity": 0}
    if isinstance(shape, Sphere):
        node.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            pos=np.multiply(shape.centre, scale),
            size=[shape.radius * scale, 0, 0],
            **look,
        )
    elif isinstance(shape, Capsule):
        ends = [scale * value for value in (*shape.start, *shape.end)]
        node.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=[shape.radius * scale, 0, 0], **look)
    elif isinstance(shape, Box):
        node.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=np.multiply(shape.centre, scale),
            size=np.multiply(shape.half, scale),
            **look,
        )
    else:
        mj_spec.add_mesh(
            name=name,
            uservert=np.multiply(shape.points, scale).ravel(),
            userface=np.array(shape.triangles).ravel(),
        )
        node.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, **look)


def _corners(shape: Shape) -> list[tuple[float, float, float]]:
    if isinstance(shape, Mesh):
        return list(shape.points)
    assert isinstance(shape, Box), "feet are meshes or boxes"
    return [
        tuple(centre + sign * half for centre, sign, half in zip(shape.centre, signs, shape.half, strict=True))
        for signs in ((x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    ]  # type: ignore[misc]
