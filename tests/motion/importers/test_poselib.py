"""poselib clips, which are pickled."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.importers.poselib import read_poselib
from sportsuite.motion.kinematics import quat_multiply, quat_rotate
from tests.motion.samples import angle_between, poselib_content, write


def save(folder: Path, content: Any, name: str = "clip.npy") -> Path:
    holder = np.empty((), dtype=object)
    holder[()] = content
    np.save(folder / name, holder, allow_pickle=True)
    return folder / name


def test_joints_are_placed_by_the_file_s_own_skeleton(tmp_path: Path) -> None:
    content = poselib_content()
    motion = read_poselib(save(tmp_path, content))
    assert (motion.fps, motion.skeleton, motion.joint_names) == (60.0, "amp_humanoid", spec.BODY_NAMES)
    local = torch.tensor(content["rotation"]["arr"], dtype=torch.float64)
    root = torch.tensor(content["root_translation"]["arr"], dtype=torch.float64)
    torso = spec.BODY_NAMES.index("torso")
    arm = spec.BODY_NAMES.index("left_upper_arm")
    # quaternions are xyzw: the torso turns with the pelvis, the arm with both
    chest = root + quat_rotate(local[:, 0], torch.tensor(spec.BODIES[torso].offset).double().expand(4, 3))
    turn = quat_multiply(local[:, 0], local[:, torso])
    shoulder = chest + quat_rotate(turn, torch.tensor(spec.BODIES[arm].offset).double().expand(4, 3))
    np.testing.assert_allclose(motion.position[:, arm], shoulder, atol=1e-6)
    assert angle_between(motion.quat[:, arm], quat_multiply(turn, local[:, arm]).numpy()) < 1e-6


def test_world_rotations_are_recognised(tmp_path: Path) -> None:
    local = read_poselib(save(tmp_path, poselib_content()))
    content = poselib_content()
    content["rotation"]["arr"] = local.quat
    content["is_local"] = False
    world = read_poselib(save(tmp_path, content))
    np.testing.assert_allclose(world.position, local.position, atol=1e-6)
    assert angle_between(world.quat, local.quat) < 1e-6


@pytest.mark.parametrize("protocol", range(6))
def test_every_pickle_protocol_is_read(tmp_path: Path, protocol: int) -> None:
    holder = np.empty((), dtype=object)
    holder[()] = poselib_content()
    np.save(tmp_path / "a.npy", holder, allow_pickle=True)
    data = (tmp_path / "a.npy").read_bytes()
    header = data[: data.index(b"\n") + 1]
    motion = read_poselib(write(tmp_path, "b.npy", header + pickle.dumps(holder, protocol=protocol)))
    np.testing.assert_array_equal(motion.position, read_poselib(tmp_path / "a.npy").position)


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.folder),)


def test_code_in_the_file_is_refused_and_not_run(tmp_path: Path) -> None:
    content = poselib_content() | {"extra": Evil(tmp_path / "evil")}
    with pytest.raises(BadInputError, match="asks for posix.mkdir, which could run code: refused"):
        read_poselib(save(tmp_path, content))
    assert not (tmp_path / "evil").exists()


def changed(**entries: Any) -> dict:
    content = poselib_content()
    for key, value in entries.items():
        target = content["skeleton_tree"] if key in content["skeleton_tree"] else content
        if value is None:
            del target[key]
        elif isinstance(value, np.ndarray) and key != "fps":
            target[key] = {"arr": value}
        else:
            target[key] = value
    return content


MALFORMED = [
    (changed(rotation=None), "the array 'rotation' is missing"),
    (changed(skeleton_tree=None), "'skeleton_tree' missing"),
    (changed(skeleton_tree=3), "'skeleton_tree' is no dict"),
    (changed(fps=None), "the array 'fps' is missing"),
    (changed(fps=np.array(0.0)), "frame rate 0 Hz"),
    (changed(fps=10**400), "has inf"),
    (changed(node_names=[]), "node_names: expected 1 to 1000 names"),
    (changed(node_names=["a"] * 15), "a joint is given twice"),
    (changed(node_names=[f"j{i}" for i in range(15)]), "unknown skeleton"),
    (changed(parent_indices=np.arange(15)), "expected -1 first"),
    (changed(rotation=np.zeros((4, 15, 4))), "frame 0 has a quaternion of length 0"),
    (changed(rotation=np.full((4, 15, 4), np.nan)), "frame 0 has nan"),
    (changed(rotation=np.zeros((4, 14, 4))), r"rotation has the shape \(4, 14, 4\), expected \(T, 15, 4\)"),
    (changed(rotation=np.zeros((1, 15, 4)) + 0.5), "it has 1 frames, expected at least 2"),
    (changed(root_translation=np.zeros((3, 3))), "root_translation has the shape"),
    (changed(root_translation=np.array([["a"] * 3] * 4)), "root_translation is damaged"),
    (changed(root_translation=np.array([[[], {}, 1]] * 4, dtype=object)), "root_translation is damaged"),
    ([1, 2], "a mapping of names to arrays"),
]


@pytest.mark.parametrize(("content", "message"), MALFORMED, ids=[message[:40] for _, message in MALFORMED])
def test_malformed_files_give_one_clear_error(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        read_poselib(save(tmp_path, content))
    assert "\n" not in str(caught.value)


DEMANDING = [
    b"\x80\x04r\xff\xff\xff\x7f.",
    b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    b"\x80\x05\x96" + (2**40).to_bytes(8, "little") + b".",
    b"\x80\x04\x95" + (2**40).to_bytes(8, "little") + b".",
    b"",
    b".",
]
"""Entries that claim sizes of terabytes in a memo, bytes, a bytearray and a frame; and nothing at all."""


@pytest.mark.parametrize("protocol", DEMANDING)
def test_pickles_that_ask_for_all_memory_get_none(tmp_path: Path, protocol: bytes) -> None:
    data = save(tmp_path, poselib_content()).read_bytes()
    with pytest.raises(BadInputError, match="cut off or damaged"):
        read_poselib(write(tmp_path, "bad.npy", data[: data.index(b"\n") + 1] + protocol))


def test_arrays_without_pickle_are_no_clips(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(BadInputError, match="expected a pickled poselib clip"):
        read_poselib(tmp_path / "a.npy")
