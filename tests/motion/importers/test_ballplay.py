"""BallPlay tensors."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from sportsuite.errors import BadInputError
from sportsuite.motion.importers.ballplay import JOINTS, PARENTS, read_ballplay
from sportsuite.motion.importers.families import leg_length
from tests.motion.samples import angle_between, ballplay_tensor


def save(folder: Path, content: object) -> Path:
    torch.save(content, folder / "clip.pt")
    return folder / "clip.pt"


def test_the_skeleton_has_53_joints_and_one_root() -> None:
    assert len(JOINTS) == len(set(JOINTS)) == 53 and PARENTS[0] == -1
    assert all(0 <= parent < joint for joint, parent in enumerate(PARENTS[1:], 1))
    named = {JOINTS[joint]: JOINTS[parent] for joint, parent in enumerate(PARENTS) if parent >= 0}
    assert named["L_Thumb2"] == "L_Thumb1" and named["R_Pinky1"] == "R_Wrist" and named["L_Thorax"] == "Chest"


def test_columns_of_body_ball_and_contact(tmp_path: Path) -> None:
    data = ballplay_tensor()
    motion = read_ballplay(save(tmp_path, torch.from_numpy(data)))
    assert (motion.fps, motion.skeleton, motion.joint_names) == (60.0, "smpl", JOINTS)
    assert leg_length(motion) == pytest.approx(0.421546 + 0.40987, rel=1e-5)
    np.testing.assert_allclose(motion.position[2, 7], data[2, 165 + 21 : 165 + 24])
    np.testing.assert_allclose(motion.ball.position, data[:, 324:327])
    assert motion.ball.contact.tolist() == [False, True, False, True, False]
    # rotations are exponential maps; the torso is the ninth joint, its columns start at 6 + 3 * 9
    root, torso = Rotation.from_rotvec(data[:, 3:6]), Rotation.from_rotvec(data[:, 33:36])
    assert angle_between(motion.quat[:, 9], (root * torso).as_quat()) < 1e-6
    assert angle_between(motion.ball.quat, Rotation.from_rotvec(data[:, 327:330]).as_quat()) < 1e-6


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.folder),)


def test_code_in_the_file_is_refused_and_not_run(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="would have to be unpickled"):
        read_ballplay(save(tmp_path, [Evil(tmp_path / "evil")]))
    assert not (tmp_path / "evil").exists()


GOOD = torch.from_numpy(ballplay_tensor())
MALFORMED = [
    ({"a": GOOD}, "expected one tensor of numbers, found dict"),
    (GOOD[:, :-1], r"a tensor of shape \(5, 336\), expected \(T, 337\)"),
    (GOOD[:1], r"a tensor of shape \(1, 337\)"),
    (GOOD[0], r"a tensor of shape \(337,\)"),
    (GOOD * float("nan"), "frame 0 has nan"),
    (GOOD * 1e9, "expected a number up to 10000"),
    (GOOD.to(torch.complex64), "expected one tensor of numbers"),
    (torch.zeros(1, 337).expand(10**9, 337), "expected \\(T, 337\\)"),
]


@pytest.mark.parametrize(("content", "message"), MALFORMED, ids=[message[:40] for _, message in MALFORMED])
def test_malformed_files_give_one_clear_error(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        read_ballplay(save(tmp_path, content))
    assert "\n" not in str(caught.value)
