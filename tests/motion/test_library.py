"""Clips as tables: states and windows at any time and playback speed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip import Clip
from sportsuite.motion.clip_io import save_clip
from sportsuite.motion.features import layout
from sportsuite.motion.library import MotionLibrary, _affordable_rate, resolve_clip
from tests.motion.samples import make_clip

TURN = np.array([0.4, -0.7, 1.1])
"""Angular velocity in the world [rad/s]."""

START = Rotation.from_euler("xyz", [0.5, -0.3, 1.0])
RATES = 0.1 * np.arange(1, 29)
"""Speed of each hinge [rad/s]."""


def steady(seconds: float = 2.0, fps: float = 30.0, speed: float = 2.0, name: str = "steady") -> Clip:
    """A body that moves along (3, 4) / 5, turns about a skew axis and bends every hinge, all at constant rates."""
    time = np.arange(round(seconds * fps) + 1) / fps
    return Clip(
        name=name,
        fps=fps,
        joint_names=spec.JOINT_NAMES,
        root_pos=np.stack((0.6 * speed * time, 0.8 * speed * time, 0.9 + 0.1 * time), axis=1),
        root_quat=(Rotation.from_rotvec(time[:, None] * TURN) * START).as_quat(),
        joint_pos=time[:, None] * RATES - 0.5,
        character="football",
        source="made for a test",
        licence="CC0",
    )


@pytest.fixture(scope="module")
def library() -> MotionLibrary:
    return MotionLibrary([steady(), steady(1.0, speed=0.5, name="slow")])


def test_durations_speeds_and_weights(library: MotionLibrary) -> None:
    assert len(library) == 2 and library.names == ("steady", "slow")
    torch.testing.assert_close(library.durations, torch.tensor([2.0, 1.0]))
    torch.testing.assert_close(library.speeds, torch.tensor([2.0, 0.5]))
    # by duration where nothing is said
    torch.testing.assert_close(library.weights, torch.tensor([2.0, 1.0]) / 3.0)
    assert MotionLibrary([steady(), steady()], [3.0, 1.0]).weights.tolist() == [0.75, 0.25]


def test_states_between_frames(library: MotionLibrary) -> None:
    time = 0.5125
    states = library.states(torch.tensor([0]), torch.tensor([time]))
    near = {"atol": 1e-4, "rtol": 0.0}
    torch.testing.assert_close(states.root_pos[0], torch.tensor([1.2 * time, 1.6 * time, 0.9 + 0.1 * time]), **near)
    turned = Rotation.from_quat(states.root_quat[0].numpy()) * (Rotation.from_rotvec(time * TURN) * START).inv()
    assert turned.magnitude() < 1e-4
    torch.testing.assert_close(states.joint_pos[0], torch.tensor(time * RATES - 0.5).float(), **near)
    torch.testing.assert_close(states.root_lin_vel[0], torch.tensor([1.2, 1.6, 0.1]), **near)
    # in the world, not in the turning body
    torch.testing.assert_close(states.root_ang_vel[0], torch.tensor(TURN).float(), **near)
    torch.testing.assert_close(states.joint_vel[0], torch.tensor(RATES).float(), **near)


def test_playback_speed_scales_velocities_only(library: MotionLibrary) -> None:
    clips, times = torch.tensor([0, 0]), torch.tensor([0.5, 0.5])
    plain, fast = library.states(clips, times), library.states(clips, times, torch.tensor([1.0, 1.5]))
    for field in ("root_pos", "root_quat", "joint_pos"):
        assert torch.equal(getattr(plain, field), getattr(fast, field))
    for field in ("root_lin_vel", "root_ang_vel", "joint_vel"):
        factor = torch.tensor([[1.0], [1.5]])
        torch.testing.assert_close(getattr(fast, field), factor * getattr(plain, field))


def test_windows_hold_frames_dt_apart(library: MotionLibrary) -> None:
    dt, speed = 1.0 / 30.0, torch.tensor([1.0, 0.5])
    clips, times = torch.tensor([0, 1]), torch.tensor([0.3, 0.2])
    windows = library.windows(clips, times, 5, dt, speed)
    assert windows.shape == (2, 5, 125)
    # the body climbs by 0.1 m/s, at half the speed in the second window
    heights = 0.9 + 0.1 * (times[:, None] + speed[:, None] * dt * torch.arange(5))
    torch.testing.assert_close(windows[..., 0], heights, atol=1e-4, rtol=0.0)
    joint_vel = windows[..., layout()["joint_vel"]]
    torch.testing.assert_close(joint_vel[1, 3], torch.tensor(0.5 * RATES).float(), atol=1e-4, rtol=0.0)
    height_rate = windows[..., layout()["root_lin_vel"].start + 2]
    torch.testing.assert_close(height_rate, torch.tensor([[0.1], [0.05]]).expand(2, 5), atol=1e-4, rtol=0.0)


def test_a_window_is_its_frames_one_by_one(library: MotionLibrary) -> None:
    clips, times = torch.tensor([0]), torch.tensor([0.4])
    window = library.windows(clips, times, 3, 0.1)[0]
    for frame in range(3):
        assert torch.equal(window[frame], library.windows(clips, times + 0.1 * frame, 1, 0.1)[0, 0])


def test_beyond_the_end_the_last_frame_repeats(library: MotionLibrary) -> None:
    # the clip after it must not leak in
    windows = library.windows(torch.tensor([0, 1]), torch.tensor([1.95, 0.95]), 10, 1.0 / 30.0)
    assert (windows[:, 2:] == windows[:, -1:]).all()
    torch.testing.assert_close(windows[:, -1, 0], torch.tensor([1.1, 1.0]), atol=1e-4, rtol=0.0)
    assert not torch.equal(windows[:, 0], windows[:, -1])
    before = library.windows(torch.tensor([1]), torch.tensor([-3.0]), 1, 1.0 / 30.0)
    torch.testing.assert_close(before[0, 0, 0], torch.tensor(0.9))


def test_drawn_times_leave_what_is_needed(library: MotionLibrary) -> None:
    torch.manual_seed(0)
    clips = library.sample_clips(3000)
    assert (clips == 0).float().mean().item() == pytest.approx(2.0 / 3.0, abs=0.03)
    times = library.sample_times(clips, 0.3)
    assert times.min() >= 0.0 and (times + 0.3 <= library.durations[clips] + 1e-6).all()
    assert times[clips == 0].max() > 1.6
    # a clip that is too short starts at its beginning
    assert (library.sample_times(clips, 1.5)[clips == 1] == 0.0).all()


def test_long_libraries_get_a_coarser_grid() -> None:
    assert [_affordable_rate(seconds) for seconds in (60.0, 300.0, 3600.0)] == [960.0, 480.0, 60.0]
    assert len(MotionLibrary([steady()], rate=60.0).features) == 121


def broken(**changes: object) -> Clip:
    return replace(steady(), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("clips", "weights", "message"),
    [
        ([], None, "at least one clip"),
        ([steady(), broken(character="climbing")], None, "different size: climbing, football"),
        ([steady(0.05)], None, "clip steady: 3 frames, expected at least 4"),
        ([steady()], [1.0, 2.0], r"weights \[1.0, 2.0\] for 1 clips"),
        ([steady(), steady()], [1.0, -1.0], "expected one >= 0 each"),
        ([steady(), steady()], [0.0, 0.0], "expected one >= 0 each"),
        ([steady(), steady()], [1.0, math.nan], "expected one >= 0 each"),
        ([steady(), steady()], [1.0, math.inf], "expected one >= 0 each"),
    ],
)
def test_what_makes_no_library_is_named(clips: list, weights: list | None, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        MotionLibrary(clips, weights)


def test_clips_are_found_by_name_and_path(tmp_path) -> None:
    assert resolve_clip("isaaclab:walk").name == "walk"
    assert "stand" in resolve_clip("suite:stand").labels
    save_clip(make_clip(6, ball=False), tmp_path / "a:b.npz")
    assert resolve_clip(str(tmp_path / "a:b.npz")).num_frames == 6


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("isaaclab:wlk", "unknown clip of the isaaclab wheel 'wlk': did you mean 'walk'?"),
        ("isaclab:walk", "unknown origin of a clip 'isaclab': did you mean 'isaaclab'?"),
        ("suite:stan", "unknown clip of sportsuite 'stan': did you mean 'stand'?"),
        ("suite:fallen_states", "unknown clip of sportsuite 'fallen_states'"),
        ("suite:../policies/trap", "unknown clip of sportsuite '../policies/trap'"),
        ("none.npz", "clip none.npz: there is none"),
    ],
)
def test_unknown_clips_name_the_nearest(name: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        resolve_clip(name)
