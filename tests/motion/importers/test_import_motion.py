"""Telling formats apart, and what all of them need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sportsuite.errors import BadInputError
from sportsuite.motion.clip import Clip
from sportsuite.motion.clip_io import save_clip
from sportsuite.motion.importers import FORMATS, detect_format, import_motion
from sportsuite.motion.importers.bvh import read_bvh
from sportsuite.motion.importers.cleaning import clean, fast_joints, start_of_motion
from sportsuite.motion.importers.families import FAMILIES, family_of
from sportsuite.motion.source import SourceMotion
from tests.motion.importers import test_isaaclab_npz, test_poselib, test_smpl, test_table
from tests.motion.samples import (
    amc_text,
    asf_text,
    ballplay_tensor,
    bvh_text,
    deepmimic_frame,
    deepmimic_text,
    make_clip,
    poselib_content,
    write,
)


def one_of_each(folder: Path) -> dict[str, Path]:
    """A small good file of every format."""
    rows = [deepmimic_frame(root_pos=[0.05 * frame, 0.9, 0.0]) for frame in range(8)]
    save_clip(make_clip(), folder / "native.npz")
    torch.save(torch.from_numpy(ballplay_tensor()), folder / "ball.pt")
    write(folder, "02.asf", asf_text())
    return {
        "native": folder / "native.npz",
        "isaaclab": test_isaaclab_npz.save(folder),
        "table": write(folder, "table.csv", test_table.csv_text()),
        "bvh": write(folder, "a.bvh", bvh_text(root=[(0.0, 90.0, 2.0 * frame) for frame in range(8)])),
        "amc": write(folder, "02_01.amc", amc_text(8)),
        "deepmimic": write(folder, "walk.txt", deepmimic_text(rows)),
        "poselib": test_poselib.save(folder, poselib_content()),
        "ballplay": folder / "ball.pt",
        "smpl": test_smpl.save(folder, name="smpl"),
    }


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return one_of_each(tmp_path)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_told_by_its_file(files: dict[str, Path], kind: str) -> None:
    assert detect_format(files[kind]) == kind
    fps = 120.0 if kind == "amc" else None
    motion = import_motion(files[kind], fps=fps, name="a", labels=("b",), source="c", licence="d")
    assert isinstance(motion, Clip) == (kind in ("native", "isaaclab", "table"))
    assert (motion.name, motion.labels, motion.source, motion.licence) == ("a", ("b",), "c", "d")


def test_npz_tables_are_told_from_clips(tmp_path: Path) -> None:
    assert detect_format(test_table.npz(tmp_path)) == "table"


def test_suffixes_in_capitals_and_given_formats(tmp_path: Path) -> None:
    assert detect_format(write(tmp_path, "A.BVH", bvh_text())) == "bvh"
    path = write(tmp_path, "walk.motion", bvh_text())
    with pytest.raises(BadInputError, match="unknown suffix '.motion', expected one of .amc, .bvh"):
        import_motion(path)
    assert import_motion(path, format="bvh").name == "walk"
    with pytest.raises(BadInputError, match="unknown motion format 'bhv': did you mean 'bvh'?"):
        import_motion(path, format="bhv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.fbx", "convert the file to BVH"),
        ("a.c3d", "C3D holds marker positions"),
        ("a.asf", "give the \\*.amc file"),
        ("a.pkl", "pickle files can run code"),
        ("a.npz", "expected an npz file; it is cut off or damaged"),
        ("none.bvh", "there is none"),
    ],
)
def test_what_can_t_be_read_says_what_to_do(tmp_path: Path, name: str, message: str) -> None:
    if not name.startswith("none"):
        write(tmp_path, name, b"\0\1")
    with pytest.raises(BadInputError, match=message):
        import_motion(tmp_path / name)


def test_unknown_npz_and_options_without_meaning(files: dict[str, Path], tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", a=np.zeros(3))
    with pytest.raises(BadInputError, match="an npz file with a; expected a native clip"):
        import_motion(tmp_path / "b.npz")
    with pytest.raises(BadInputError, match="--fps means nothing for the format bvh"):
        import_motion(files["bvh"], fps=60.0)
    with pytest.raises(BadInputError, match="--skeleton means nothing for the format deepmimic"):
        import_motion(files["deepmimic"], skeleton="a.asf")


def test_families_are_told_by_their_joints() -> None:
    for name, family in FAMILIES.items():
        assert family_of((*family.joints, "tail")) == name
    with pytest.raises(BadInputError, match="the nearest known one is 'daz', which also has lShin"):
        family_of(name for name in FAMILIES["daz"].joints if name != "lShin")


def jumping(tmp_path: Path, **options: object) -> SourceMotion:
    """A calm walk whose first two frames are a T-pose elsewhere."""
    root = [(0.0, 0.0, 0.0)] * 2 + [(0.0, 90.0, 4.0 * frame) for frame in range(18)]
    arms = [(0.0, 0.0, 0.0)] * 2 + [(0.0, 80.0, float(frame)) for frame in range(18)]
    text = bvh_text({"LeftArm": arms}, root=root, frame_time=1.0 / 120.0)
    return import_motion(write(tmp_path, "a.bvh", text), **options)


def test_a_t_pose_at_the_start_is_left_out_and_noted(tmp_path: Path) -> None:
    motion = jumping(tmp_path)
    assert len(motion.position) == 18 and motion.position[0, 0, 2] == pytest.approx(0.9)
    assert "Frames up to 1 jump" in motion.notes[0]


def test_the_first_frame_may_be_given(tmp_path: Path) -> None:
    assert len(jumping(tmp_path, first_frame=0).position) == 20
    assert len(jumping(tmp_path, first_frame=7).position) == 13
    with pytest.raises(BadInputError, match="first frame 19, expected 0 to 18"):
        jumping(tmp_path, first_frame=19)
    with pytest.raises(BadInputError, match="first frame -1"):
        jumping(tmp_path, first_frame=-1)


def test_hands_that_flip_are_noted_but_no_jump(tmp_path: Path) -> None:
    flips = [(0.0, 0.0, 0.0), (0.0, 0.0, 180.0)] * 10
    root = [(0.0, 90.0, 2.0 * frame) for frame in range(20)]
    motion = read_bvh(write(tmp_path, "a.bvh", bvh_text({"LeftHand": flips}, root=root, frame_time=1.0 / 60.0)))
    assert start_of_motion(motion) == 0
    assert fast_joints(motion) == {"LeftHand": 19}
    assert "LeftHand (19)" in clean(motion, tmp_path, None).notes[0]


def test_the_ball_is_cut_with_the_motion(files: dict[str, Path]) -> None:
    whole, cut = import_motion(files["ballplay"], first_frame=0), import_motion(files["ballplay"], first_frame=2)
    np.testing.assert_array_equal(cut.ball.position, whole.ball.position[2:])
    assert len(cut.ball.contact) == len(cut.position) == 3


def test_legs_that_can_t_be_are_noted(files: dict[str, Path], tmp_path: Path) -> None:
    motion = read_bvh(files["bvh"])
    giant = replace(motion, position=100.0 * motion.position, fps=1.0)
    assert "Its legs are 82 m long" in clean(giant, tmp_path, 0).notes[-1]


@pytest.mark.parametrize("kind", FORMATS)
def test_huge_files_are_refused_unread(files: dict[str, Path], kind: str) -> None:
    with files[kind].open("ab") as file:
        # a hole: it takes no room on the disk
        file.truncate(600 * 2**20)
    with pytest.raises(BadInputError, match="it has 629,145,600 bytes, expected at most 536,870,912") as caught:
        import_motion(files[kind], fps=120.0 if kind == "amc" else None)
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(FORMATS)),
    cut=st.one_of(st.none(), st.floats(0.0, 0.999)),
    seed=st.integers(0, 10**6),
    edits=st.integers(1, 12),
)
def test_damaged_files_are_read_or_refused_in_one_line(
    files: dict[str, Path], kind: str, cut: float | None, seed: int, edits: int
) -> None:
    source = files[kind]
    data = bytearray(source.read_bytes())
    rng = np.random.default_rng(seed)
    if cut is not None:
        data = data[: int(cut * len(data))]
    else:
        for place in rng.integers(0, len(data), edits):
            data[place] = rng.integers(0, 256)
    damaged = source.with_name(f"damaged{source.suffix}")
    damaged.write_bytes(data)
    try:
        motion = import_motion(damaged, fps=120.0 if kind == "amc" else None)
    except BadInputError as error:
        assert "\n" not in str(error) and len(str(error)) < 1200
    else:
        values = motion.root_pos if isinstance(motion, Clip) else motion.position
        assert np.isfinite(values).all() and len(values) >= 2


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["bvh", "amc", "deepmimic", "table"]),
    where=st.floats(0.0, 0.999),
    word=st.sampled_from(["nan", "-inf", "1e400", "1e30", "x", "", "-1", "99999999999999999999", "{", "}", "0"]),
)
def test_any_word_may_be_wrong(files: dict[str, Path], kind: str, where: float, word: str) -> None:
    source = files[kind]
    separator = "," if kind in ("table", "deepmimic") else " "
    words = source.read_text().split(separator)
    words[int(where * len(words))] = word
    damaged = write(source.parent, f"damaged{source.suffix}", separator.join(words))
    try:
        motion = import_motion(damaged, fps=120.0 if kind == "amc" else None)
    except BadInputError as error:
        assert "\n" not in str(error)
    else:
        assert np.isfinite(motion.root_pos if isinstance(motion, Clip) else motion.position).all()
