"""Writes assets/motions/fallen_states.npz: the character at rest on the ground after falls.

ASE's and CALM's recipe: random orientation at 0.89 m, one random PD target per joint, 2.5 s of physics, velocities
dropped. The file depends on the physics engine's arithmetic, so it is not rebuilt by build_assets.py; run this after a
change of the character, then build_assets.py to refresh the manifest.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch

from sportsuite.assets import record_assets
from sportsuite.characters.spec import JOINT_NAMES

DROP_HEIGHT = 0.89
TARGET_RANGE = 0.5
SECONDS = 2.5
PHYSICS_HZ = 120


def random_quats(count: int, generator: torch.Generator) -> torch.Tensor:
    """Uniform random orientations, xyzw. Shape is (count, 4)."""
    quat = torch.randn(count, 4, generator=generator)
    return quat / quat.norm(dim=-1, keepdim=True)


def simulate(count: int, seed: int) -> dict[str, np.ndarray]:
    """Drop ``count`` characters and return where they come to rest."""
    from isaaclab.scene import InteractiveScene, InteractiveSceneCfg
    from isaaclab.sim import SimulationCfg, SimulationContext
    from isaaclab.utils import configclass
    from isaaclab_newton.cloner import newton_builder_world_hook
    from isaaclab_newton.physics import NewtonCfg

    from sportsuite.characters.humanoid28 import humanoid28_cfg
    from sportsuite.physics.ground import ground_cfg
    from sportsuite.physics.mujoco_cpu.cfg import MuJoCoCpuSolverCfg
    from sportsuite.physics.soles import soles_hook

    @configclass
    class SceneCfg(InteractiveSceneCfg):
        ground = ground_cfg()
        robot = humanoid28_cfg("football", "boot")

    solver = MuJoCoCpuSolverCfg(njmax=250, nconmax=60, cone="elliptic", integrator="implicitfast")
    physics = NewtonCfg(solver_cfg=solver, num_substeps=2)
    sim = SimulationContext(SimulationCfg(dt=2 / PHYSICS_HZ, device="cpu", physics=physics))
    with newton_builder_world_hook(soles_hook()):
        scene = InteractiveScene(SceneCfg(num_envs=count, env_spacing=4.0))
    sim.reset()
    generator = torch.Generator().manual_seed(seed)
    robot = scene["robot"]
    pose = torch.cat((scene.env_origins, random_quats(count, generator)), dim=-1)
    pose[:, 2] += DROP_HEIGHT
    target = (2.0 * torch.rand(count, len(JOINT_NAMES), generator=generator) - 1.0) * TARGET_RANGE
    limits = robot.data.soft_joint_pos_limits.torch
    target = target.clamp(limits[..., 0], limits[..., 1])
    robot.write_root_pose_to_sim_index(root_pose=pose)
    robot.write_root_velocity_to_sim_index(root_velocity=torch.zeros(count, 6))
    robot.write_joint_position_to_sim_index(position=target)
    robot.write_joint_velocity_to_sim_index(velocity=torch.zeros_like(target))
    robot.actuators.target_command.set_position_index(value=target)
    for _ in range(round(SECONDS * PHYSICS_HZ / 2)):
        scene.write_data_to_sim()
        sim.step(render=False)
        scene.update(2 / PHYSICS_HZ)
    height = robot.data.root_link_pos_w.torch[:, 2] - scene.env_origins[:, 2]
    low = torch.isfinite(height) & (height < 0.6) & (height > 0.0)
    return {
        "root_height": height[low].numpy().astype(np.float32),
        "root_quat": robot.data.root_link_quat_w.torch[low].numpy().astype(np.float32),
        "joint_pos": robot.data.joint_pos.torch[low].numpy().astype(np.float32),
        "joint_names": np.array(JOINT_NAMES),
        "quat_order": np.array("xyzw"),
        "licence": np.array("BSD-3-Clause"),
        "source": np.array("simulated by scripts/build_fallen_states.py"),
    }


def main() -> None:
    """Simulate and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    default = Path(__file__).parents[1] / "assets" / "motions" / "fallen_states.npz"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    states = simulate(args.count, args.seed)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    partial = args.output.with_suffix(".partial.npz")
    np.savez(partial, allow_pickle=False, **states)
    os.replace(partial, args.output)
    root = args.output.parents[1]
    if (root / "manifest.yaml").exists():
        origin = "sportsuite, simulated by scripts/build_fallen_states.py"
        record_assets(root, {args.output.relative_to(root).as_posix(): (origin, "BSD-3-Clause")})
    print(f"{len(states['root_height'])} fallen states in {args.output}")


if __name__ == "__main__":
    main()
