"""Pictures of clips appear complete or not at all."""

import imageio_ffmpeg
import pytest

from sportsuite.errors import BadInputError
from sportsuite.motion.render import render_clip
from sportsuite.motion.synth import stand


def test_a_sheet_and_a_video_are_written(tmp_path):
    clip = stand(0.3, fps=20.0)
    render_clip(clip, tmp_path / "sheet.png", columns=1)
    assert (tmp_path / "sheet.png").read_bytes()[:4] == b"\x89PNG"
    render_clip(clip, tmp_path / "clip.mp4", fps=10.0)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "clip.mp4"))
    assert frames == 4
    assert seconds == pytest.approx(0.4, abs=0.05)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip.mp4", "sheet.png"]


def test_other_endings_and_folders_are_refused(tmp_path):
    with pytest.raises(BadInputError, match="ends in .mp4 or .png"):
        render_clip(stand(0.3), tmp_path / "clip.gif")
    with pytest.raises(BadInputError, match="there is no folder"):
        render_clip(stand(0.3), tmp_path / "nowhere" / "clip.mp4")
