import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from sportsuite.errors import BadInputError, SportSuiteError
from sportsuite.viewer import video
from sportsuite.viewer.video import VideoWriter, check_video_path


def frame(value, width=64, height=48):
    return np.full((height, width, 3), value, dtype=np.uint8)


def frames_of(path):
    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    width, height = meta["size"]
    return meta, [np.frombuffer(raw, dtype=np.uint8).reshape(height, width, 3) for raw in reader]


def test_video_holds_the_frames_in_order(tmp_path):
    path = tmp_path / "sub" / "a.mp4"
    with VideoWriter(path, 30.0, 64, 48) as writer:
        for value in (20, 120, 220):
            writer.write(frame(value))
    meta, frames = frames_of(path)
    assert meta["fps"] == 30.0 and meta["size"] == (64, 48)
    assert [round(picture.mean(), -1) for picture in frames] == [20, 120, 220]


def test_wrong_frames_are_refused(tmp_path):
    with pytest.raises(ValueError, match="expected"), VideoWriter(tmp_path / "a.mp4", 30.0, 64, 48) as writer:
        writer.write(frame(1, width=32))
    with pytest.raises(ValueError, match="uint8"), VideoWriter(tmp_path / "a.mp4", 30.0, 64, 48) as writer:
        writer.write(frame(1).astype(float))
    assert list(tmp_path.iterdir()) == []  # neither half a file nor its temporary


def test_interrupted_video_keeps_what_there_is(tmp_path):
    with pytest.raises(KeyboardInterrupt), VideoWriter(tmp_path / "a.mp4", 30.0, 64, 48) as writer:
        writer.write(frame(50))
        raise KeyboardInterrupt
    assert len(frames_of(tmp_path / "a.mp4")[1]) == 1


def test_path_is_checked(tmp_path):
    with pytest.raises(BadInputError, match=r"nearest: .*a\.mp4"):
        check_video_path(tmp_path / "a.avi")
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="folder can't be made"):
        check_video_path(tmp_path / "file" / "a.mp4")


def resident_mb():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError


def test_memory_does_not_grow_with_the_frames(tmp_path):
    picture = np.random.default_rng(0).integers(0, 255, (360, 640, 3), dtype=np.uint8)

    def film(count):
        with VideoWriter(tmp_path / "a.mp4", 30.0, 640, 360) as writer:
            for _ in range(count):
                writer.write(picture)

    film(3)
    before = resident_mb()
    film(120)
    assert resident_mb() - before < 20  # the frames themselves are 83 MB


def test_missing_egl_names_the_package(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(video.ctypes, "CDLL", missing)
    with pytest.raises(SportSuiteError, match="apt-get install libegl1 libgl1-mesa-dri"):
        video.check_offscreen()


def test_nothing_else_is_left_running(tmp_path):
    with VideoWriter(tmp_path / "a.mp4", 30.0, 64, 48) as writer:
        writer.write(frame(1))
    assert "a.mp4" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False).stdout
