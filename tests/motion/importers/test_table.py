"""Tables of poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sportsuite.characters import spec
from sportsuite.errors import BadInputError
from sportsuite.motion.importers.table import read_table
from sportsuite.motion.kinematics import clip_states
from tests.motion.samples import angle_between, make_clip, write

CLIP = make_clip(5, 50.0, ball=False)
NAMES = ["time", "root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw", *spec.JOINT_NAMES]
DATA = np.column_stack((np.arange(5) / 50.0, CLIP.root_pos, CLIP.root_quat, CLIP.joint_pos))


def csv_text(names: list[str] = NAMES, data: np.ndarray = DATA) -> str:
    return "\n".join([",".join(names), *(",".join(map(repr, row)) for row in data.tolist())]) + "\n"


def npz(folder: Path, **entries: object) -> Path:
    content = {
        "root_pos": CLIP.root_pos,
        "root_quat": CLIP.root_quat,
        "quat_order": "xyzw",
        "joint_pos": CLIP.joint_pos,
        "joint_names": np.array(spec.JOINT_NAMES),
        "fps": 50,
    } | entries
    np.savez(folder / "table.npz", **{key: value for key, value in content.items() if value is not None})
    return folder / "table.npz"


def assert_same_motion(clip) -> None:
    assert clip.fps == 50.0
    np.testing.assert_allclose(clip_states(clip).body_pos, clip_states(CLIP).body_pos, atol=1e-6)
    assert angle_between(clip.root_quat, CLIP.root_quat) < 1e-9


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(len(NAMES))))
def test_shuffled_columns_give_the_same_pose(tmp_path: Path, order: list[int]) -> None:
    text = csv_text([NAMES[column] for column in order], DATA[:, order])
    assert_same_motion(read_table(write(tmp_path, "table.csv", text)))


def test_npz_tables_of_either_quaternion_order(tmp_path: Path) -> None:
    assert_same_motion(read_table(npz(tmp_path)))
    order = np.random.default_rng(1).permutation(spec.NUM_JOINTS)
    swapped = npz(
        tmp_path,
        root_quat=CLIP.root_quat[:, [3, 0, 1, 2]],
        quat_order="wxyz",
        joint_pos=CLIP.joint_pos[:, order],
        joint_names=np.array(spec.JOINT_NAMES)[order],
        fps=None,
        time=3.0 + np.arange(5) / 50.0,
    )
    assert_same_motion(read_table(swapped))


def test_angles_in_degrees_and_a_given_rate(tmp_path: Path) -> None:
    data = DATA[:, 1:].copy()
    data[:, 7:] = np.degrees(data[:, 7:])
    path = write(tmp_path, "table.csv", csv_text(NAMES[1:], data))
    assert_same_motion(read_table(path, fps=50.0, degrees=True))
    with pytest.raises(BadInputError, match="nothing says its rate"):
        read_table(path)


def with_times(*times: float) -> str:
    data = DATA.copy()
    data[:, 0] = times
    return csv_text(data=data)


MALFORMED = [
    (csv_text(NAMES[:-1], DATA[:, :-1]), "columns missing: left_ankle_z"),
    (csv_text([*NAMES[:-1], "left_ankel_z"]), r"columns missing: left_ankle_z \('left_ankel_z' for 'left_ankle_z'\?\)"),
    (csv_text([*NAMES, "mass"], np.column_stack((DATA, DATA[:, 0]))), "unknown column 'mass'"),
    (csv_text([*NAMES, "time"], np.column_stack((DATA, DATA[:, 0]))), "columns given twice: time"),
    (csv_text()[:-30], "frame 4: "),
    (csv_text().replace("0.02,", "nan,", 1), "expected finite numbers, found 'nan'"),
    (csv_text().replace("0.02,", "x,", 1), "expected a number, found 'x'"),
    (csv_text(data=DATA[:1]), "it has 1 frames, expected at least 2"),
    (with_times(0.0, 0.02, 0.02, 0.06, 0.08), "time doesn't increase at frame 2: 0.02 s after 0.02 s"),
    (with_times(0.0, 0.02, 0.01, 0.06, 0.08), "time doesn't increase at frame 2: 0.01 s after 0.02 s"),
    (with_times(0.0, 0.02, 0.05, 0.06, 0.08), "time steps from 0.01 to 0.03 s: expected even ones"),
    (
        csv_text(data=DATA * ([1.0] * 4 + [2.0] * 4 + [1.0] * 28)),
        "root orientation: frame 0 has a quaternion of length 2",
    ),
    ("", "it is empty"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED, ids=[message[:40] for _, message in MALFORMED])
def test_malformed_tables_give_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message) as caught:
        read_table(write(tmp_path, "table.csv", text))
    assert "\n" not in str(caught.value)


MALFORMED_NPZ = [
    ({"quat_order": None}, "missing: quat_order"),
    ({"quat_order": "zyxw"}, "quat_order 'zyxw': expected xyzw or wxyz"),
    ({"joint_pos": CLIP.joint_pos[:, :-1]}, "joint_pos has the shape"),
    ({"root_quat": CLIP.root_quat[:3]}, "root_quat has the shape"),
    ({"joint_names": np.array(["hip", *spec.JOINT_NAMES[1:]])}, "unknown joint 'hip'"),
    ({"fps": np.zeros(3)}, "fps: expected one number"),
    ({"fps": -1.0}, "frame rate -1 Hz"),
]


@pytest.mark.parametrize(("entries", "message"), MALFORMED_NPZ, ids=[message[:40] for _, message in MALFORMED_NPZ])
def test_malformed_npz_tables_give_one_clear_error(tmp_path: Path, entries: dict, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_table(npz(tmp_path, **entries))
