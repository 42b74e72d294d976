"""Real recordings, where the machine has them: the folder that SPORTSUITE_MOTION_DIR names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sportsuite.motion.clip import Clip
from sportsuite.motion.importers import import_motion
from sportsuite.motion.importers.ballplay import PARENTS, read_ballplay
from sportsuite.motion.importers.families import leg_length
from sportsuite.motion.resample import resample_motion

FOLDER = Path(os.environ.get("SPORTSUITE_MOTION_DIR", "missing"))
SUFFIXES = (".bvh", ".amc", ".txt", ".npy", ".pt", ".npz")
NO_MOTION = ("LICENSE.txt", "rocketbox1.txt", "amp_motions-acknowledgement.txt")
FILES = sorted(path for path in FOLDER.glob("*/*") if path.suffix in SUFFIXES and path.name not in NO_MOTION)

pytestmark = pytest.mark.skipif(not FILES, reason="SPORTSUITE_MOTION_DIR names no folder with recordings")


def read(path: Path):
    return import_motion(path, fps=120.0 if path.suffix == ".amc" else None)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_recording_is_read_and_plausible(path: Path) -> None:
    motion = read(path)
    if isinstance(motion, Clip):
        assert np.isfinite(motion.joint_pos).all()
        return
    assert 0.75 < leg_length(motion) < 0.95
    # z up: the body stands, lies or hangs above the ground of its recording, which is at most 20 cm off
    assert -0.2 < motion.position[..., 2].min() < 0.5 or "climb" in motion.labels
    speed = np.linalg.norm(np.diff(motion.position[:, 0], axis=0), axis=1) * motion.fps
    assert speed.max() < 8.0


@pytest.mark.parametrize("rate", [24.0, 30.0, 50.0, 60.0, 120.0])
def test_resampling_keeps_duration_and_the_smoothed_peak_speed(rate: float) -> None:
    for path in [path for path in FILES if path.suffix == ".amc" or path.name in ("s_003_1_1.bvh", "16_35_1.bvh")]:
        motion = read(path)
        changed = resample_motion(motion, rate)
        duration, new = (len(motion.position) - 1) / motion.fps, (len(changed.position) - 1) / rate
        assert 0.0 <= duration - new + 1e-6 < 1.0 / rate + 2e-6
        assert peak_speed(changed) == pytest.approx(peak_speed(motion), rel=0.02)


def peak_speed(motion) -> float:
    """Highest speed of the root over 0.2 s, which the noise of single frames doesn't reach [m/s]."""
    time = np.arange(len(motion.position)) / motion.fps
    starts = np.arange(0.0, time[-1] - 0.2, 0.01)
    path = [np.interp(starts + late, time, column) for late in (0.0, 0.2) for column in motion.position[:, 0].T]
    return float(np.linalg.norm(np.subtract(path[3:], path[:3]), axis=0).max() / 0.2)


def test_the_same_trial_in_three_formats_has_the_same_path() -> None:
    """CMU's trial 02_03, a run: AMC, the BVH retargeted to another body, and the json retargeted to the humanoid."""
    names = ("cmu_asfamc/02_03.amc", "cmu_bvh_daz/02_03.bvh", "cmu_deepmimic/02_03.txt")
    paths = []
    for name in names:
        motion = read(FOLDER / name)
        root = motion.position[:, 0, :2] / leg_length(motion)
        paths.append(np.linalg.norm(root[-1] - root[0]))
    assert max(paths) / min(paths) < 1.25


def test_ballplay_s_offsets_stay_constant() -> None:
    """Rotations, parents and positions of the tensor fit together: every bone is rigid in its parent's frame."""
    motion = read_ballplay(next(path for path in FILES if path.name.startswith("003_008pickle_catch")))
    for joint, parent in list(enumerate(PARENTS))[1:15]:
        bone = motion.position[:, joint] - motion.position[:, parent]
        own = Rotation.from_quat(motion.quat[:, parent]).inv().apply(bone)
        assert own.std(axis=0).max() < 0.005
