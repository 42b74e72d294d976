"""Isaac Lab's clips, those of the installed wheel among them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip_io import check_clip
from sportsuite.motion.importers.isaaclab_npz import (
    WHEEL_CLIPS,
    hinges_from_exponential_maps,
    read_isaaclab_npz,
    unwrap_euler_xyz,
    wheel_clip_path,
)
from sportsuite.motion.kinematics import clip_states, forward_kinematics
from tests.motion.samples import angle_between, random_quats

SLOW = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


def content(frames: int = 6, seed: int = 0) -> dict[str, np.ndarray]:
    """What a clip of random poses holds; bodies other than the pelvis are where they may be."""
    rng = np.random.default_rng(seed)
    return {
        "fps": np.array(60),
        "dof_names": np.array(spec.JOINT_NAMES),
        "body_names": np.array(spec.BODY_NAMES),
        "dof_positions": rng.uniform(-0.8, 0.8, (frames, spec.NUM_JOINTS)).astype(np.float32),
        "body_positions": rng.normal(size=(frames, spec.NUM_BODIES, 3)).astype(np.float32),
        "body_rotations": random_quats(rng, frames, spec.NUM_BODIES).astype(np.float32),
    }


def save(folder: Path, **changes: object) -> Path:
    entries = content() | changes
    np.savez(folder / "isaaclab.npz", **{key: np.asarray(value) for key, value in entries.items() if value is not None})
    return folder / "isaaclab.npz"


@pytest.mark.parametrize("name", WHEEL_CLIPS)
def test_forward_kinematics_meets_the_stored_bodies(name: str) -> None:
    """Within a millimetre at the size of the clips' own body, angles within a fifth of a degree."""
    clip = read_isaaclab_npz(wheel_clip_path(name))
    with np.load(wheel_clip_path(name)) as stored:
        bodies = stored["body_names"].tolist()
        order = [bodies.index(body) for body in spec.BODY_NAMES]
        position = stored["body_positions"][:, order].astype(np.float64)
        quat = stored["body_rotations"][:, order][..., [1, 2, 3, 0]].astype(np.float64)
    # the wheel's clips hold 30 Hz data at 60 Hz: find our frames among the stored ones
    place = torch.as_tensor(clip.root_pos / spec.body_scale(1.62, "boot") - [0.0, 0.0, 0.05])
    rows = [int(np.abs(position[:, 0] - root).sum(axis=1).argmin()) for root in place.numpy()]
    assert np.all(np.diff(rows) > 0)
    found, turned = forward_kinematics(place, torch.as_tensor(clip.root_quat), torch.as_tensor(clip.joint_pos))
    error = np.linalg.norm(found.numpy() - position[rows], axis=-1)
    assert error.max() < 0.001
    assert angle_between(turned.numpy(), quat[rows]) < np.radians(0.2)


@pytest.mark.parametrize("name", WHEEL_CLIPS)
def test_the_wheels_clips_are_30_hz_and_continuous(name: str) -> None:
    clip = read_isaaclab_npz(wheel_clip_path(name), name=name)
    check_clip(clip)
    assert (clip.fps, clip.name, clip.licence, clip.labels) == (30.0, name, "BSD-3-Clause", WHEEL_CLIPS[name])
    assert np.abs(np.diff(clip.joint_pos, axis=0)).max() < 1.0
    assert ((clip.root_quat[1:] * clip.root_quat[:-1]).sum(axis=1) > 0.9).all()


def test_quaternions_are_wxyz_and_heights_are_of_ankles(tmp_path: Path) -> None:
    entries = content()
    clip = read_isaaclab_npz(save(tmp_path))
    assert (clip.fps, clip.num_frames) == (60.0, 6)
    assert angle_between(clip.root_quat, entries["body_rotations"][:, 0][:, [1, 2, 3, 0]]) < 1e-6
    scale = spec.body_scale(1.62, "boot")
    np.testing.assert_allclose(clip.root_pos, scale * (entries["body_positions"][:, 0] + [0.0, 0.0, 0.05]), atol=1e-6)
    tall = read_isaaclab_npz(tmp_path / "isaaclab.npz", character="climbing")
    np.testing.assert_allclose(tall.root_pos, clip.root_pos * 1.75 / 1.62, atol=1e-9)


@SLOW
@given(joints=st.permutations(range(spec.NUM_JOINTS)), bodies=st.permutations(range(spec.NUM_BODIES)))
def test_shuffled_columns_give_the_same_pose(tmp_path: Path, joints: list[int], bodies: list[int]) -> None:
    entries = content()
    shuffled = save(
        tmp_path,
        dof_names=entries["dof_names"][joints],
        dof_positions=entries["dof_positions"][:, joints],
        body_names=entries["body_names"][bodies],
        body_positions=entries["body_positions"][:, bodies],
        body_rotations=entries["body_rotations"][:, bodies],
    )
    expected = clip_states(read_isaaclab_npz(save_plain(tmp_path)))
    torch.testing.assert_close(clip_states(read_isaaclab_npz(shuffled)).body_pos, expected.body_pos)


def save_plain(folder: Path) -> Path:
    (folder / "plain").mkdir(exist_ok=True)
    return save(folder / "plain")


@SLOW
@given(seed=st.integers(0, 10**6))
def test_exponential_maps_become_the_same_rotations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dof = rng.uniform(-1.7, 1.7, (4, spec.NUM_JOINTS))
    hinges = hinges_from_exponential_maps(dof)
    for joint, its in spec.JOINTS.items():
        first = spec.JOINT_NAMES.index(spec.hinge_name(joint, its.axes[0]))
        if len(its.axes) == 1:
            np.testing.assert_array_equal(hinges[:, first], dof[:, first])
            continue
        columns = slice(first, first + 3)
        found = Rotation.from_euler("XYZ", hinges[:, columns])
        assert (found * Rotation.from_rotvec(dof[:, columns]).inv()).magnitude().max() < 1e-9


def test_hinges_pass_half_a_turn_without_a_jump() -> None:
    x = np.linspace(0.0, 6.0, 61)
    wound = np.stack((x, 0.3 * np.sin(x), -0.5 * x), axis=1)
    wrapped = Rotation.from_euler("XYZ", wound).as_euler("XYZ")
    assert np.abs(np.diff(wrapped, axis=0)).max() > 3.0
    np.testing.assert_allclose(unwrap_euler_xyz(wrapped), wound, atol=1e-9)


GOOD = content()
TWICE = np.array(["abdomen_x", *spec.JOINT_NAMES[1:], "abdomen_x"])
MALFORMED = [
    ({"fps": None}, "expected an Isaac Lab clip; missing: fps"),
    ({"body_names": None, "dof_names": None}, "missing: dof_names, body_names"),
    ({"fps": 0.0}, "frame rate 0 Hz"),
    ({"fps": np.nan}, "frame rate nan Hz"),
    ({"fps": "fast"}, "fps: expected numbers"),
    ({"fps": [60.0, 60.0]}, r"fps has the shape \(2,\), expected \(\)"),
    ({"dof_names": np.array(["hip", *spec.JOINT_NAMES[1:]])}, "humanoid; missing: abdomen_x"),
    ({"dof_names": np.arange(28)}, "dof_names: expected names"),
    ({"dof_names": "abdomen_x"}, "dof_names: expected a list of names"),
    ({"dof_names": TWICE, "dof_positions": np.zeros((6, 29))}, "given twice: abdomen_x"),
    ({"body_names": np.array(["root", *spec.BODY_NAMES[1:]])}, "expected a body 'pelvis'"),
    ({"dof_positions": GOOD["dof_positions"][:, :-1]}, r"dof_positions has the shape \(6, 27\), expected \(6, 28\)"),
    ({"dof_positions": np.float64(1.0)}, "dof_positions has the shape"),
    ({"dof_positions": GOOD["dof_positions"].astype(str)}, "dof_positions: expected numbers"),
    ({"body_positions": GOOD["body_positions"][:4]}, "body_positions has the shape"),
    ({"body_rotations": GOOD["body_rotations"][..., :3]}, "body_rotations has the shape"),
    ({key: GOOD[key][:3] for key in ("dof_positions", "body_positions", "body_rotations")}, "it has 3 frames"),
    ({"dof_positions": np.repeat(GOOD["dof_positions"][:3], 2, axis=0)}, "only 1 of its frames differ"),
    ({"dof_positions": np.full((6, 28), np.nan)}, "dof_positions: frame 0 has nan"),
    ({"body_positions": np.full((6, 15, 3), 1e30)}, "body_positions: frame 0 has 1e\\+30, expected a number up to"),
    ({"body_rotations": np.zeros((6, 15, 4))}, "rotation of the pelvis: frame 0 has a quaternion of length 0"),
]


@pytest.mark.parametrize(("entries", "message"), MALFORMED, ids=[message[:40] for _, message in MALFORMED])
def test_malformed_files_give_one_clear_error(tmp_path: Path, entries: dict, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        read_isaaclab_npz(save(tmp_path, **entries))
    assert "\n" not in str(caught.value) and "isaaclab.npz" in str(caught.value)


def test_pickled_objects_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="pickled Python objects"):
        read_isaaclab_npz(save(tmp_path, extra=np.array([{}], dtype=object)))
    with pytest.raises(BadInputError, match="there is none"):
        read_isaaclab_npz(tmp_path / "none.npz")
    with pytest.raises(BadInputError, match="unknown character variant 'footbal': did you mean 'football'"):
        read_isaaclab_npz(save(tmp_path), character="footbal")
