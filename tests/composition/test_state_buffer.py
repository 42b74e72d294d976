"""Buffers on disk: what is written comes back, and what is malformed is refused with one clear error."""

import json
import time

import numpy as np
import pytest
import torch

from sportsuite.characters.spec import JOINT_NAMES
from sportsuite.composition.state_buffer import GRID_M, StateBuffer, concatenate, read_buffer, write_buffer
from sportsuite.errors import BadInputError


def some_states(count: int, ball: bool = True) -> StateBuffer:
    generator = torch.Generator().manual_seed(count)

    def numbers(width: int) -> torch.Tensor:
        return torch.randn(count, width, generator=generator)

    def pose() -> torch.Tensor:
        place = (numbers(3) / GRID_M).round() * GRID_M
        return torch.cat((place, torch.nn.functional.normalize(numbers(4), dim=1)), dim=1)

    return StateBuffer(
        pose(),
        numbers(6),
        numbers(28),
        numbers(28),
        pose() if ball else None,
        numbers(6) if ball else None,
        {"phase": numbers(1)[:, 0]},
        {"task": "Toy-v0"},
    )


def test_a_file_brings_back_every_bit(tmp_path):
    states = some_states(7)
    write_buffer(tmp_path / "a.npz", states)
    again = read_buffer(tmp_path / "a.npz")
    for name in ("root_pose", "root_velocity", "joint_pos", "joint_vel", "ball_pose", "ball_velocity"):
        assert torch.equal(getattr(again, name), getattr(states, name)), name
    assert torch.equal(again.extras["phase"], states.extras["phase"])
    assert again.about["task"] == "Toy-v0" and again.about["quat_order"] == "xyzw" and again.about["states"] == 7


def test_rows_and_joining(tmp_path):
    a, b = some_states(3), some_states(2)
    both = concatenate([a, b], {"task": "x"})
    assert len(both) == 5 and torch.equal(both.rows(torch.tensor([4])).joint_pos, b.joint_pos[1:])
    assert torch.equal(both.extras["phase"][:3], a.extras["phase"])
    assert concatenate([some_states(3, ball=False)], {}).ball_pose is None


def test_fifty_thousand_states_load_within_seconds(tmp_path):
    write_buffer(tmp_path / "a.npz", some_states(50_000))
    start = time.monotonic()
    assert len(read_buffer(tmp_path / "a.npz")) == 50_000
    assert time.monotonic() - start < 5.0


def edit(path, **changes):
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    for name, value in changes.items():
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value
    np.savez(path, **arrays)


NAN = np.zeros((4, 28), np.float32)
NAN[2, 5] = np.nan


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_pos": None}, "expected an array 'joint_pos'"),
        ({"format": np.array(2)}, "format 2, this sportsuite reads 1 to 1"),
        ({"format": np.array("x")}, "format x"),
        ({"joint_names": np.array(JOINT_NAMES[::-1])}, "expected the character's 28 joints in their order"),
        ({"about": np.array("{")}, "'about' is no JSON object"),
        ({"about": np.array(json.dumps({"quat_order": "wxyz"}))}, "quaternion order 'wxyz', expected 'xyzw'"),
        ({"joint_vel": NAN}, "joint_vel of state 2 is not finite"),
        ({"joint_vel": np.zeros((4, 28))}, r"joint_vel has shape \(4, 28\) and type float64, expected \(states, 28\)"),
        ({"joint_vel": np.zeros((3, 28), np.float32)}, "joint_vel has 3 rows and root_pose 4"),
        ({"ball_velocity": None}, "both ball_pose and ball_velocity"),
        ({"ball_pose": np.zeros((4, 7), np.float32)}, "ball_pose holds quaternions"),
        ({"extra.phase": np.array(["a"] * 4)}, "extra.phase has type"),
        ({"extra.phase": np.array(1.0)}, "extra.phase has 0 rows"),
    ],
)
def test_malformed_files_are_refused(tmp_path, changes, message):
    path = tmp_path / "a.npz"
    write_buffer(path, some_states(4))
    edit(path, **changes)
    with pytest.raises(BadInputError, match=message) as error:
        read_buffer(path)
    assert "a.npz" in str(error.value) and "\n" not in str(error.value)


def test_files_that_are_no_buffers_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    with pytest.raises(BadInputError, match="there is none"):
        read_buffer(path)
    write_buffer(path, some_states(4))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(BadInputError, match="cut off or damaged"):
        read_buffer(path)
    np.savez(path, root_pose=np.array([{}], dtype=object))
    with pytest.raises(BadInputError, match="pickled"):
        read_buffer(path)
    np.savez(path, np.zeros(3))
    with pytest.raises(BadInputError, match="expected an array 'format', found arr_0"):
        read_buffer(path)
