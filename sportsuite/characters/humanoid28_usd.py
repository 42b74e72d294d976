"""Authoring of the 28-DoF humanoid as a USD file, with OpenUSD's own libraries only.

The layer is built in memory, rounded and exported as text, so that the same arguments always give the same bytes.
"""

# OpenUSD's stubs declare that Define() and Apply() return None.
# pyright: reportReturnType=false, reportArgumentType=false, reportOptionalMemberAccess=false

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, Vt

from sportsuite.assets import write_text_atomic
from sportsuite.characters import humanoid28_shapes as looks
from sportsuite.characters import spec
from sportsuite.characters.shapes import (
    Box,
    Capsule,
    MassProperties,
    Shape,
    Sphere,
    combined,
    principal_axes,
    scale_shape,
)
from sportsuite.errors import BadInputError

ROOT = "/humanoid"
VIRTUAL_MASS = 0.005
"""Mass of a virtual link [kg] (ours): small beside the lightest body (a hand, 0.48 kg), large enough to integrate."""
VIRTUAL_INERTIA = 5e-6
"""Moment of inertia of a virtual link about every axis [kg m^2] (ours), at most a thousandth of the armature."""
BODY_FRICTION = 1.0
DEPENETRATION_SPEED = 10.0
"""Fastest separation of overlapping bodies on PhysX [m/s], as in the Isaac Gym humanoids."""
_DIGITS = 7


def write_humanoid28(path: Path, height: float, mass: float, foot: str = "boot") -> None:
    """Write the humanoid as a USD text file.

    Args:
        path: File to write, ending in ``.usda``; replaced atomically.
        height: Standing height including footwear [m].
        mass: Total mass including the virtual links [kg].
        foot: ``boot`` for a football boot or ``box`` for the AMP humanoid's box.

    Raises:
        BadInputError: If ``foot`` is unknown, or ``height`` or ``mass`` is too small.
    """
    scale = spec.body_scale(height, foot)
    body_mass = mass - VIRTUAL_MASS * len(spec.VIRTUAL_LINK_NAMES)
    if not body_mass > 0.0:
        raise BadInputError(f"character mass {mass!r} kg: expected more than the virtual links' {mass - body_mass} kg")
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, ROOT).GetPrim())
    UsdGeom.Scope.Define(stage, f"{ROOT}/joints")
    material = _define_material(stage)
    origins = body_origins(scale)
    properties = body_mass_properties(body_mass, foot, scale)
    for body in spec.BODIES:
        _define_link(stage, body.name, origins[body.name], properties[body.name])
        _define_colliders(stage, body.name, _colliders(body.name, foot, scale), material)
        _define_visuals(stage, body.name, scale)
        _define_joint(stage, body, origins[body.name], scale)
    _define_articulation(stage)
    _filter_collisions(stage)
    write_text_atomic(Path(path), stage.GetRootLayer().ExportToString())


def body_origins(scale: float) -> dict[str, np.ndarray]:
    """Origin of each body in the pelvis frame at the zero pose, (3,) each [m]."""
    origins: dict[str, np.ndarray] = {}
    for body in spec.BODIES:
        origins[body.name] = (origins[body.parent] if body.parent else 0.0) + scale * np.array(body.offset)
    return origins


def body_mass_properties(mass: float, foot: str, scale: float) -> dict[str, MassProperties]:
    """Mass properties of each body in its own frame, from its colliders at uniform density.

    The torso's centre of mass is then moved fore or aft (by about 1.5 cm) until everything above the ankles balances
    over them at the zero pose. With the shoulders behind the spine it would fall backwards: a PD controller without
    gravity compensation amplifies the imbalance several times before the ankles hold it.

    Args:
        mass: Mass of all bodies together [kg].
        foot: ``boot`` or ``box``.
        scale: Factor on every length.
    """
    total = sum(body.mass for body in spec.BODIES)
    properties = {
        body.name: combined(_colliders(body.name, foot, scale), mass * body.mass / total) for body in spec.BODIES
    }
    origins = body_origins(scale)
    above = [name for name in spec.BODY_NAMES if name not in spec.FEET]
    moment = sum(properties[name].mass * (origins[name] + properties[name].com)[0] for name in above)
    torso = properties["torso"]
    shift = np.array([moment / torso.mass, 0.0, 0.0])
    properties["torso"] = MassProperties(torso.mass, torso.com - shift, torso.inertia)
    return properties


def collision_filter_pairs() -> list[tuple[str, str]]:
    """Pairs of bodies that never collide: parent and child, grandparent and grandchild, and the two thighs."""
    parents = {body.name: body.parent for body in spec.BODIES}
    pairs = {("right_thigh", "left_thigh")}
    for name, parent in parents.items():
        if parent is None:
            continue
        pairs.add((parent, name))
        if (grandparent := parents[parent]) is not None:
            pairs.add((grandparent, name))
    return sorted(pairs)


def _colliders(body: str, foot: str, scale: float) -> list[Shape]:
    part = looks.side_free(body)
    shapes = looks.foot_colliders(foot) if part == "foot" else looks.COLLIDERS[part]
    return [scale_shape(shape, scale) for shape in shapes]


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS) + 0.0


def _vec3f(values: Iterable[float]) -> Gf.Vec3f:
    return Gf.Vec3f(*(_rounded(value) for value in values))


def _vec3d(values: Iterable[float]) -> Gf.Vec3d:
    return Gf.Vec3d(*(_rounded(value) for value in values))


def _quatf(rotation: np.ndarray) -> Gf.Quatf:
    """Quaternion of a rotation matrix (3, 3), real part not negative."""
    matrix = Gf.Matrix3d(*(float(value) for value in rotation.T.flatten()))
    quat = matrix.ExtractRotation().GetQuat()
    sign = -1.0 if quat.GetReal() < 0.0 else 1.0
    real, imaginary = quat.GetReal(), quat.GetImaginary()
    return Gf.Quatf(_rounded(sign * real), *(_rounded(sign * value) for value in imaginary))


def _define_material(stage: Usd.Stage) -> UsdShade.Material:
    material = UsdShade.Material.Define(stage, f"{ROOT}/materials/body")
    physics = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    physics.CreateStaticFrictionAttr(BODY_FRICTION)
    physics.CreateDynamicFrictionAttr(BODY_FRICTION)
    physics.CreateRestitutionAttr(0.0)
    return material


def _define_link(stage: Usd.Stage, name: str, origin: np.ndarray, properties: MassProperties) -> None:
    """Define one rigid body at ``origin`` in the character's frame [m]."""
    xform = UsdGeom.Xform.Define(stage, f"{ROOT}/{name}")
    xform.AddTranslateOp().Set(_vec3d(origin))
    prim = xform.GetPrim()
    UsdPhysics.RigidBodyAPI.Apply(prim)
    prim.AddAppliedSchema("PhysxRigidBodyAPI")
    # PhysX damps rotations by default; Newton doesn't.
    for attribute, value in (
        ("linearDamping", 0.0),
        ("angularDamping", 0.0),
        ("maxDepenetrationVelocity", DEPENETRATION_SPEED),
    ):
        prim.CreateAttribute(f"physxRigidBody:{attribute}", Sdf.ValueTypeNames.Float).Set(value)
    moments, axes = principal_axes(properties.inertia)
    mass = UsdPhysics.MassAPI.Apply(prim)
    mass.CreateMassAttr(_rounded(properties.mass))
    mass.CreateCenterOfMassAttr(_vec3f(properties.com))
    mass.CreateDiagonalInertiaAttr(_vec3f(moments))
    mass.CreatePrincipalAxesAttr(_quatf(axes))


def _define_colliders(stage: Usd.Stage, body: str, shapes: list[Shape], material: UsdShade.Material) -> None:
    part = looks.side_free(body)
    for index, shape in enumerate(shapes):
        geometry = _define_shape(stage, f"{ROOT}/{body}/collider_{index}", shape)
        UsdPhysics.CollisionAPI.Apply(geometry.GetPrim())
        if isinstance(geometry, UsdGeom.Mesh):
            UsdPhysics.MeshCollisionAPI.Apply(geometry.GetPrim()).CreateApproximationAttr("convexHull")
        UsdShade.MaterialBindingAPI.Apply(geometry.GetPrim()).Bind(material, materialPurpose="physics")
        # Newton hides colliders of bodies with visible shapes, but loads those only for a viewer: keep both drawable.
        geometry.CreateDisplayColorAttr([Gf.Vec3f(*looks.COLLIDER_COLOURS[part])])


def _define_visuals(stage: Usd.Stage, body: str, scale: float) -> None:
    for index, (shape, colour) in enumerate(looks.VISUALS.get(looks.side_free(body), ())):
        geometry = _define_shape(stage, f"{ROOT}/{body}/visual_{index}", scale_shape(shape, scale))
        geometry.CreateDisplayColorAttr([Gf.Vec3f(*colour)])


def _define_shape(stage: Usd.Stage, path: str, shape: Shape) -> UsdGeom.Gprim:
    if isinstance(shape, Sphere):
        sphere = UsdGeom.Sphere.Define(stage, path)
        sphere.CreateRadiusAttr(_rounded(shape.radius))
        sphere.AddTranslateOp().Set(_vec3d(shape.centre))
        return sphere
    if isinstance(shape, Capsule):
        return _define_capsule(stage, path, shape)
    if isinstance(shape, Box):
        box = UsdGeom.Cube.Define(stage, path)
        box.CreateSizeAttr(2.0)
        box.AddTranslateOp().Set(_vec3d(shape.centre))
        box.AddScaleOp().Set(_vec3f(shape.half))
        return box
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray([_vec3f(point) for point in shape.points]))
    mesh.CreateFaceVertexCountsAttr([3] * len(shape.triangles))
    mesh.CreateFaceVertexIndicesAttr([index for triangle in shape.triangles for index in triangle])
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    return mesh


def _define_capsule(stage: Usd.Stage, path: str, shape: Capsule) -> UsdGeom.Capsule:
    start, end = np.array(shape.start), np.array(shape.end)
    length = float(np.linalg.norm(end - start))
    capsule = UsdGeom.Capsule.Define(stage, path)
    capsule.CreateRadiusAttr(_rounded(shape.radius))
    capsule.CreateHeightAttr(_rounded(length))
    capsule.CreateAxisAttr(UsdGeom.Tokens.z)
    capsule.AddTranslateOp().Set(_vec3d(0.5 * (start + end)))
    turn = Gf.Rotation(Gf.Vec3d(0.0, 0.0, 1.0), Gf.Vec3d(*((end - start) / length).tolist())).GetQuat()
    capsule.AddOrientOp().Set(Gf.Quatf(_rounded(turn.GetReal()), *(_rounded(v) for v in turn.GetImaginary())))
    return capsule


def _define_joint(stage: Usd.Stage, body: spec.BodySpec, origin: np.ndarray, scale: float) -> None:
    """Connect a body to its parent: nothing for the pelvis, a weld, a hinge, or a chain over virtual links."""
    if body.parent is None:
        return
    offset = scale * np.array(body.offset)
    if body.joint is None:
        weld = UsdPhysics.FixedJoint.Define(stage, f"{ROOT}/joints/{body.name}_weld")
        _set_ends(weld, body.parent, body.name, offset)
        return
    virtual = spec.virtual_link_names(body.joint)
    still = MassProperties(VIRTUAL_MASS, np.zeros(3), VIRTUAL_INERTIA * np.eye(3))
    for name in virtual:
        _define_link(stage, name, origin, still)
    chain = (body.parent, *virtual, body.name)
    for index, axis in enumerate(spec.JOINTS[body.joint].axes):
        anchor = offset if index == 0 else np.zeros(3)
        _define_hinge(stage, spec.hinge_name(body.joint, axis), axis, chain[index], chain[index + 1], anchor)


def _define_hinge(stage: Usd.Stage, name: str, axis: str, parent: str, child: str, anchor: np.ndarray) -> None:
    hinge = UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/{name}")
    hinge.CreateAxisAttr(axis.upper())
    _set_ends(hinge, parent, child, anchor)
    low, high = spec.JOINT_LIMITS[name]
    hinge.CreateLowerLimitAttr(_rounded(math.degrees(low)))
    hinge.CreateUpperLimitAttr(_rounded(math.degrees(high)))
    drive = UsdPhysics.DriveAPI.Apply(hinge.GetPrim(), "angular")
    drive.CreateTypeAttr("force")
    # USD states angular gains per degree.
    drive.CreateStiffnessAttr(_rounded(math.radians(spec.GAINS["stiff"].stiffness[name])))
    drive.CreateDampingAttr(_rounded(math.radians(spec.GAINS["stiff"].damping[name])))
    drive.CreateMaxForceAttr(spec.EFFORT_LIMITS[name])
    drive.CreateTargetPositionAttr(0.0)
    hinge.GetPrim().AddAppliedSchema("PhysxJointAPI")
    hinge.GetPrim().CreateAttribute("physxJoint:armature", Sdf.ValueTypeNames.Float).Set(spec.ARMATURE[name])


def _set_ends(joint: UsdPhysics.Joint, parent: str, child: str, anchor: np.ndarray) -> None:
    joint.CreateBody0Rel().SetTargets([f"{ROOT}/{parent}"])
    joint.CreateBody1Rel().SetTargets([f"{ROOT}/{child}"])
    joint.CreateLocalPos0Attr(_vec3f(anchor))
    joint.CreateLocalPos1Attr(Gf.Vec3f(0.0))
    joint.CreateLocalRot0Attr(Gf.Quatf(1.0))
    joint.CreateLocalRot1Attr(Gf.Quatf(1.0))


def _define_articulation(stage: Usd.Stage) -> None:
    pelvis = stage.GetPrimAtPath(f"{ROOT}/{spec.BODY_NAMES[0]}")
    UsdPhysics.ArticulationRootAPI.Apply(pelvis)
    pelvis.AddAppliedSchema("PhysxArticulationAPI")
    pelvis.CreateAttribute("physxArticulation:enabledSelfCollisions", Sdf.ValueTypeNames.Bool).Set(True)


def _filter_collisions(stage: Usd.Stage) -> None:
    for first, second in collision_filter_pairs():
        filtered = UsdPhysics.FilteredPairsAPI.Apply(stage.GetPrimAtPath(f"{ROOT}/{first}"))
        filtered.CreateFilteredPairsRel().AddTarget(f"{ROOT}/{second}")
