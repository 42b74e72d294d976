"""Command terms that any sport can use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg
from isaaclab.utils import configclass

from sportsuite.mdp import frames
from sportsuite.mdp.symmetry import direction_map

if TYPE_CHECKING:
    from isaaclab.envs import ManagerBasedRLEnv


class HeadingCommand(CommandTerm):
    """Where to go and how fast, facing that way: the target heading task of AMP (Peng et al. 2021).

    Goals come in steps; what is asked for turns and changes speed towards them no faster than a body can.

    Attributes:
        goal_direction_w: Where to go in the end, unit vector in the ground plane, world frame. Shape is (num_envs, 2).
        goal_speed: Speed along it [m/s]. Shape is (num_envs,).
        direction_w: Where to go now, as :attr:`goal_direction_w`.
        speed: How fast now [m/s]. Shape is (num_envs,).
        steps_since_change: Control steps since the goal changed. Shape is (num_envs,), long.
    """

    cfg: HeadingCommandCfg

    def __init__(self, cfg: HeadingCommandCfg, env: ManagerBasedRLEnv):
        super().__init__(cfg, env)
        self._robot = env.scene[cfg.asset_name]
        self.direction_w = torch.zeros(self.num_envs, 2, device=self.device)
        self.direction_w[:, 0] = 1.0
        self.speed = torch.zeros(self.num_envs, device=self.device)
        self.goal_direction_w, self.goal_speed = self.direction_w.clone(), self.speed.clone()
        self.steps_since_change = torch.zeros(self.num_envs, dtype=torch.long, device=self.device)
        self._starting = False
        for name in ("speed_error", "heading_error_deg"):
            self.metrics[name] = torch.zeros(self.num_envs, device=self.device)
        self._measured = torch.zeros(self.num_envs, device=self.device)

    @property
    def command(self) -> torch.Tensor:
        """What is asked for now: direction in the heading frame (2), speed [m/s] (1). Shape is (num_envs, 3)."""
        angle = self._angle_to(self.direction_w)
        return torch.stack((angle.cos(), angle.sin(), self.speed), dim=1)

    def _angle_to(self, direction_w: torch.Tensor) -> torch.Tensor:
        heading = frames.heading_from_quat(self._robot.data.root_link_quat_w.torch)
        return frames.angle_between(heading, direction_w)

    def mirror_map(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Index and sign of the mirrored command, see :mod:`sportsuite.mdp.symmetry`."""
        return direction_map(3)

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Log the mean errors of the episode, then draw new commands; some fit the state the episode starts from."""
        ids = slice(None) if env_ids is None else env_ids
        for name in ("speed_error", "heading_error_deg"):
            self.metrics[name][ids] /= self._measured[ids].clamp_min(1.0)
        self._starting = True
        logged = super().reset(env_ids)  # type: ignore[arg-type]
        self._starting = False
        self._measured[ids] = 0.0
        return logged

    def _resample_command(self, env_ids: torch.Tensor | slice) -> None:
        ids = torch.arange(self.num_envs, device=self.device)[env_ids].long()
        n = len(ids)
        speed = torch.empty(n, device=self.device).uniform_(*self.cfg.speed_range)
        speed[torch.rand(n, device=self.device) < self.cfg.stand_fraction] = 0.0
        heading = frames.heading_from_quat(self._robot.data.root_link_quat_w.torch[ids])
        turn = torch.empty(n, device=self.device).uniform_(-self.cfg.turn_range, self.cfg.turn_range)
        if self._starting:
            fits = torch.rand(n, device=self.device) < self.cfg.fitting_fraction
            moving = self._robot.data.root_link_lin_vel_w.torch[ids, :2].norm(dim=1).clamp(*self.cfg.speed_range)
            speed = torch.where(fits, moving, speed)
            turn = torch.where(fits, torch.zeros_like(turn), turn)
            self.direction_w[ids], self.speed[ids] = heading, moving
        self.goal_direction_w[ids] = frames.turn(heading, turn)
        self.goal_speed[ids] = speed
        self.steps_since_change[ids] = 0

    def _update_command(self) -> None:
        self.steps_since_change += 1
        most = self.cfg.turn_rate * self._env.step_dt
        angle = frames.angle_between(self.direction_w, self.goal_direction_w)
        self.direction_w = frames.turn(self.direction_w, angle.clamp(-most, most))
        most = self.cfg.acceleration * self._env.step_dt
        self.speed += (self.goal_speed - self.speed).clamp(-most, most)

    def speed_along(self) -> torch.Tensor:
        """Speed of the root in the goal's direction [m/s]. Shape is (num_envs,)."""
        return (self._robot.data.root_link_lin_vel_w.torch[:, :2] * self.goal_direction_w).sum(dim=1)

    def heading_error(self) -> torch.Tensor:
        """Angle between facing and the goal's direction [rad]. Shape is (num_envs,)."""
        return self._angle_to(self.goal_direction_w).abs()

    def settled_error(self) -> torch.Tensor:
        """Mean difference of the speed from the goal's, where it didn't just change [m/s]; infinite if nowhere."""
        error = (self.speed_along() - self.goal_speed).abs()[self._settled()]
        return error.mean() if len(error) else torch.tensor(math.inf)

    def _settled(self) -> torch.Tensor:
        return self.steps_since_change * self._env.step_dt >= self.cfg.settling_s

    def _update_metrics(self) -> None:
        settled = self._settled()
        self.metrics["speed_error"] += (self.speed_along() - self.goal_speed).abs() * settled
        self.metrics["heading_error_deg"] += self.heading_error().rad2deg() * settled
        self._measured += settled


@configclass
class HeadingCommandCfg(CommandTermCfg):
    """Config of :class:`HeadingCommand`."""

    class_type: type = HeadingCommand

    asset_name: str = "robot"

    resampling_time_range: tuple[float, float] = (3.0, 6.0)
    """Time between changes [s]; CALM changes every 100 to 200 steps of 1/30 s."""

    speed_range: tuple[float, float] = (0.0, 4.0)
    """Speeds that are asked for [m/s] (ours: standing to running)."""

    stand_fraction: float = 0.1
    """Probability of the speed 0 (ours): drawn from a range it would never come up."""

    turn_range: float = math.pi
    """Largest turn away from the present heading [rad]."""

    turn_rate: float = 2.0
    """How fast the direction asked for turns towards the goal's [rad/s] (ours: half a turn takes 1.6 s); infinite for
    the steps of AMP's task, whose large turns are where a character with few samples falls."""

    acceleration: float = 2.0
    """How fast the speed asked for approaches the goal's [m/s^2] (ours); infinite for steps."""

    fitting_fraction: float = 0.5
    """Probability that an episode's first command is the speed and heading the character starts with (ours)."""

    settling_s: float = 2.0
    """Time after a change that the metrics leave out [s] (ours)."""
