"""Clips in Isaac Lab's own format, among them those that its wheel brings (walk, run, dance)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from sportsuite.characters import spec
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.motion.clip import Clip
from sportsuite.motion.importers._common import (
    bad_file,
    check_finite,
    check_fps,
    continuous,
    unit_quats,
    wxyz_to_xyzw,
)
from sportsuite.motion.npz import read_npz

WHEEL_CLIPS = {"walk": ("walk",), "run": ("run",), "dance": ("dance",)}
"""Names of the clips in the installed isaaclab wheel, with their labels."""

_FIELDS = ("fps", "dof_names", "body_names", "dof_positions", "body_positions", "body_rotations")
_NUMBERS = ("dof_positions", "body_positions", "body_rotations")
_LEAST_FRAMES = 4
_LARGEST = 1e3
"""Largest number that is believed [m, rad] (ours: motion capture fills a hall)."""

_SOLE = 0.05
"""Depth of the sole below the ankle in these clips [m]: they put the lowest body origin at z = 0."""


def wheel_clip_path(name: str) -> Path:
    """Where the installed isaaclab keeps one of its clips.

    Raises:
        BadInputError: If there is no such clip, or isaaclab isn't installed.
    """
    if name not in WHEEL_CLIPS:
        raise unknown_name("clip of the isaaclab wheel", name, WHEEL_CLIPS)
    found = importlib.util.find_spec("isaaclab_tasks")
    if found is None or not found.submodule_search_locations:
        raise BadInputError(f"isaaclab:{name}: the package isaaclab_tasks, which holds the clip, is not installed")
    return Path(found.submodule_search_locations[0]) / "contrib" / "humanoid_amp" / "motions" / f"humanoid_{name}.npz"


def read_isaaclab_npz(path: str | Path, character: str = "football", name: str | None = None) -> Clip:
    """Read a clip of Isaac Lab's 28-DoF humanoid.

    Joints with three degrees of freedom are exponential maps in these files; they become intrinsic x, y, z hinges,
    unwrapped over time. Quaternions are wxyz there. Frames stored twice in a row (30 fps data at 60 fps) are dropped
    together with the rate they pretend to have. The height is constant over the clip up to the source's own drift;
    :func:`sportsuite.motion.foot_lock.lock_feet` puts the feet on the ground.

    Args:
        path: The npz file.
        character: Size of the character to make it for.
        name: Name of the clip; the file's name by default.

    Raises:
        BadInputError: If the file isn't such a clip: what is missing or wrong is named.
    """
    path = Path(path)
    if character not in spec.VARIANTS:
        raise unknown_name("character variant", character, spec.VARIANTS)
    data = _load(path)
    joints, bodies = data["dof_names"].tolist(), data["body_names"].tolist()
    _check_names(joints, bodies, path)
    fps, keep = _distinct_frames(data["dof_positions"], float(data["fps"]))
    if len(keep) < _LEAST_FRAMES:
        raise bad_file(path, f"only {len(keep)} of its frames differ, expected at least {_LEAST_FRAMES}")
    dof = data["dof_positions"][keep][:, [joints.index(joint) for joint in spec.JOINT_NAMES]]
    pelvis = bodies.index("pelvis")
    quat = unit_quats(wxyz_to_xyzw(data["body_rotations"][keep, pelvis]), path, "rotation of the pelvis")
    scale = spec.body_scale(spec.VARIANTS[character].height, "boot")
    return Clip(
        name=name or path.stem,
        fps=fps,
        joint_names=spec.JOINT_NAMES,
        root_pos=(data["body_positions"][keep, pelvis] + [0.0, 0.0, _SOLE]) * scale,
        root_quat=continuous(quat),
        joint_pos=hinges_from_exponential_maps(dof),
        character=character,
        source=f"Isaac Lab, humanoid_amp/{path.name}; CMU motion capture",
        licence="BSD-3-Clause",
        labels=(path.stem.removeprefix("humanoid_"),),
    )


def hinges_from_exponential_maps(dof_pos: np.ndarray) -> np.ndarray:
    """Turn the exponential maps of three-axis joints into intrinsic x, y, z hinge angles.

    Of the two angle triples that describe a rotation, the one nearer the frame before is taken, so that angles are
    continuous in time; the first frame starts near zero.

    Args:
        dof_pos: Shape (T, 28), columns as in :data:`~sportsuite.characters.spec.JOINT_NAMES` [rad].

    Returns:
        Hinge angles, shape (T, 28) [rad].
    """
    out = dof_pos.copy()
    for joint, joint_spec in spec.JOINTS.items():
        if len(joint_spec.axes) == 3:
            first = spec.JOINT_NAMES.index(spec.hinge_name(joint, "x"))
            euler = Rotation.from_rotvec(dof_pos[:, first : first + 3]).as_euler("XYZ")
            out[:, first : first + 3] = unwrap_euler_xyz(euler)
    return out


def unwrap_euler_xyz(euler: np.ndarray) -> np.ndarray:
    """Choose among the equivalent intrinsic x, y, z triples the one nearest the frame before. Shape (T, 3) [rad]."""
    out, before = np.empty_like(euler), np.zeros(3)
    for frame, (x, y, z) in enumerate(euler):
        triples = np.array([[x, y, z], [x + np.pi, np.pi - y, z + np.pi]])
        triples += 2 * np.pi * np.round((before - triples) / (2 * np.pi))
        before = triples[np.abs(triples - before).sum(1).argmin()]
        out[frame] = before
    return out


def _load(path: Path) -> dict[str, np.ndarray]:
    data = read_npz(path, "motion file")
    if missing := [field for field in _FIELDS if field not in data]:
        raise bad_file(path, f"expected an Isaac Lab clip; missing: {', '.join(missing)}")
    for field in _FIELDS:
        kind, wanted = ("U", "names") if field.endswith("_names") else ("fiu", "numbers")
        if data[field].dtype.kind not in kind:
            raise bad_file(path, f"{field}: expected {wanted}, found {data[field].dtype}")
        if wanted == "names" and data[field].ndim != 1:
            raise bad_file(path, f"{field}: expected a list of names, found the shape {data[field].shape}")
    _check_shapes(data, path)
    for field in _NUMBERS:
        data[field] = data[field].astype(np.float64)
        check_finite(data[field], path, field, _LARGEST)
    check_fps(float(data["fps"]), path)
    return data


def _check_shapes(data: dict[str, np.ndarray], path: Path) -> None:
    frames, joints, bodies = np.shape(data["dof_positions"])[:1], data["dof_names"].shape, data["body_names"].shape
    expected = {
        "fps": (),
        "dof_positions": frames + joints,
        "body_positions": (*frames, *bodies, 3),
        "body_rotations": (*frames, *bodies, 4),
    }
    for field, shape in expected.items():
        if data[field].shape != shape:
            raise bad_file(path, f"{field} has the shape {data[field].shape}, expected {shape}")
    if not frames or frames[0] < _LEAST_FRAMES:
        raise bad_file(path, f"it has {frames[0] if frames else 0} frames, expected at least {_LEAST_FRAMES}")


def _check_names(joints: list[str], bodies: list[str], path: Path) -> None:
    if missing := [name for name in spec.JOINT_NAMES if name not in joints]:
        raise bad_file(path, f"expected the 28 joints of Isaac Lab's humanoid; missing: {', '.join(missing)}")
    if "pelvis" not in bodies:
        raise bad_file(path, f"expected a body 'pelvis' among {', '.join(bodies)}")
    for names in (joints, bodies):
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise bad_file(path, f"given twice: {', '.join(twice)}")


def _distinct_frames(dof_pos: np.ndarray, fps: float) -> tuple[float, np.ndarray]:
    """Rate and indices of the frames that aren't copies of the one before, where every second one is."""
    step = np.abs(np.diff(dof_pos, axis=0)).max(axis=1)
    for phase in (0, 1):
        copies, real = step[phase::2], step[1 - phase :: 2]
        if len(copies) > 2 and copies.max() < 1e-3 * np.median(real):
            # the first and the last frame may stand alone: without them the rest is evenly spaced
            return fps / 2.0, np.arange(phase, len(dof_pos), 2)[1:-1]
    return fps, np.arange(len(dof_pos))
