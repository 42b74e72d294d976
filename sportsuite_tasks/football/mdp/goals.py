"""What football's goal commands are made of: a common base and the geometry of goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from isaaclab.managers import CommandTerm, CommandTermCfg

from sportsuite.mdp.frames import heading_from_quat
from sportsuite_tasks.football.mdp.foot_choice import FootChoice

if TYPE_CHECKING:
    from sportsuite.envs.sport_env import SportEnv


class GoalCommand(CommandTerm):
    """What football's goals share: the player's heading, means over the episode for the log, time since the change.

    Attributes:
        steps_since_change: Control steps since the goal was drawn. Shape is (num_envs,), long.
        foot: The foot that is asked for, or None where it is free.
    """

    def __init__(self, cfg: CommandTermCfg, env: SportEnv, metrics: tuple[str, ...]):
        super().__init__(cfg, env)
        self._robot = env.scene["robot"].data
        self.steps_since_change = torch.zeros(self.num_envs, dtype=torch.long, device=self.device)
        self.foot = FootChoice(env) if getattr(cfg, "foot_choice", False) else None
        self._starting = False
        self._measured = torch.zeros(self.num_envs, device=self.device)
        for name in metrics:
            self.metrics[name] = torch.zeros(self.num_envs, device=self.device)

    @property
    def heading(self) -> torch.Tensor:
        """(cos yaw, sin yaw) of the root. Shape is (num_envs, 2)."""
        return heading_from_quat(self._robot.root_link_quat_w.torch)

    def reset(self, env_ids: torch.Tensor | slice | None = None) -> dict[str, torch.Tensor]:
        """Log the episode's means, then draw a goal."""
        ids = slice(None) if env_ids is None else env_ids
        for value in self.metrics.values():
            value[ids] /= self._measured[ids].clamp_min(1.0)
        self._starting = True
        logged = super().reset(env_ids)  # type: ignore[arg-type]
        self._starting = False
        self._measured[ids] = 0.0
        return logged

    def _resample_command(self, env_ids: torch.Tensor | slice) -> None:
        ids = torch.arange(self.num_envs, device=self.device)[env_ids].long()
        self.draw(ids)
        self.steps_since_change[ids] = 0
        if self.foot is not None:
            self.foot.draw(ids)

    def draw(self, ids: torch.Tensor) -> None:
        """Draw goals for the given worlds, shape (n,), long."""
        raise NotImplementedError

    def _update_command(self) -> None:
        self.steps_since_change += 1

    def _with_foot(self, goal: torch.Tensor) -> torch.Tensor:
        return goal if self.foot is None else torch.cat((goal, self.foot.one_hot), dim=1)

    def _mirror_with_foot(self, signs: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
        count = len(signs)
        order = list(range(count))
        if self.foot is not None:
            order, signs = [*order, count + 1, count], [*signs, 1.0, 1.0]
        return torch.tensor(order), torch.tensor(signs)


def planar(vector_w: torch.Tensor, heading: torch.Tensor) -> torch.Tensor:
    """Express horizontal world vectors (N, 2) in the heading frame (cos yaw, sin yaw) of shape (N, 2)."""
    cos, sin = heading.unbind(dim=1)
    x, y = vector_w.unbind(dim=1)
    return torch.stack((cos * x + sin * y, cos * y - sin * x), dim=1)


def polar(speed: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """Horizontal vectors of a length and an angle [rad], both of shape (N,). Shape is (N, 2)."""
    return torch.stack((speed * angle.cos(), speed * angle.sin()), dim=1)


def window_open(steps_since: torch.Tensor, window_s: float, step_dt: float) -> torch.Tensor:
    """Whether a step lies in the window after a contact, its own step excluded. Shape is that of ``steps_since``."""
    return (steps_since > 0) & (steps_since <= round(window_s / step_dt))


def kick_velocity(speed: torch.Tensor, yaw: torch.Tensor, elevation: torch.Tensor) -> torch.Tensor:
    """Velocity of a speed [m/s], a direction about the vertical and an elevation [rad], each (N,). Shape is (N, 3)."""
    flat = speed * elevation.cos()
    return torch.stack((flat * yaw.cos(), flat * yaw.sin(), speed * elevation.sin()), dim=1)
