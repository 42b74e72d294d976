"""The authored file and the articulation configuration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics

from sportsuite.assets import asset_path
from sportsuite.characters import spec
from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.characters.humanoid28_usd import (
    body_mass_properties,
    body_origins,
    collision_filter_pairs,
    write_humanoid28,
)
from sportsuite.errors import BadInputError


@pytest.fixture(scope="module")
def stage():
    return Usd.Stage.Open(str(asset_path("characters/humanoid28_football_boot.usda")))


def prims(stage, schema):
    return [prim for prim in stage.Traverse() if prim.HasAPI(schema)]


def test_links_and_hinges_are_all_there(stage):
    assert {prim.GetName() for prim in prims(stage, UsdPhysics.RigidBodyAPI)} == set(spec.ALL_LINK_NAMES)
    hinges = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.RevoluteJoint)]
    assert {prim.GetName() for prim in hinges} == set(spec.JOINT_NAMES)
    assert sum(prim.IsA(UsdPhysics.FixedJoint) for prim in stage.Traverse()) == 2


def test_every_three_axis_joint_is_a_chain_of_x_y_z(stage):
    for joint, child in (("left_hip", "left_thigh"), ("abdomen", "torso")):
        links = []
        for axis in "xyz":
            hinge = UsdPhysics.RevoluteJoint(stage.GetPrimAtPath(f"/humanoid/joints/{joint}_{axis}"))
            assert hinge.GetAxisAttr().Get() == axis.upper()
            links += [hinge.GetBody0Rel().GetTargets()[0].name, hinge.GetBody1Rel().GetTargets()[0].name]
        assert links == [
            "pelvis", f"{joint}_x_link", f"{joint}_x_link", f"{joint}_y_link", f"{joint}_y_link", child,
        ]  # fmt: skip


@pytest.mark.parametrize(("variant", "foot"), [(v, f) for v in spec.VARIANTS for f in spec.SOLE_DROP])
def test_height_and_mass_are_the_variants(variant, foot):
    stage = Usd.Stage.Open(str(asset_path(spec.asset_name(variant, foot))))
    total = sum(UsdPhysics.MassAPI(prim).GetMassAttr().Get() for prim in prims(stage, UsdPhysics.RigidBodyAPI))
    assert total == pytest.approx(spec.VARIANTS[variant].mass, abs=1e-4)
    boxes = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default"])
    heights = []
    for prim in prims(stage, UsdPhysics.CollisionAPI):
        bounds = boxes.ComputeWorldBound(prim).ComputeAlignedRange()
        heights += [bounds.GetMin()[2], bounds.GetMax()[2]]
    assert max(heights) - min(heights) == pytest.approx(spec.VARIANTS[variant].height, abs=2e-3)
    assert -min(heights) == pytest.approx(spec.standing_pelvis_height(spec.VARIANTS[variant].height, foot), abs=1e-4)


def test_football_character_weighs_between_45_and_49_kg():
    assert 45.0 <= spec.VARIANTS["football"].mass <= 49.0


def test_everything_above_the_ankles_balances_over_them():
    properties, origins = body_mass_properties(47.0, "boot", 1.0), body_origins(1.0)
    above = [name for name in spec.BODY_NAMES if name not in spec.FEET]
    moment = sum(properties[name].mass * (origins[name] + properties[name].com) for name in above)
    assert np.allclose(moment[:2], 0.0, atol=1e-12)
    assert origins["left_foot"][0] == 0.0


def test_masses_keep_the_humanoids_proportions():
    properties = body_mass_properties(48.9, "box", 1.0)
    assert properties["head"].mass == pytest.approx(3.9)
    assert properties["left_thigh"].mass == pytest.approx(4.5)


def test_near_bodies_do_not_collide_but_far_ones_do(stage):
    pairs = set(collision_filter_pairs())
    assert {
        ("pelvis", "torso"),
        ("pelvis", "head"),
        ("right_thigh", "left_thigh"),
        ("left_thigh", "left_foot"),
    } <= pairs
    assert ("right_hand", "torso") not in pairs and ("right_shin", "left_shin") not in pairs
    filtered = UsdPhysics.FilteredPairsAPI(stage.GetPrimAtPath("/humanoid/torso")).GetFilteredPairsRel().GetTargets()
    assert {path.name for path in filtered} >= {"head", "right_upper_arm", "left_lower_arm"}
    pelvis = stage.GetPrimAtPath("/humanoid/pelvis")
    assert pelvis.HasAPI(UsdPhysics.ArticulationRootAPI)
    assert pelvis.GetAttribute("physxArticulation:enabledSelfCollisions").Get() is True


def test_virtual_links_have_no_colliders(stage):
    for prim in prims(stage, UsdPhysics.CollisionAPI):
        assert prim.GetParent().GetName() in spec.BODY_NAMES


def test_file_names_no_place_of_this_machine():
    text = asset_path("characters/humanoid28_climbing_box.usda").read_text()
    assert "@" not in text and str(Path.home()) not in text and "tmp" not in text


def test_writing_twice_gives_the_same_bytes(tmp_path):
    write_humanoid28(tmp_path / "a.usda", 1.7, 60.0)
    write_humanoid28(tmp_path / "b.usda", 1.7, 60.0)
    assert (tmp_path / "a.usda").read_bytes() == (tmp_path / "b.usda").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.usda", "b.usda"]


def test_too_light_a_character_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="0.05"):
        write_humanoid28(tmp_path / "a.usda", 1.7, 0.05)
    assert not list(tmp_path.iterdir())


def test_cfg_is_fresh_per_call():
    first, second = humanoid28_cfg(), humanoid28_cfg()
    assert first is not second
    first.actuators["body"].stiffness["neck_x"] = 0.0
    assert second.actuators["body"].stiffness["neck_x"] == 100.0
    assert humanoid28_cfg().actuators["body"].stiffness["neck_x"] == 100.0


def test_cfg_carries_the_specification():
    cfg = humanoid28_cfg("climbing", "box", prim_path="{ENV_REGEX_NS}/Climber", gains="soft")
    assert cfg.prim_path == "{ENV_REGEX_NS}/Climber"
    assert cfg.spawn.usd_path.endswith("humanoid28_climbing_box.usda") and cfg.spawn.activate_contact_sensors
    assert cfg.init_state.pos == (0.0, 0.0, spec.standing_pelvis_height(1.75, "box"))
    assert tuple(cfg.joint_ordering) == spec.JOINT_NAMES and tuple(cfg.body_ordering) == spec.ALL_LINK_NAMES
    assert cfg.actuators["body"].stiffness["right_knee"] == 300.0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"variant": "climbin"}, "'climbin'.*'climbing'"),
        ({"foot": "boots"}, "'boots'.*'boot'"),
        ({"gains": "stif"}, "'stif'.*'stiff'"),
    ],
)
def test_unknown_names_give_the_nearest(options, named):
    with pytest.raises(BadInputError, match=named):
        humanoid28_cfg(**options)
