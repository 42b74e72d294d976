"""SMPL parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sportsuite.errors import BadInputError
from sportsuite.motion.importers.families import leg_length
from sportsuite.motion.importers.smpl import JOINTS, read_smpl, rest_joints
from tests.motion.samples import angle_between, random_quats


def save(folder: Path, **entries: object) -> Path:
    poses = np.zeros((3, 72))
    # AMASS is z up: the body stands after a quarter turn about x
    poses[:, 0] = np.pi / 2.0
    content = {"poses": poses, "trans": np.tile([1.0, 2.0, 0.9], (3, 1)), "mocap_framerate": 120.0} | entries
    np.savez(folder / "clip.npz", **{key: value for key, value in content.items() if value is not None})
    return folder / "clip.npz"


def joint(motion, name: str) -> np.ndarray:
    return motion.position[0, JOINTS.index(name)]


def test_the_rest_pose_stands_upright(tmp_path: Path) -> None:
    motion = read_smpl(save(tmp_path))
    assert (motion.fps, motion.skeleton) == (120.0, "smpl") and "proportions" in motion.notes[0]
    np.testing.assert_allclose(joint(motion, "Pelvis"), [1.0, 2.0, 0.9])
    np.testing.assert_allclose(joint(motion, "L_Knee"), [1.084887, 2.0, 0.9 - 0.421546], atol=1e-9)
    # it faces -y: toes in front of the ankle
    np.testing.assert_allclose(joint(motion, "L_Toe") - joint(motion, "L_Ankle"), [0.0, -0.12, -0.03], atol=1e-9)
    assert leg_length(motion) == pytest.approx(0.421546 + 0.40987)


def test_joints_turn_with_their_parents(tmp_path: Path) -> None:
    quat = random_quats(np.random.default_rng(4), 3, 22)
    turns = Rotation.from_quat(quat.reshape(-1, 4)).as_rotvec().reshape(3, 66)
    motion = read_smpl(save(tmp_path, poses=turns))
    root, hip = Rotation.from_quat(quat[:, 0]), Rotation.from_quat(quat[:, JOINTS.index("L_Hip")])
    assert angle_between(motion.quat[:, JOINTS.index("L_Hip")], (root * hip).as_quat()) < 1e-7
    shin = motion.position[:, JOINTS.index("L_Knee")] - motion.position[:, JOINTS.index("L_Hip")]
    np.testing.assert_allclose(shin, (root * hip).apply([0.0, -0.421546, 0.0]), atol=1e-9)


def test_the_user_s_own_skeleton_is_taken(tmp_path: Path) -> None:
    np.savez(tmp_path / "body.npz", joints=np.vstack((2.0 * rest_joints(), np.zeros((2, 3)))))
    motion = read_smpl(save(tmp_path), skeleton=tmp_path / "body.npz")
    assert leg_length(motion) == pytest.approx(2.0 * (0.421546 + 0.40987)) and motion.notes == ()


def test_y_up_worlds(tmp_path: Path) -> None:
    motion = read_smpl(save(tmp_path, poses=np.zeros((3, 66)), trans=np.tile([0.0, 0.9, 0.0], (3, 1))), up="y")
    np.testing.assert_allclose(joint(motion, "L_Ankle"), [0.0, 0.084887, 0.9 - 0.421546 - 0.40987], atol=1e-9)


MALFORMED = [
    ({"mocap_framerate": None}, "its frame rate is missing"),
    ({"mocap_framerate": 0.0}, "frame rate 0 Hz"),
    ({"trans": None}, "'trans' missing"),
    ({"trans": np.zeros((2, 3))}, "expected"),
    ({"poses": np.zeros((3, 63))}, r"poses \(3, 63\)"),
    ({"poses": np.zeros((1, 66)), "trans": np.zeros((1, 3))}, "expected"),
    ({"poses": np.full((3, 66), np.nan)}, "poses: frame 0 has nan"),
    ({"poses": np.array([["a"] * 66] * 3)}, "poses: expected numbers"),
]


@pytest.mark.parametrize(("entries", "message"), MALFORMED, ids=[message for _, message in MALFORMED])
def test_malformed_files_give_one_clear_error(tmp_path: Path, entries: dict, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_smpl(save(tmp_path, **entries))
