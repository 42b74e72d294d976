"""Football's goals: their ranges, their frames, their mirror images, and how DEGCL's are made."""

import math

import numpy as np
import pytest
import torch

from sportsuite.errors import BadInputError
from sportsuite.mdp.frames import tangent_normal
from sportsuite.mdp.symmetry import object_map
from sportsuite.motion.clip import Clip
from sportsuite.motion.library import resolve_clip
from sportsuite_tasks.football.mdp.events import clear_distance, rolling_spin
from sportsuite_tasks.football.mdp.goals import kick_velocity, planar, polar, window_open
from sportsuite_tasks.football.move import degcl
from tests.tasks.football.prior import write_prior


def test_planar_turns_into_the_heading_frame():
    """Facing along y, a velocity along x points to the right, which is minus y."""
    assert planar(torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 1.0]]))[0].tolist() == pytest.approx([0.0, -2.0])
    assert polar(torch.tensor([2.0]), torch.tensor([math.pi / 2]))[0].tolist() == pytest.approx([0.0, 2.0], abs=1e-6)


def test_kick_velocity_by_hand():
    velocity = kick_velocity(torch.tensor([10.0]), torch.tensor([math.pi / 2]), torch.tensor([math.pi / 6]))
    assert velocity[0].tolist() == pytest.approx([0.0, 10 * math.sqrt(3) / 2, 5.0], abs=1e-5)


def test_the_window_begins_after_the_contact_and_lasts_a_third_of_a_second():
    steps = torch.tensor([-1, 0, 1, 10, 11])
    assert window_open(steps, 1 / 3, 1 / 30).tolist() == [False, False, True, True, False]


def test_a_rolling_ball_doesnt_slip():
    """At the point below the centre velocity and spin cancel: v + omega x (0, 0, -r) = 0."""
    velocity = torch.tensor([[1.0, 2.0]])
    spin = rolling_spin(velocity, 0.11)
    slip = torch.cat((velocity, torch.zeros(1, 1)), dim=1) + torch.linalg.cross(spin, torch.tensor([[0.0, 0.0, -0.11]]))
    assert slip.abs().max() < 1e-6


def test_a_ball_is_put_beyond_the_limb_in_its_way():
    """A foot 0.5 m ahead and 0.18 m aside blocks 0.5 +- 0.24 m for a gap of 0.3 m; one behind or aside doesn't."""
    bodies = torch.tensor([[[0.5, 0.18], [-0.5, 0.0], [0.5, -0.31]]]).expand(3, 3, 2)
    direction = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    distance = clear_distance(bodies, direction, torch.tensor([0.4, 0.9, 0.4]), gap=0.3)
    assert distance.tolist() == pytest.approx([0.74, 0.9, 0.4])


def test_a_mirrored_ball_is_the_ball_of_a_mirrored_world():
    """With M = diag(1, -1, 1) the image of a rotation R is M R M, so its first and last column are M times R's."""
    torch.manual_seed(0)
    features = torch.randn(5, 13)
    features[:, 3:7] = torch.nn.functional.normalize(features[:, 3:7], dim=1)
    index, sign = object_map()
    image = features[:, index] * sign
    flip = torch.tensor([1.0, -1.0, 1.0])
    assert torch.allclose(image[:, :3], features[:, :3] * flip)
    assert torch.allclose(tangent_normal(image[:, 3:7]), tangent_normal(features[:, 3:7]) * flip, atol=1e-6)
    # a spin is a cross product: the image of a x b is M a x M b
    a, b = torch.randn(2, 5, 3)
    spinning = torch.cat((features[:, :10], torch.linalg.cross(a, b)), dim=1)
    assert torch.allclose((spinning[:, index] * sign)[:, 10:], torch.linalg.cross(a * flip, b * flip), atol=1e-6)


def sideways_clip() -> Clip:
    """The walk, replaced in place: it faces along y and glides along minus x, to its left, at 1.5 m/s."""
    clip = resolve_clip("isaaclab:walk")
    frames = clip.num_frames
    root = np.zeros((frames, 3))
    root[:, 0], root[:, 2] = -1.5 * np.arange(frames) / clip.fps, 0.9
    half = math.sqrt(0.5)
    quat = np.tile([0.0, 0.0, half, half], (frames, 1))
    values = {name: getattr(clip, name) for name in clip.__dataclass_fields__}
    return Clip(**values | {"root_pos": root, "root_quat": quat})


def test_the_goal_of_a_sideways_clip_is_to_go_left_while_facing_ahead():
    velocity, facing = degcl.clip_goal(sideways_clip())
    assert velocity.tolist() == pytest.approx([0.0, 1.5], abs=1e-4) and facing.tolist() == [1.0, 0.0]


def test_pairs_come_from_a_hand_made_encoder():
    """An encoder that returns a window's direction in time tells which windows and frames it was given."""
    seen = []

    def encoder(windows):
        seen.append(windows.shape)
        return torch.nn.functional.normalize(windows[:, :3], dim=1)

    clips = [resolve_clip("isaaclab:walk"), sideways_clip()]
    pairs = degcl.encode_clips(clips, encoder, frames=8, stride=4, dt=1 / 30, windows=3)
    assert seen == [(6, 2 * 125)]
    assert pairs.velocity_h[3:].flatten().tolist() == pytest.approx([0.0, 1.5] * 3, abs=1e-4)
    # the sideways clip is still in its frame: all its windows but for the joints are the same
    assert torch.allclose(pairs.latents[3], pairs.latents[5], atol=1e-5)
    assert pairs.latents.norm(dim=1).tolist() == pytest.approx([1.0] * 6)


def test_a_file_gives_back_what_was_written(tmp_path):
    pairs = degcl.goal_latents([resolve_clip("isaaclab:walk")], write_prior(tmp_path / "prior.pt"), windows=2)
    assert pairs.latents.shape == (2, 64)
    degcl.write_goal_latents(tmp_path / "degcl.npz", pairs)
    loaded = degcl.load_goal_latents(tmp_path / "degcl.npz")
    assert torch.equal(loaded.velocity_h, pairs.velocity_h) and torch.equal(loaded.facing_h, pairs.facing_h)
    assert torch.allclose(loaded.latents, pairs.latents)


def test_wrong_files_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", goals=np.zeros((2, 3)), latents=np.zeros((2, 64)))
    with pytest.raises(BadInputError, match=r"goals \(2, 3\)"):
        degcl.load_goal_latents(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", goals=np.zeros((2, 4)))
    with pytest.raises(BadInputError, match="'latents'"):
        degcl.load_goal_latents(tmp_path / "b.npz")
