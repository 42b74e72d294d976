"""Small clips and motion files that tests write themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sportsuite.characters import spec
from sportsuite.motion.clip import Clip, ObjectTrack
from sportsuite.motion.importers import ballplay, deepmimic, smpl


def random_quats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Unit quaternions of all orientations: a mistaken order or sign can't pass unnoticed."""
    quat = rng.normal(size=(*shape, 4))
    return quat / np.linalg.norm(quat, axis=-1, keepdims=True)


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Largest angle between orientations (..., 4) [rad]; both signs of a quaternion are the same orientation."""
    # the chord, since the arc cosine loses half of the digits near zero
    chord = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return float(4.0 * np.arcsin(np.clip(0.5 * chord, 0.0, 1.0)).max())


def make_clip(frames: int = 12, fps: float = 30.0, seed: int = 0, ball: bool = True) -> Clip:
    """A clip of random, unrelated poses."""
    rng = np.random.default_rng(seed)
    track = ObjectTrack(rng.normal(size=(frames, 3)), random_quats(rng, frames), rng.random(frames) > 0.5)
    return Clip(
        name="sample",
        fps=fps,
        joint_names=spec.JOINT_NAMES,
        root_pos=rng.normal(size=(frames, 3)),
        root_quat=random_quats(rng, frames),
        joint_pos=rng.uniform(-1.5, 1.5, size=(frames, spec.NUM_JOINTS)),
        character="football",
        source="made for a test",
        licence="CC0",
        labels=("kick", "right"),
        loop=True,
        ball=track if ball else None,
    )


BVH_BONES = {
    "Hips": (None, (0.0, 90.0, 0.0)),
    "Spine": ("Hips", (0.0, 10.0, 0.0)),
    "Spine1": ("Spine", (0.0, 15.0, 0.0)),
    "Neck": ("Spine1", (0.0, 25.0, 0.0)),
    "Head": ("Neck", (0.0, 10.0, 0.0)),
    "LeftArm": ("Spine1", (18.0, 20.0, 0.0)),
    "LeftForeArm": ("LeftArm", (28.0, 0.0, 0.0)),
    "LeftHand": ("LeftForeArm", (25.0, 0.0, 0.0)),
    "RightArm": ("Spine1", (-18.0, 20.0, 0.0)),
    "RightForeArm": ("RightArm", (-28.0, 0.0, 0.0)),
    "RightHand": ("RightForeArm", (-25.0, 0.0, 0.0)),
    "LeftUpLeg": ("Hips", (9.0, 0.0, 0.0)),
    "LeftLeg": ("LeftUpLeg", (0.0, -40.0, 0.0)),
    "LeftFoot": ("LeftLeg", (0.0, -42.0, 0.0)),
    "RightUpLeg": ("Hips", (-9.0, 0.0, 0.0)),
    "RightLeg": ("RightUpLeg", (0.0, -40.0, 0.0)),
    "RightFoot": ("RightLeg", (0.0, -42.0, 0.0)),
}
"""Parent and OFFSET [cm] of a small skeleton with the joints that BVH files of walks have."""


def bvh_text(
    angles: dict[str, list[tuple[float, float, float]]] | None = None,
    orders: dict[str, str] | None = None,
    root: list[tuple[float, float, float]] | None = None,
    frame_time: float = 1.0 / 30.0,
) -> str:
    """Write a BVH file.

    Args:
        angles: Euler angles per joint and frame in the order of its channels [deg]; zero where not given.
        orders: Order of a joint's rotation channels, such as ``"ZXY"``, which is the default.
        root: Position channels of the root per frame [cm].
    """
    angles, orders = angles or {}, orders or {}
    root = root or [(0.0, 90.0, 0.0)] * 3
    names: list[str] = []

    def block(name: str, depth: int) -> list[str]:
        names.append(name)
        pad = "  " * depth
        parent, offset = BVH_BONES[name]
        turns = [f"{axis}rotation" for axis in orders.get(name, "ZXY")]
        channels = ([] if parent else ["Xposition", "Yposition", "Zposition"]) + turns
        lines = [f"{pad}{'JOINT' if parent else 'ROOT'} {name}", f"{pad}{{"]
        lines += [
            f"{pad}  OFFSET {' '.join(map(str, offset))}",
            f"{pad}  CHANNELS {len(channels)} {' '.join(channels)}",
        ]
        children = [child for child, (above, _) in BVH_BONES.items() if above == name]
        for child in children:
            lines += block(child, depth + 1)
        if not children:
            lines += [f"{pad}  End Site", f"{pad}  {{", f"{pad}    OFFSET 0 0 7", f"{pad}  }}"]
        return [*lines, f"{pad}}}"]

    hierarchy = block("Hips", 0)
    rows = []
    for frame, position in enumerate(root):
        values = list(position)
        for name in names:
            values += angles.get(name, [(0.0, 0.0, 0.0)] * len(root))[frame]
        rows.append(" ".join(f"{value:.9f}" for value in values))
    head = ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {frame_time:.9f}"]
    return "\n".join(["HIERARCHY", *hierarchy, *head, *rows]) + "\n"


AMC_BONES = {
    "lhipjoint": ("root", (1.0, -1.0, 0.0), 2.0, ""),
    "lfemur": ("lhipjoint", (1.0, 0.0, 0.0), 2.0, "rx"),
    "ltibia": ("lfemur", (0.0, -1.0, 0.0), 7.0, "rx ry rz"),
    "rhipjoint": ("root", (-1.0, -1.0, 0.0), 2.0, ""),
    "rfemur": ("rhipjoint", (0.0, -1.0, 0.0), 7.0, "rx ry rz"),
    "rtibia": ("rfemur", (0.0, -1.0, 0.0), 7.0, "rx"),
    "lowerback": ("root", (0.0, 1.0, 0.0), 2.0, "rx ry rz"),
    "thorax": ("lowerback", (0.0, 1.0, 0.0), 2.0, ""),
    "head": ("thorax", (0.0, 1.0, 0.0), 2.0, "rx"),
    "lclavicle": ("thorax", (1.0, 0.0, 0.0), 2.0, ""),
    "lhumerus": ("lclavicle", (1.0, 0.0, 0.0), 4.0, "rx ry rz"),
    "lradius": ("lhumerus", (1.0, 0.0, 0.0), 4.0, "rx"),
    "rclavicle": ("thorax", (-1.0, 0.0, 0.0), 2.0, ""),
    "rhumerus": ("rclavicle", (-1.0, 0.0, 0.0), 4.0, "rx ry rz"),
    "rradius": ("rhumerus", (-1.0, 0.0, 0.0), 4.0, "rx"),
}
"""Parent, direction, length and degrees of freedom of a small Acclaim skeleton."""

LFEMUR_AXIS = "0 0 90 XYZ"


def asf_text() -> str:
    """Write a skeleton in which only ``lfemur`` turns in a frame of its own: its x axis is the body's y axis."""
    lines = [":version 1.10", ":units", "  mass 1.0", "  length 0.45", "  angle deg", ":root"]
    lines += ["  order TX TY TZ RX RY RZ", "  axis XYZ", "  position 0 0 0", "  orientation 0 0 0", ":bonedata"]
    for number, (name, (_, direction, length, dof)) in enumerate(AMC_BONES.items(), 1):
        axis = LFEMUR_AXIS if name == "lfemur" else "0 0 0 XYZ"
        unit = np.array(direction) / np.linalg.norm(direction)
        lines += ["  begin", f"    id {number}", f"    name {name}", f"    direction {' '.join(map(str, unit))}"]
        lines += [f"    length {length}", f"    axis {axis}", *([f"    dof {dof}"] if dof else []), "  end"]
    lines += [":hierarchy", "  begin"]
    for parent in ("root", *AMC_BONES):
        children = [name for name, (above, *_) in AMC_BONES.items() if above == parent]
        lines += [f"    {parent} {' '.join(children)}"] if children else []
    return "\n".join([*lines, "  end"]) + "\n"


def amc_text(frames: int = 3, **values: str) -> str:
    """Write motion for :func:`asf_text`; values are the numbers of a bone, the same in every frame."""
    lines = ["#!OML:ASF", ":FULLY-SPECIFIED", ":DEGREES"]
    for frame in range(1, frames + 1):
        lines += [str(frame), f"root {values.get('root', '0 9 0 0 0 0')}"]
        for name, (_, _, _, dof) in AMC_BONES.items():
            if dof:
                lines.append(f"{name} {values.get(name, ' '.join('0' for _ in dof.split()))}")
    return "\n".join(lines) + "\n"


def deepmimic_frame(duration: float = 1.0 / 30.0, **values: list[float]) -> list[float]:
    """One frame of a DeepMimic clip at rest; values by joint name, ``root_pos`` included."""
    row = [duration, *values.get("root_pos", [0.0, 0.9, 0.0])]
    for joint, count in deepmimic._COLUMNS:
        row += values.get(deepmimic.JOINTS[joint], [1.0, 0.0, 0.0, 0.0] if count == 4 else [0.0])
    return row


def deepmimic_text(rows: list[list[float]] | None = None, loop: str = "none") -> str:
    """A DeepMimic file."""
    return json.dumps({"Loop": loop, "Frames": rows or [deepmimic_frame()] * 3})


def poselib_content(frames: int = 4, seed: int = 0) -> dict:
    """What a poselib file of the AMP humanoid holds, with random local rotations."""
    rng = np.random.default_rng(seed)

    def wrapped(values: np.ndarray) -> dict:
        return {"arr": values, "context": {"dtype": str(values.dtype)}}

    return {
        "rotation": wrapped(random_quats(rng, frames, spec.NUM_BODIES).astype(np.float32)),
        "root_translation": wrapped(rng.normal(size=(frames, 3)).astype(np.float32)),
        "skeleton_tree": {
            "node_names": list(spec.BODY_NAMES),
            "parent_indices": wrapped(np.array(spec.PARENTS)),
            "local_translation": wrapped(np.array([body.offset for body in spec.BODIES], dtype=np.float32)),
        },
        "is_local": True,
        "fps": np.array(60, dtype=np.int32),
        "__name__": "SkeletonMotion",
    }


def ballplay_tensor(frames: int = 5, seed: int = 0) -> np.ndarray:
    """A BallPlay tensor with random rotations and a plausible standing body, shape (T, 337), float32."""
    data = np.random.default_rng(seed).normal(scale=0.3, size=(frames, 337))
    place = dict(zip(smpl.JOINTS, smpl.rest_joints(), strict=True))
    body = np.array([place.get(joint, (0.0, 0.3, 0.0)) for joint in ballplay.JOINTS])
    data[:, 165:324] = (body[:, [2, 0, 1]] + [0.0, 0.0, 0.9]).ravel()
    data[:, 336] = np.arange(frames) % 2
    return data.astype(np.float32)


def write(folder: Path, name: str, text: str | bytes) -> Path:
    """Write a file and return its path."""
    path = folder / name
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text)
    return path
