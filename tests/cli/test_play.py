import json

import imageio_ffmpeg
import numpy as np
import pytest

from tests.cli.story import TASK, story, story_folder

__all__ = ["story", "story_folder"]


def test_video_without_a_display_shows_something(story, story_folder):
    done = story["video"]
    assert done["code"] == 0, done["err"]
    assert "video films/trap.mp4" in done["out"]
    reader = imageio_ffmpeg.read_frames(str(story_folder / "films" / "trap.mp4"))
    meta = next(reader)
    assert meta["size"] == (960, 540) and meta["fps"] == 30.0
    frames = [np.frombuffer(raw, dtype=np.uint8) for raw in reader]
    assert len(frames) == 8
    assert all(picture.std() > 5 for picture in frames)  # not black, not one colour


def test_play_without_a_viewer_counts(story):
    done = story["play"]
    assert done["code"] == 0, done["err"]
    assert done["out"].startswith("3 steps (0.1 s) of 2 worlds, mean reward per step ")


def test_zero_actions_run(story):
    done = story["zero"]
    assert done["code"] == 0, done["err"]
    document = json.loads(done["out"])
    assert document["finite"] is True and document["task"] == TASK and document["env_steps_per_s"] > 0


def test_unknown_physics_names_the_nearest(story):
    done = story["wrong physics"]
    assert done["code"] == 2 and "did you mean 'newton_mjwarp'?" in done["err"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["play", TASK, "--untrained", "--video", "a.gif"], "video a.gif: expected a name that ends in .mp4"),
        (["play", TASK, "--untrained", "--video", "a.mp4", "--viz", "viser"], "--viz viser and --video"),
        (["play", TASK, "--untrained", "--viz", "viser", "--port", "80"], "--port 80: expected 1024 to 65535"),
        (["play", TASK, "--untrained", "--viz", "kitt"], "invalid choice: 'kitt'"),
        (["play", TASK, "--untrained", "--seconds", "0"], "--seconds 0.0: expected a number above 0"),
        (["play", TASK, "--checkpoint", "nowhere"], "checkpoint nowhere: no such file"),
    ],
)
def test_bad_input(cli, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_window_without_a_display_says_what_works(cli, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    done = cli("play", TASK, "--untrained", "--viz", "newton_gl")
    assert done.code == 1 and "--viz viser" in done.err
