"""``sportsuite motion``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sportsuite.characters import spec
from sportsuite.motion.clip_io import load_clip, save_clip
from sportsuite.motion.report import clip_report
from tests.motion.importers import test_table
from tests.motion.samples import amc_text, asf_text, bvh_text, deepmimic_frame, deepmimic_text, make_clip, write


def walk_file(folder: Path) -> Path:
    """A stiff figure that is carried forwards at 1 m/s."""
    rows = [deepmimic_frame(root_pos=[frame / 30.0, 0.9, 0.0]) for frame in range(31)]
    return write(folder, "walk.txt", deepmimic_text(rows))


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    save_clip(make_clip(30, ball=False), tmp_path / "clip.npz")
    return tmp_path / "clip.npz"


def test_info_says_what_a_file_holds(cli: Callable, tmp_path: Path) -> None:
    document = json.loads(cli("motion", "info", str(walk_file(tmp_path)), "--json").out)
    assert document["format"] == "deepmimic" and document["skeleton"] == "deepmimic"
    assert (document["fps"], document["frames"], document["duration_s"], document["path_m"]) == (30.0, 31, 1.0, 1.0)
    assert document["leg_length_m"] == pytest.approx(0.8314) and document["ball"] is False
    text = cli("motion", "info", str(tmp_path / "walk.txt")).out
    assert "path_m: 1.0\n" in text and "licence: not stated\n" in text


def test_info_takes_clips_by_name_and_files_without_a_rate(cli: Callable, tmp_path: Path) -> None:
    document = json.loads(cli("motion", "info", "isaaclab:walk", "--json").out)
    assert document["character"] == "football" and document["licence"] == "BSD-3-Clause"
    write(tmp_path, "02.asf", asf_text())
    path = str(write(tmp_path, "02_01.amc", amc_text(30)))
    assert json.loads(cli("motion", "info", path, "--fps", "60", "--json").out)["fps"] == 60.0


def test_mirror_and_retarget_write_clips(cli: Callable, clip: Path, tmp_path: Path) -> None:
    mirrored, back, tall = (tmp_path / f"{name}.npz" for name in ("mirrored", "back", "tall"))
    assert cli("motion", "mirror", str(clip), "--output", str(mirrored)).code == 0
    assert cli("motion", "mirror", str(mirrored), "--output", str(back)).code == 0
    np.testing.assert_allclose(load_clip(back).joint_pos, load_clip(clip).joint_pos, atol=1e-12)
    done = cli("motion", "retarget", str(clip), "--character", "climbing", "--output", str(tall))
    assert done.code == 0 and "climbing" in done.out
    np.testing.assert_allclose(load_clip(tall).root_pos, load_clip(clip).root_pos * 1.75 / 1.62)


def test_check_measures_and_fails_on_faults(cli: Callable, clip: Path) -> None:
    good = cli("motion", "check", "isaaclab:walk")
    assert good.code == 0 and good.out.splitlines()[1].startswith("walk\t") and good.out.strip().endswith("none")
    # random poses that follow each other spin joints and sink
    bad = cli("motion", "check", str(clip), "--json")
    document = json.loads(bad.out)[0]
    assert bad.code == 1 and any("spikes" in fault for fault in document["faults"])
    assert document["joint_speed_max"] == pytest.approx(clip_report(load_clip(clip)).joint_speed_max)


def test_tables_are_imported_without_retargeting(cli: Callable, tmp_path: Path) -> None:
    table = write(tmp_path, "poses.csv", test_table.csv_text())
    output = tmp_path / "out" / "poses.npz"
    arguments = ("--floor", "none", "--labels", "kick, left", "--source", "own", "--licence", "CC0", "--name", "pose")
    assert cli("motion", "import", str(table), "--output", str(output), *arguments).code == 0
    clip = load_clip(output)
    assert (clip.name, clip.labels, clip.source, clip.licence, clip.fps) == (
        "pose",
        ("kick", "left"),
        "own",
        "CC0",
        50.0,
    )
    np.testing.assert_allclose(clip.joint_pos, test_table.CLIP.joint_pos, atol=1e-12)


def test_recordings_are_retargeted_and_put_on_the_ground(cli: Callable, tmp_path: Path) -> None:
    output = tmp_path / "walk.npz"
    done = cli("motion", "import", str(walk_file(tmp_path)), "--output", str(output), "--character", "climbing")
    assert done.code == 0 and "frames/s; points are" in done.err
    clip = load_clip(output)
    assert (clip.character, clip.fps, clip.num_frames) == ("climbing", 30.0, 31)
    # stiff straight legs: the figure stands at its standing height
    assert np.median(clip.root_pos[:, 2]) == pytest.approx(spec.standing_pelvis_height(1.75, "boot"), abs=0.02)


def test_fast_recordings_become_60_hz(cli: Callable, tmp_path: Path) -> None:
    output = tmp_path / "fast.npz"
    rows = [deepmimic_frame(1.0 / 120.0, root_pos=[frame / 60.0, 0.9, 0.0]) for frame in range(61)]
    fast = write(tmp_path, "fast.txt", deepmimic_text(rows))
    assert cli("motion", "import", str(fast), "--output", str(output)).code == 0
    assert (load_clip(output).fps, load_clip(output).num_frames) == (60.0, 31)
    assert cli("motion", "import", str(fast), "--output", str(output), "--force", "--rate", "120").code == 0
    assert (load_clip(output).fps, load_clip(output).num_frames) == (120.0, 61)


def test_import_trims_and_changes_the_rate(cli: Callable, tmp_path: Path) -> None:
    table = write(tmp_path, "poses.csv", test_table.csv_text())
    output = tmp_path / "poses.npz"
    options = ("--floor", "none", "--start", "0.02", "--rate", "25")
    assert cli("motion", "import", str(table), "--output", str(output), *options).code == 0
    assert (load_clip(output).fps, load_clip(output).num_frames) == (25.0, 2)


def test_nothing_is_written_over_without_force(cli: Callable, clip: Path) -> None:
    before = clip.read_bytes()
    done = cli("motion", "mirror", "isaaclab:walk", "--output", str(clip))
    assert done.code == 2 and "there is one already; --force writes over it" in done.err
    assert clip.read_bytes() == before
    assert cli("motion", "mirror", "isaaclab:walk", "--output", str(clip), "--force").code == 0
    assert load_clip(clip).name == "walk_mirrored"


SYNTH = [
    (["walk", "--speed", "0.8", "--heading", "90", "--seconds", "0.5"], ("walk", "left"), "football"),
    (["walk", "--speed", "0", "--turn", "-60", "--seconds", "0.5"], ("turn", "turn_right"), "football"),
    (["walk", "--speed", "0", "--seconds", "0.5"], ("stand",), "football"),
    (["reach", "--hand", "left", "--seconds", "0.5"], ("reach", "climb", "left"), "climbing"),
    (["hang", "--character", "football", "--seconds", "0.5"], ("hang", "climb"), "football"),
]


@pytest.mark.parametrize(("options", "labels", "character"), SYNTH, ids=[" ".join(options) for options, *_ in SYNTH])
def test_synth_makes_what_is_asked_for(
    cli: Callable, tmp_path: Path, options: list[str], labels: tuple[str, ...], character: str
) -> None:
    output = tmp_path / "made.npz"
    done = cli("motion", "synth", *options, "--rate", "30", "--output", str(output))
    assert done.code == 0, done.err
    clip = load_clip(output)
    assert (clip.labels, clip.character, clip.fps) == (labels, character, 30.0)
    # a walk is whole strides of at most 1.5 s
    assert clip.duration == 0.5 or ("walk" in options and 0.5 <= clip.duration < 2.0)
    if "--heading" in options:
        velocity = (clip.root_pos[-1, :2] - clip.root_pos[0, :2]) / clip.duration
        np.testing.assert_allclose(velocity, [0.0, 0.8], atol=0.01)


MALFORMED = [
    (["motion"], "motion: the following arguments are required: VERB"),
    (["motion", "imprt"], "invalid choice: 'imprt'"),
    (["motion", "info"], "motion info: the following arguments are required: FILE|CLIP"),
    (["motion", "info", "none.bvh"], "motion file none.bvh: there is none"),
    (["motion", "info", "isaaclab:wlk"], "unknown clip of the isaaclab wheel 'wlk': did you mean 'walk'?"),
    (["motion", "check", "none.npz"], "clip none.npz: there is none"),
    (["motion", "check"], "motion check: the following arguments are required: CLIP"),
    (["motion", "mirror", "isaaclab:walk"], "the following arguments are required: --output"),
    (["motion", "mirror", "isaaclab:walk", "--output", "a.np"], "expected a name that ends in .npz; nearest: a.npz"),
    (
        ["motion", "render", "isaaclab:walk", "--output", "a.avi"],
        "expected a name that ends in .mp4 or .png; nearest: a.mp4",
    ),
    (["motion", "import", "a.bvh", "--output", "a.npz", "--character", "climb"], "did you mean 'climbing'?"),
    (["motion", "import", "a.bvh", "--output", "a.npz", "--rate", "0"], "--rate 0.0: expected a number above 0"),
    (["motion", "import", "a.bvh", "--output", "a.npz", "--floor", "moon"], "invalid choice: 'moon'"),
    (["motion", "import", "a.bvh", "--output", "a.npz", "--fast"], "unrecognized arguments: --fast"),
    (["motion", "synth", "wlk", "--output", "a.npz"], "unknown kind of clip 'wlk': did you mean 'walk'?"),
    (["motion", "synth", "walk", "--seconds", "-1", "--output", "a.npz"], "--seconds -1.0: expected a number above 0"),
    (["motion", "synth", "hang", "--seconds", "inf", "--output", "a.npz"], "expected at least 3 frames and at most"),
    (["motion", "synth", "reach", "--hand", "both", "--output", "a.npz"], "hand 'both': expected 'left' or 'right'"),
]


@pytest.mark.parametrize(("arguments", "message"), MALFORMED, ids=[" ".join(arguments) for arguments, _ in MALFORMED])
def test_bad_input_is_one_clear_line_and_code_2(cli: Callable, arguments: list[str], message: str) -> None:
    done = cli(*arguments)
    assert done.code == 2 and done.out == ""
    assert message in done.err
    assert done.err.startswith("sportsuite: ") and done.err.count("\n") == 1


def test_a_recording_without_a_rate_asks_for_it(cli: Callable, tmp_path: Path) -> None:
    write(tmp_path, "02.asf", asf_text())
    done = cli("motion", "import", str(write(tmp_path, "02_01.amc", amc_text())), "--output", str(tmp_path / "a.npz"))
    assert done.code == 2 and "give it (--fps; CMU's library is at 120)" in done.err


def test_a_damaged_recording_is_refused_before_anything_is_written(cli: Callable, tmp_path: Path) -> None:
    path = write(tmp_path, "bad.bvh", bvh_text()[:-30])
    done = cli("motion", "import", str(path), "--output", str(tmp_path / "a.npz"))
    assert done.code == 2 and done.err.count("\n") == 1 and not (tmp_path / "a.npz").exists()
