"""How moments of a reference motion are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.motion.clip_io import save_clip
from sportsuite.motion.features import layout, mirror_map
from sportsuite.motion.reference import ReferenceMotion, ReferenceMotionCfg
from tests.motion.test_library import steady

DT = 1.0 / 30.0


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Clips at 0, 1 and 3 m/s."""
    for speed in (0, 1, 3):
        save_clip(steady(2.0, speed=float(speed), name=str(speed)), tmp_path / f"{speed}.npz")
    return [str(tmp_path / f"{speed}.npz") for speed in (0, 1, 3)]


def motion(paths: list[str], **changes: object) -> ReferenceMotion:
    torch.manual_seed(0)
    return ReferenceMotion(ReferenceMotionCfg(clips=paths, **changes), DT, "cpu")  # type: ignore[arg-type]


def test_by_weight_at_their_own_speed(paths: list[str]) -> None:
    reference = motion(paths, weights=[1.0, 1.0, 2.0])
    assert reference.library.names == ("0", "1", "3", "0_mirrored", "1_mirrored", "3_mirrored")
    clips, times, speed = reference.draw(4000)
    assert (speed == 1.0).all() and times.min() >= 0.0 and times.max() <= 2.0
    share = torch.bincount(clips, minlength=6) / 4000
    torch.testing.assert_close(share, torch.tensor([1.0, 1.0, 2.0, 1.0, 1.0, 2.0]) / 8.0, atol=0.03, rtol=0.0)
    assert len(motion(paths, mirror=False).library) == 3


def test_windows_end_within_their_clip(paths: list[str]) -> None:
    clips, times, speed = motion(paths, speed_range=(0.0, 4.0)).draw(2000, frames=10)
    assert (times + 9 * DT * speed).max() <= 2.0 + 1e-5
    assert times.max() > 1.0 and (speed != 1.0).any()


def test_speeds_are_matched_by_another_playback_speed(paths: list[str]) -> None:
    reference = motion(paths, speed_range=(1.0, 3.0))
    clips, _, playback = reference.draw(4000)
    moving = reference.library.speeds[clips] > 0.5
    reached = (reference.library.speeds[clips] * playback)[moving]
    assert playback.min() >= 0.5 and playback.max() <= 1.6
    assert reached.min() >= 0.99 and reached.max() <= 3.01
    # both sides of the body equally often
    assert (clips >= 3).float().mean().item() == pytest.approx(0.5, abs=0.03)


def test_standing_is_drawn_on_purpose(paths: list[str]) -> None:
    reference = motion(paths, speed_range=(0.8, 4.0), stand_fraction=0.2)
    clips, _, playback = reference.draw(4000)
    still = reference.library.speeds[clips] < 0.2
    assert still.float().mean().item() == pytest.approx(0.2, abs=0.03)
    assert (playback[still] == 1.0).all()


def test_mirrored_clips_are_mirror_images(paths: list[str]) -> None:
    library = motion(paths).library
    index, sign = mirror_map()
    window = library.windows(torch.tensor([1, 4]), torch.tensor([0.7, 0.7]), 3, DT)
    torch.testing.assert_close(window[0][:, index] * sign, window[1], atol=1e-4, rtol=1e-4)
    assert not torch.allclose(window[0, :, layout()["joint_vel"]], window[1, :, layout()["joint_vel"]])


def test_weights_of_other_clips_are_refused(paths: list[str]) -> None:
    with pytest.raises(BadInputError, match="2 weights for 3 clips"):
        motion(paths, weights=[1.0, 2.0])
