"""The ground: an infinite-looking plane that needs no remote file.

Isaac Lab's own ground plane is fetched from a server. A large box would not need one, but feet jitter on it.
"""

from __future__ import annotations

from collections.abc import Callable

from isaaclab.assets import AssetBaseCfg
from isaaclab.sim import get_current_stage
from isaaclab.sim.spawners.spawner_cfg import SpawnerCfg
from isaaclab.sim.utils import bind_physics_material, create_prim
from isaaclab.utils import configclass
from pxr import Gf, Usd, UsdGeom, UsdPhysics, UsdShade, Vt

Colour = tuple[float, float, float]


def spawn_plane(
    prim_path: str,
    cfg: PlaneCfg,
    translation: tuple[float, float, float] | None = None,
    orientation: tuple[float, float, float, float] | None = None,
    **kwargs: object,
) -> Usd.Prim:
    """Author the plane, its physics material and its visible checker below ``prim_path``.

    Args:
        prim_path: Path of the ground prim.
        cfg: What to author.
        translation: Offset from the parent [m].
        orientation: Rotation against the parent, xyzw.
        **kwargs: Ignored; Isaac Lab passes cloning options.

    Returns:
        The ground prim.
    """
    stage = get_current_stage()
    prim = create_prim(prim_path, "Xform", translation=translation, orientation=orientation, stage=stage)
    plane = UsdGeom.Plane.Define(stage, f"{prim_path}/collision")
    plane.CreateAxisAttr(UsdGeom.Tokens.z)
    plane.CreateWidthAttr(cfg.size)
    plane.CreateLengthAttr(cfg.size)
    plane.CreateDisplayColorAttr([Gf.Vec3f(*cfg.colours[0])])
    UsdPhysics.CollisionAPI.Apply(plane.GetPrim())
    _define_material(stage, f"{prim_path}/physics_material", cfg)
    bind_physics_material(f"{prim_path}/collision", f"{prim_path}/physics_material", stage=stage)
    for parity, colour in enumerate(cfg.colours):
        _define_tiles(stage, f"{prim_path}/tiles_{parity}", cfg, parity, colour)
    return prim


@configclass
class PlaneCfg(SpawnerCfg):
    """A horizontal plane at z = 0 with a two-coloured checker, so that motion over it can be seen."""

    func: Callable[..., Usd.Prim] = spawn_plane

    size: float = 200.0
    """Side length of the plane [m]."""

    tile: float = 2.5
    """Side length of a checker tile [m] (ours); the size must hold a whole number of them."""

    friction: float = 1.0
    """Static and dynamic friction coefficient, as the ground of ASE and CALM."""

    restitution: float = 0.0
    """Restitution coefficient of the ground itself; a ball brings its own."""

    colours: tuple[Colour, Colour] = ((0.035, 0.13, 0.03), (0.045, 0.16, 0.037))
    """Linear colours of the two sets of tiles: mown grass."""


def ground_cfg(prim_path: str = "/World/ground", spawn: PlaneCfg | None = None) -> AssetBaseCfg:
    """Scene entry of the ground, shared by all environments; a fresh object per call."""
    return AssetBaseCfg(prim_path=prim_path, spawn=spawn or PlaneCfg(), collision_group=-1)


def tile_corners(size: float, tile: float, parity: int) -> list[tuple[float, float]]:
    """Lower left corners (x, y) of the checker tiles of one parity, centred on the origin [m]."""
    count = max(1, round(size / tile))
    start = -0.5 * count * tile
    return [
        (start + column * tile, start + row * tile)
        for row in range(count)
        for column in range(count)
        if (row + column) % 2 == parity
    ]


def _define_material(stage: Usd.Stage, path: str, cfg: PlaneCfg) -> None:
    material = UsdPhysics.MaterialAPI.Apply(UsdShade.Material.Define(stage, path).GetPrim())
    material.CreateStaticFrictionAttr(cfg.friction)
    material.CreateDynamicFrictionAttr(cfg.friction)
    material.CreateRestitutionAttr(cfg.restitution)


def _define_tiles(stage: Usd.Stage, path: str, cfg: PlaneCfg, parity: int, colour: Colour) -> None:
    """One mesh holding every tile of a parity: two shapes in all, however large the ground."""
    points: list[Gf.Vec3f] = []
    for x, y in tile_corners(cfg.size, cfg.tile, parity):
        for dx, dy in ((0.0, 0.0), (cfg.tile, 0.0), (cfg.tile, cfg.tile), (0.0, cfg.tile)):
            points.append(Gf.Vec3f(x + dx, y + dy, 0.0))
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray(points))
    mesh.CreateFaceVertexCountsAttr([4] * (len(points) // 4))
    mesh.CreateFaceVertexIndicesAttr(list(range(len(points))))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateDisplayColorAttr([Gf.Vec3f(*colour)])
