"""Spawning of balls: a colliding sphere with visible markings that show its spin."""

from __future__ import annotations

import math
from collections.abc import Callable

import isaaclab.sim as sim_utils
from isaaclab.sim import get_current_stage
from isaaclab.sim.spawners.shapes.shapes import spawn_sphere
from isaaclab.utils import configclass
from pxr import Gf, Usd, UsdGeom

from sportsuite.errors import unknown_name

Colour = tuple[float, float, float]

_BASE: dict[str, Colour] = {
    "football": (0.85, 0.85, 0.85),
    "basketball": (0.60, 0.16, 0.03),
    "plain": (0.85, 0.85, 0.85),
}
_MARK: Colour = (0.015, 0.015, 0.018)
_PATCH_RADIUS = 0.32
"""Size of a football's black patch over the ball's radius: close to that of its pentagons."""
_SEAM_WIDTH = 0.05
"""Width of a basketball's seam over the ball's radius."""
_PROUD = 1.004
"""How far markings stand out of the ball, so that they aren't hidden by it."""


def spawn_ball(
    prim_path: str,
    cfg: BallSpawnCfg,
    translation: tuple[float, float, float] | None = None,
    orientation: tuple[float, float, float, float] | None = None,
    **kwargs: object,
) -> Usd.Prim:
    """Author a ball: Isaac Lab's sphere as the collider, a sphere and its markings to be seen.

    Args:
        prim_path: Path of the ball.
        cfg: What to author.
        translation: Offset from the parent [m].
        orientation: Rotation against the parent, xyzw.
        **kwargs: Passed on to Isaac Lab's sphere spawner.

    Returns:
        The ball's prim.

    Raises:
        BadInputError: If ``cfg.look`` is unknown.
    """
    if cfg.look not in _BASE:
        raise unknown_name("ball look", cfg.look, _BASE)
    prim = spawn_sphere(prim_path, cfg, translation, orientation, **kwargs)
    stage = get_current_stage()
    root = prim.GetPath().pathString
    colour = [Gf.Vec3f(*_BASE[cfg.look])]
    UsdGeom.Sphere(stage.GetPrimAtPath(f"{root}/geometry/mesh")).CreateDisplayColorAttr(colour)
    surface = UsdGeom.Sphere.Define(stage, f"{root}/look/surface")
    surface.CreateRadiusAttr(cfg.radius)
    surface.CreateDisplayColorAttr(colour)
    if cfg.look == "football":
        _define_patches(stage, f"{root}/look", cfg.radius)
    elif cfg.look == "basketball":
        _define_seams(stage, f"{root}/look", cfg.radius)
    return prim


@configclass
class BallSpawnCfg(sim_utils.SphereCfg):
    """A sphere with the markings of a ball."""

    func: Callable[..., Usd.Prim] = spawn_ball

    look: str = "football"
    """Markings: ``football``, ``basketball`` or ``plain``."""


def icosahedron_directions() -> list[tuple[float, float, float]]:
    """Unit vectors to the 12 corners of an icosahedron: where a football has its black patches."""
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    norm = math.hypot(1.0, golden)
    short, long = 1.0 / norm, golden / norm
    corners = [(0.0, a * short, b * long) for a in (-1, 1) for b in (-1, 1)]
    return [turned for x, y, z in corners for turned in ((x, y, z), (y, z, x), (z, x, y))]


def _define_patches(stage: Usd.Stage, path: str, radius: float) -> None:
    """Twelve black spheres that stick out of the ball by a hair: their visible parts are round patches.

    Two spheres of equal size whose centres are ``d`` apart meet in a circle; the patch sphere's radius follows from the
    wanted patch and how far it stands out.
    """
    patch = _PATCH_RADIUS * radius
    depth = math.sqrt(radius**2 - patch**2)
    top = _PROUD * radius
    small = ((top - depth) ** 2 + patch**2) / (2.0 * (top - depth))
    for index, direction in enumerate(icosahedron_directions()):
        sphere = UsdGeom.Sphere.Define(stage, f"{path}/patch_{index}")
        sphere.CreateRadiusAttr(small)
        sphere.AddTranslateOp().Set(Gf.Vec3d(*((top - small) * value for value in direction)))
        sphere.CreateDisplayColorAttr([Gf.Vec3f(*_MARK)])


def _define_seams(stage: Usd.Stage, path: str, radius: float) -> None:
    """Thin discs through the centre, one per axis: their rims are the seams."""
    for axis in (UsdGeom.Tokens.x, UsdGeom.Tokens.y, UsdGeom.Tokens.z):
        disc = UsdGeom.Cylinder.Define(stage, f"{path}/seam_{axis.lower()}")
        disc.CreateAxisAttr(axis)
        disc.CreateRadiusAttr(_PROUD * radius)
        disc.CreateHeightAttr(_SEAM_WIDTH * radius)
        disc.CreateDisplayColorAttr([Gf.Vec3f(*_MARK)])
