"""Mirrored clips: twice is the same clip, and mirrored joints give the mirrored body."""

import numpy as np
import pytest
import torch

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.kinematics import clip_states
from sportsuite.motion.mirror import mirror_clip, mirror_label


def crooked_clip(frames: int = 5) -> Clip:
    """A pose without any symmetry, a ball beside it."""
    rng = np.random.default_rng(3)
    quat = rng.normal(size=(frames, 4))
    ball = ObjectTrack(rng.normal(size=(frames, 3)), np.tile([0.5, 0.5, 0.5, 0.5], (frames, 1)), np.arange(frames) > 2)
    return Clip(
        name="crooked",
        fps=30.0,
        joint_names=spec.JOINT_NAMES,
        root_pos=rng.normal(size=(frames, 3)),
        root_quat=quat / np.linalg.norm(quat, axis=1, keepdims=True),
        joint_pos=rng.uniform(-0.5, 0.5, size=(frames, spec.NUM_JOINTS)),
        character="football",
        source="test",
        licence="none",
        labels=("kick_right", "Left", "brightly"),
        ball=ball,
    )


def test_mirroring_twice_gives_the_clip_back():
    clip = crooked_clip()
    again = mirror_clip(mirror_clip(clip))
    for field in ("root_pos", "root_quat", "joint_pos"):
        np.testing.assert_allclose(getattr(again, field), getattr(clip, field), atol=1e-12)
    np.testing.assert_allclose(again.ball.position, clip.ball.position)
    np.testing.assert_allclose(again.ball.quat, clip.ball.quat)
    assert (again.name, again.labels) == (clip.name, clip.labels)


def test_the_body_is_reflected():
    clip = crooked_clip()
    one, other = clip_states(clip).body_pos, clip_states(mirror_clip(clip)).body_pos
    swapped = one[:, list(spec.MIRROR_BODIES)] * torch.tensor([1.0, -1.0, 1.0])
    torch.testing.assert_close(other, swapped, atol=1e-5, rtol=0.0)


def test_the_ball_is_reflected_and_keeps_its_contact():
    clip = crooked_clip()
    ball = mirror_clip(clip).ball
    np.testing.assert_allclose(ball.position[:, 1], -clip.ball.position[:, 1])
    np.testing.assert_allclose(ball.quat[0], [-0.5, 0.5, -0.5, 0.5])
    assert (ball.contact == clip.ball.contact).all()


@pytest.mark.parametrize(
    ("label", "mirrored"),
    [("kick_right", "kick_left"), ("left", "right"), ("Right foot", "Left foot"), ("brightly", "brightly")],
)
def test_labels_change_sides(label, mirrored):
    assert mirror_label(label) == mirrored


def test_other_joint_orders_are_refused():
    clip = crooked_clip()
    with pytest.raises(BadInputError, match="expected the 28 joints"):
        mirror_clip(clip.with_(joint_names=spec.JOINT_NAMES[::-1]))
