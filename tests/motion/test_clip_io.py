"""Clips on disk."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip_io import _REQUIRED, content_hash, load_clip, save_clip
from sportsuite.motion.kinematics import clip_states
from tests.motion.samples import angle_between, make_clip

SLOW = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def change(path: Path, drop: tuple[str, ...] = (), **arrays: object) -> Path:
    """Change a file's entries as a stranger's tool might."""
    with np.load(path) as file:
        content = {key: file[key] for key in file.files if key not in drop}
    np.savez(path, **content | {key: np.asarray(value) for key, value in arrays.items()})
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A good clip."""
    save_clip(make_clip(), tmp_path / "clip.npz")
    return tmp_path / "clip.npz"


@SLOW
@given(frames=st.integers(2, 40), seed=st.integers(0, 10**6), ball=st.booleans())
def test_what_is_written_is_read_back(tmp_path: Path, frames: int, seed: int, ball: bool) -> None:
    clip = make_clip(frames, 29.97, seed, ball)
    save_clip(clip, tmp_path / "clip.npz")
    back = load_clip(tmp_path / "clip.npz")
    assert (back.name, back.fps, back.character, back.source) == (clip.name, clip.fps, clip.character, clip.source)
    assert (back.licence, back.labels, back.loop) == (clip.licence, clip.labels, clip.loop)
    np.testing.assert_array_equal(back.root_pos, clip.root_pos)
    np.testing.assert_array_equal(back.joint_pos, clip.joint_pos)
    assert angle_between(back.root_quat, clip.root_quat) < 1e-12
    assert (back.ball is None) == (clip.ball is None)
    if back.ball is not None:
        np.testing.assert_array_equal(back.ball.position, clip.ball.position)
        np.testing.assert_array_equal(back.ball.quat, clip.ball.quat)
        np.testing.assert_array_equal(back.ball.contact, clip.ball.contact)


@SLOW
@given(order=st.permutations(range(spec.NUM_JOINTS)))
def test_joint_columns_may_stand_in_any_order(tmp_path: Path, order: list[int]) -> None:
    clip = make_clip(4)
    names = tuple(spec.JOINT_NAMES[column] for column in order)
    save_clip(clip.with_(joint_names=names, joint_pos=clip.joint_pos[:, order]), tmp_path / "clip.npz")
    back = load_clip(tmp_path / "clip.npz")
    assert back.joint_names == spec.JOINT_NAMES
    np.testing.assert_array_equal(clip_states(back).body_pos, clip_states(clip).body_pos)


def test_signs_of_quaternions_don_t_flip_over_time(tmp_path: Path) -> None:
    half = np.linspace(0.0, 3.0, 12)
    quat = np.stack((0 * half, 0 * half, np.sin(half), np.cos(half)), axis=1) * np.where(half > 1, -1, 1)[:, None]
    save_clip(make_clip().with_(root_quat=quat), tmp_path / "clip.npz")
    back = load_clip(tmp_path / "clip.npz")
    assert ((back.root_quat[1:] * back.root_quat[:-1]).sum(axis=1) > 0.9).all()


@pytest.mark.parametrize("entry", sorted(set(_REQUIRED) - {"format"} | {"ball_quat"}))
def test_a_file_that_lacks_an_entry_is_refused_by_its_name(path: Path, entry: str) -> None:
    with pytest.raises(BadInputError, match=f"missing: {entry}"):
        load_clip(change(path, drop=(entry,)))


NAN = np.full((12, 3), np.nan)
BAD = [
    ({"format": "other"}, "not a clip in the native format"),
    ({"version": 2}, "format version 2: this sportsuite reads version 1"),
    ({"quat_order": "wxyz"}, "quat_order 'wxyz': expected 'xyzw'"),
    ({"units": "cm"}, "units 'cm'"),
    ({"fps": 0.0}, "fps 0.0: expected a number above 0"),
    ({"fps": np.inf}, "fps inf"),
    ({"fps": "fast"}, "fps: expected a number"),
    ({"character": "footbal"}, "unknown character 'footbal': did you mean 'football'?"),
    ({"joint_names": np.array(["abdomen_w", *spec.JOINT_NAMES[1:]])}, "unknown joint 'abdomen_w': did you mean"),
    ({"joint_names": np.array([*spec.JOINT_NAMES[:-1], "abdomen_x"])}, "missing joints: left_ankle_z"),
    ({"body_names": np.array(["pelvis"])}, "body_names"),
    ({"licence": " "}, "licence ' ': expected a text that isn't empty"),
    ({"root_pos": np.zeros((1, 3))}, "root_pos has 1 frames, expected at least 2"),
    ({"root_pos": np.zeros((11, 3))}, "root_quat has the shape"),
    ({"root_pos": NAN}, r"root_pos\[0, 0\] is nan"),
    ({"root_pos": np.full((12, 3), 1e9)}, r"root_pos\[0, 0\] is 1e\+09, expected a finite number up to 10000"),
    ({"root_quat": np.full((12, 4), 0.4)}, r"root_quat\[0\] has the length 0.8, expected a unit quaternion"),
    ({"joint_pos": np.zeros((12, 27))}, "joint_pos has the shape"),
    ({"joint_pos": np.array([["a"] * 28] * 12)}, "joint_pos: expected numbers"),
    ({"joint_pos": np.zeros((12, 28))}, "the file was changed or damaged"),
    ({"sha256": "0" * 64}, "the file was changed or damaged"),
    ({"ball_pos": np.zeros((3, 3))}, "ball_pos has the shape"),
]


@pytest.mark.parametrize(("arrays", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_wrong_values_give_one_clear_error(path: Path, arrays: dict, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        load_clip(change(path, **arrays))
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_pickled_objects_are_not_unpickled(path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple:
            return os.mkdir, (str(path.with_suffix(".evil")),)

    with np.load(path) as file:
        content = dict(file)
    np.savez(path, **content | {"extra": np.array([Evil()], dtype=object)})
    with pytest.raises(BadInputError, match="pickled Python objects"):
        load_clip(path)
    assert not path.with_suffix(".evil").exists()


def test_a_header_that_claims_terabytes_reserves_nothing(path: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("big.npy", stream.getvalue())
    with pytest.raises(BadInputError, match="should have 24,000,000,000,000 bytes"):
        load_clip(path)


def test_a_file_that_unpacks_to_gigabytes_is_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("big.npy", "w") as member:
        for _ in range(520):
            member.write(bytes(2**20))
    with pytest.raises(BadInputError, match="expected at most 536,870,912"):
        load_clip(path)


@SLOW
@given(cut=st.floats(0.0, 0.999), seed=st.integers(0, 10**6), count=st.integers(0, 20))
def test_damaged_files_are_refused_or_read_whole(tmp_path: Path, cut: float, seed: int, count: int) -> None:
    clip = make_clip()
    save_clip(clip, tmp_path / "clip.npz")
    data = bytearray((tmp_path / "clip.npz").read_bytes())
    rng = np.random.default_rng(seed)
    if count:
        for place in rng.integers(0, len(data), count):
            data[place] = rng.integers(0, 256)
    else:
        data = data[: int(cut * len(data))]
    (tmp_path / "clip.npz").write_bytes(data)
    try:
        back = load_clip(tmp_path / "clip.npz")
    except BadInputError as error:
        assert "\n" not in str(error)
    else:
        # what a zip file says about dates and the like carries no motion
        assert content_hash(back.with_(root_quat=clip.root_quat)) == content_hash(clip)


def test_a_clip_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    clip = make_clip()
    with pytest.raises(BadInputError, match="expected a unit quaternion"):
        save_clip(clip.with_(root_quat=2.0 * clip.root_quat), tmp_path / "clip.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sportsuite.motion.npz.os.replace", full)
    with pytest.raises(BadInputError, match="No space left on device"):
        save_clip(make_clip(seed=1), path)
    assert path.read_bytes() == before and os.listdir(path.parent) == [path.name]


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="there is none"):
        load_clip(tmp_path / "nothing.npz")
    with pytest.raises(BadInputError, match="not a folder"):
        load_clip(tmp_path)


def test_errors_about_names_of_thousands_of_bytes_stay_short(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("x" * 20_000 + ".npy", b"")
    # the name in the file's index no longer matches the one before the entry
    data = path.read_bytes()
    path.write_bytes(data[::-1].replace(b"x" * 20_000, b"y" * 20_000, 1)[::-1])
    with pytest.raises(BadInputError, match="cut off or damaged") as caught:
        load_clip(path)
    assert len(str(caught.value)) < 600
