"""Retargeting: known angles come back, sizes don't matter, and the licensed clips meet their bars."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.canonical import POINT_NAMES, canonical_points, canonical_targets
from sportsuite.motion.clip import Clip
from sportsuite.motion.importers import import_motion
from sportsuite.motion.kinematics import forward_kinematics
from sportsuite.motion.mujoco_model import joint_limits
from sportsuite.motion.retarget import RetargetCfg, retarget
from sportsuite.motion.skeletons import SKELETONS, skeleton_of
from sportsuite.motion.source import SourceMotion
from sportsuite.motion.synth import walk_cycle

# our 15 bodies under the names of other families
DEEPMIMIC = ("root", "chest", "neck") + tuple(
    f"{side}_{joint}"
    for side, joint in (
        *((side, joint) for side in ("right", "left") for joint in ("shoulder", "elbow", "wrist")),
        *((side, joint) for side in ("right", "left") for joint in ("hip", "knee", "ankle")),
    )
)


def as_source(clip: Clip, names, family: str, size: float) -> SourceMotion:
    """A clip as if a skeleton of our proportions, ``size`` times as large, had been recorded."""
    scale = size * spec.body_scale(spec.VARIANTS["football"].height, "boot")
    root = torch.tensor(clip.root_pos * size, dtype=torch.float64)
    quat = torch.tensor(clip.root_quat, dtype=torch.float64)
    position, orientation = forward_kinematics(root, quat, torch.tensor(clip.joint_pos, dtype=torch.float64), scale)
    return SourceMotion(
        name=clip.name,
        fps=clip.fps,
        skeleton=family,
        joint_names=tuple(names),
        parents=spec.PARENTS,
        position=position.numpy(),
        quat=orientation.numpy(),
        source="test",
        licence="none",
    )


@pytest.fixture(scope="module")
def moving():
    """A walk whose trunk, neck and arms move as well, within limits."""
    clip = walk_cycle(1.2, fps=60.0, seconds=1.0)
    time = np.arange(clip.num_frames) / clip.fps
    joints = clip.joint_pos.astype(np.float64)
    for index, name in enumerate(spec.JOINT_NAMES):
        if any(part in name for part in ("abdomen", "neck", "shoulder")):
            joints[:, index] += 0.25 * np.sin(3.0 * time + index)
    low, high = joint_limits()
    return clip.with_(joint_pos=np.clip(joints, low + 0.02, high - 0.02))


@pytest.mark.parametrize(("family", "names"), [("amp_humanoid", spec.BODY_NAMES), ("deepmimic", DEEPMIMIC)])
@pytest.mark.parametrize("size", [1.0, 1.3])
def test_known_angles_come_back(moving, family, names, size):
    result = retarget(as_source(moving, names, family, size), "football", lock=False)
    error = np.degrees(np.abs(result.clip.joint_pos - moving.joint_pos))
    assert error.mean() < 0.2
    assert error.max() < 3.0
    assert result.report.error_mean < 0.001
    assert result.report.scale == pytest.approx(1.0 / size, rel=1e-6)
    np.testing.assert_allclose(result.clip.root_pos[:, :2], moving.root_pos[:, :2], atol=2e-3)


def test_other_characters_get_a_longer_path(moving):
    result = retarget(as_source(moving, spec.BODY_NAMES, "amp_humanoid", 1.0), "climbing")
    way = np.linalg.norm(result.clip.root_pos[-1, :2] - result.clip.root_pos[0, :2])
    own = np.linalg.norm(moving.root_pos[-1, :2] - moving.root_pos[0, :2])
    assert way / own == pytest.approx(1.75 / 1.62, rel=0.02)
    assert result.report.after.slide_mean < 0.05
    assert result.report.after.penetration < 0.01


def test_targets_have_our_limbs_lengths(moving):
    scale = spec.body_scale(spec.VARIANTS["football"].height, "boot")
    source = as_source(moving, spec.BODY_NAMES, "amp_humanoid", 0.7)
    targets = canonical_targets(source, "football")
    assert targets.position.shape == (moving.num_frames, 20, 3)
    knee, ankle = (targets.position[:, POINT_NAMES.index(f"left_{name}")] for name in ("knee", "ankle"))
    np.testing.assert_allclose(np.linalg.norm(ankle - knee, axis=1), 0.40987 * scale, rtol=1e-9)
    assert canonical_points("football").count == len(POINT_NAMES) == 20


def test_corners_of_the_limits_are_left(moving):
    """An arm behind the back and one above the head are led to from far away and are reached all the same."""
    joints = moving.joint_pos.copy()
    share = np.linspace(0.0, 1.0, moving.num_frames)[:, None]
    columns = [spec.JOINT_NAMES.index(f"left_shoulder_{axis}") for axis in "xyz"]
    joints[:, columns] = (1 - share) * np.array([2.6, -0.3, 0.3]) + share * np.array([0.1, 0.8, -0.8])
    source = as_source(moving.with_(joint_pos=joints), spec.BODY_NAMES, "amp_humanoid", 1.0)
    result = retarget(source, lock=False)
    assert result.report.error_max < 0.03
    low, high = joint_limits()
    assert (result.clip.joint_pos >= low - 1e-6).all() and (result.clip.joint_pos <= high + 1e-6).all()


def test_what_is_missing_is_named(moving):
    source = as_source(moving, spec.BODY_NAMES, "amp_humanoid", 1.0)
    with pytest.raises(BadInputError, match="unknown skeleton 'daz3'.*'daz'"):
        skeleton_of(SourceMotion(**{**vars(source), "skeleton": "daz3"}))
    names = tuple(name.replace("left_hand", "left_paw") for name in spec.BODY_NAMES)
    with pytest.raises(BadInputError, match="lacks left_hand"):
        skeleton_of(SourceMotion(**{**vars(source), "joint_names": names}))
    with pytest.raises(BadInputError, match="unknown character"):
        retarget(source, "goalkeeper")


def test_every_family_of_the_importers_has_a_skeleton():
    from sportsuite.motion.importers.families import FAMILIES

    assert set(FAMILIES) <= set(SKELETONS)


FOLDER = os.environ.get("SPORTSUITE_MOTION_DIR")
CLIPS = {
    "deepmimic/humanoid3d_walk.txt": {},
    "cmu_deepmimic/10_05.txt": {},
    "cmu_bvh_daz/07_01.bvh": {},
    "snu_cmu69_walk/69_50_1.bvh": {},
    "snu_cmu16_run/16_35_1.bvh": {},
    "cmu_asfamc/02_03.amc": {"fps": 120.0},
    "isaacgymenvs/amp_humanoid_run.npy": {},
    "ballplay_m/013_018pickle_run_3.pt": {},
}


@pytest.mark.skipif(FOLDER is None, reason="SPORTSUITE_MOTION_DIR names no folder of licensed clips")
@pytest.mark.parametrize("name", CLIPS)
def test_licensed_clips_meet_the_bars(name):
    motion = import_motion(Path(str(FOLDER)) / name, **CLIPS[name])
    report = retarget(motion, cfg=RetargetCfg()).report
    assert report.error_mean < 0.01
    assert report.error_p95 < 0.04
    assert report.after.slide_mean < 0.05
    assert report.after.penetration < 0.01
    assert report.after.beyond_limit < 1e-5
    assert not report.after.spikes
