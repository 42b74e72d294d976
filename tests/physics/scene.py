"""A small scene for physics tests: ground, humanoid and ball under a simulation context, without an environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from isaaclab.app import launch_simulation
from isaaclab.scene import InteractiveScene, InteractiveSceneCfg
from isaaclab.sensors import ContactSensorCfg
from isaaclab.sim import SimulationCfg, SimulationContext
from isaaclab.sim.utils.stage import close_stage
from isaaclab.utils import configclass

from sportsuite.characters import spec
from sportsuite.characters.humanoid28 import humanoid28_cfg
from sportsuite.physics.ball_contact import BallContactCfg, ball_cfg, ball_pairs_hook
from sportsuite.physics.ball_friction import ground_friction
from sportsuite.physics.contacts import add_touch_sensor
from sportsuite.physics.ground import ground_cfg
from sportsuite.physics.soles import soles_hook

SUBSTEP_DT = 1 / 240
SUBSTEPS = {"newton_mjwarp": 2, "mujoco_cpu": 2, "ovphysx": 1}
"""Solver substeps per physics step; PhysX has none."""


@dataclass
class Scene:
    """A running scene and the few writes and reads that the tests need."""

    sim: SimulationContext
    scene: InteractiveScene
    dt: float
    ball_spec: BallContactCfg

    def __post_init__(self) -> None:
        self._set_friction = ground_friction(self.scene, self.ball_spec, self.dt)

    @property
    def robot(self) -> Any:
        return self.scene["robot"]

    @property
    def ball(self) -> Any:
        return self.scene["ball"]

    @property
    def num_envs(self) -> int:
        return self.scene.num_envs

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self._set_friction()
            self.scene.write_data_to_sim()
            self.sim.step(render=False)
            self.scene.update(self.dt)

    def place_robot(self, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """Zero pose at rest, standing, moved by ``offset`` [m]."""
        count, robot = self.num_envs, self.robot
        pose = torch.zeros(count, 7)
        pose[:, :3] = self.scene.env_origins + torch.tensor(offset)
        pose[:, 2] += robot.data.default_root_pose.torch[:, 2]
        pose[:, 6] = 1.0
        robot.write_root_pose_to_sim_index(root_pose=pose)
        robot.write_root_velocity_to_sim_index(root_velocity=torch.zeros(count, 6))
        robot.write_joint_position_to_sim_index(position=torch.zeros(count, spec.NUM_JOINTS))
        robot.write_joint_velocity_to_sim_index(velocity=torch.zeros(count, spec.NUM_JOINTS))
        self.target(torch.zeros(count, spec.NUM_JOINTS))

    def target(self, angles: torch.Tensor) -> None:
        """PD targets (num_envs, 28) [rad]."""
        self.robot.actuators.target_command.set_position_index(value=angles)

    def place_ball(
        self, position: torch.Tensor, velocity: torch.Tensor | None = None, spin: torch.Tensor | None = None
    ) -> None:
        """Ball state relative to each environment's origin; (num_envs, 3) or (3,) each [m, m/s, rad/s]."""
        pose = torch.zeros(self.num_envs, 7)
        pose[:, :3] = self.scene.env_origins + position
        pose[:, 6] = 1.0
        motion = torch.zeros(self.num_envs, 6)
        if velocity is not None:
            motion[:, :3] = velocity
        if spin is not None:
            motion[:, 3:] = spin
        self.ball.write_root_pose_to_sim_index(root_pose=pose)
        self.ball.write_root_velocity_to_sim_index(root_velocity=motion)

    def ball_position(self) -> torch.Tensor:
        return self.ball.data.root_pos_w.torch - self.scene.env_origins

    def ball_velocity(self) -> torch.Tensor:
        return self.ball.data.root_lin_vel_w.torch.clone()

    def ball_spin(self) -> torch.Tensor:
        return self.ball.data.root_ang_vel_w.torch.clone()


def physics_cfg(backend: str) -> Any:
    """Solver settings of a backend, large enough for one humanoid and one ball."""
    if backend == "ovphysx":
        from isaaclab_ov.physics import OvPhysxCfg

        return OvPhysxCfg()
    from isaaclab_newton.physics import MJWarpSolverCfg, NewtonCfg

    from sportsuite.physics.mujoco_cpu.cfg import MuJoCoCpuSolverCfg

    solver = {"newton_mjwarp": MJWarpSolverCfg, "mujoco_cpu": MuJoCoCpuSolverCfg}[backend]
    settings = {"cone": "elliptic", "integrator": "implicitfast", "iterations": 30, "ls_iterations": 30}
    return NewtonCfg(solver_cfg=solver(njmax=200, nconmax=48, **settings), num_substeps=SUBSTEPS[backend])


def scene_cfg(backend: str, num_envs: int, ball: BallContactCfg) -> InteractiveSceneCfg:
    """Ground, football humanoid, ball and the sensors that tests read."""

    @configclass
    class SceneCfg(InteractiveSceneCfg):
        ground = ground_cfg()
        robot = humanoid28_cfg()
        ball: Any = None
        feet = ContactSensorCfg(prim_path="{ENV_REGEX_NS}/Robot/.*_foot")
        ball_touch: Any = None

    cfg = SceneCfg(num_envs=num_envs, env_spacing=8.0)
    cfg.ball = ball_cfg(ball)
    if backend == "ovphysx":
        add_touch_sensor(cfg)
    return cfg


@contextmanager
def running_scene(backend: str, num_envs: int = 4, ball: BallContactCfg | None = None) -> Iterator[Scene]:
    """Build a scene on the CPU and close it afterwards."""
    ball = ball or BallContactCfg()
    if backend == "ovphysx":
        from sportsuite.physics.ovphysx_cpu import allow_ovphysx_without_cuda

        allow_ovphysx_without_cuda()
    dt = SUBSTEP_DT * SUBSTEPS[backend]
    sim_cfg = SimulationCfg(dt=dt, device="cpu", physics=physics_cfg(backend))
    with ExitStack() as stack:
        stack.enter_context(launch_simulation(sim_cfg, {"headless": True, "device": "cpu"}))
        # runs after the context is gone: its stage would otherwise lie in the next simulation's way
        stack.callback(close_stage)
        sim = SimulationContext(sim_cfg)
        stack.callback(sim.clear_instance)
        if backend != "ovphysx":
            from isaaclab_newton.cloner import newton_builder_world_hook

            stack.enter_context(newton_builder_world_hook(ball_pairs_hook(ball, SUBSTEP_DT)))
            stack.enter_context(newton_builder_world_hook(soles_hook()))
        scene = InteractiveScene(scene_cfg(backend, num_envs, ball))
        sim.reset()
        yield Scene(sim, scene, dt, ball)
