"""The ground plane and its visible tiles."""

from __future__ import annotations

import pytest

from sportsuite.physics.ground import PlaneCfg, ground_cfg, tile_corners


def test_tiles_cover_the_plane_without_gap_or_overlap():
    even, odd = tile_corners(10.0, 2.5, 0), tile_corners(10.0, 2.5, 1)
    assert len(even) == len(odd) == 8
    assert not set(even) & set(odd)
    assert set(even) | set(odd) == {(x, y) for x in (-5.0, -2.5, 0.0, 2.5) for y in (-5.0, -2.5, 0.0, 2.5)}


def test_neighbouring_tiles_differ():
    even = set(tile_corners(10.0, 2.5, 0))
    for x, y in even:
        assert (x + 2.5, y) not in even and (x, y + 2.5) not in even


def test_default_size_holds_a_whole_number_of_tiles():
    cfg = PlaneCfg()
    assert (cfg.size / cfg.tile).is_integer()
    assert cfg.friction == 1.0


def test_ground_is_fresh_and_shared_by_all_worlds():
    first, second = ground_cfg(), ground_cfg()
    assert first is not second and first.spawn is not second.spawn
    assert first.collision_group == -1
    assert first.prim_path == "/World/ground"


@pytest.fixture
def stage():
    """An empty stage, closed afterwards: the next simulation would build on a current one."""
    from isaaclab.sim.utils.stage import close_stage, create_new_stage

    yield create_new_stage()
    close_stage()


def test_plane_is_authored_with_its_material_and_tiles(stage):
    from pxr import UsdGeom, UsdPhysics, UsdShade

    cfg = PlaneCfg(size=10.0, friction=0.7)
    prim = cfg.func("/World/ground", cfg)
    assert prim.GetPath() == "/World/ground"
    plane = stage.GetPrimAtPath("/World/ground/collision")
    assert plane.HasAPI(UsdPhysics.CollisionAPI) and UsdGeom.Plane(plane).GetWidthAttr().Get() == 10.0
    material, _ = UsdShade.MaterialBindingAPI(plane).ComputeBoundMaterial("physics")
    assert UsdPhysics.MaterialAPI(material.GetPrim()).GetDynamicFrictionAttr().Get() == pytest.approx(0.7)
    tiles = [stage.GetPrimAtPath(f"/World/ground/tiles_{parity}") for parity in (0, 1)]
    assert all(not tile.HasAPI(UsdPhysics.CollisionAPI) for tile in tiles)
    assert sum(len(UsdGeom.Mesh(tile).GetFaceVertexCountsAttr().Get()) for tile in tiles) == 16
