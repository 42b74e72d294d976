"""Air resistance and, where wanted, the Magnus force of a spinning ball."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import torch
from isaaclab.managers import ActionTerm, ActionTermCfg
from isaaclab.utils import configclass

if TYPE_CHECKING:
    from isaaclab.assets import RigidObject
    from isaaclab.envs import ManagerBasedEnv

GRAVITY = 9.81
"""Gravitational acceleration used to predict the ball's velocity [m/s^2], Isaac Lab's default."""


@configclass
class AerodynamicsCfg:
    """Air and how a ball moves through it. The coefficients are ours, of the size wind tunnels give for footballs."""

    air_density: float = 1.2
    """Density of the air [kg/m^3]: 20 degrees at sea level."""

    drag_coefficient: float = 0.25
    """Drag over dynamic pressure times cross-section (ours); footballs have 0.2 to 0.3 at playing speeds."""

    magnus: bool = False
    """Whether spin bends the flight. PhysicsFC leaves it out."""

    lift_slope: float = 1.0
    """Lift coefficient over spin parameter ``r |omega| / |v|`` (ours)."""


@dataclass(frozen=True)
class AerodynamicCoefficients:
    """Factors of the force law of one ball: ``drag`` [kg/m] and ``magnus`` [kg]."""

    drag: float
    magnus: float


def aerodynamic_coefficients(cfg: AerodynamicsCfg, radius: float) -> AerodynamicCoefficients:
    """Factors of the force law for a ball of a radius [m].

    ``drag = rho A C_d / 2`` and ``magnus = rho A r k / 2`` with cross-section ``A = pi r^2`` and lift slope ``k``; no
    Magnus force if it is switched off.
    """
    pressure = 0.5 * cfg.air_density * math.pi * radius**2
    return AerodynamicCoefficients(
        drag=pressure * cfg.drag_coefficient, magnus=pressure * radius * cfg.lift_slope if cfg.magnus else 0.0
    )


def aerodynamic_force_w(
    lin_vel_w: torch.Tensor, ang_vel_w: torch.Tensor, coefficients: AerodynamicCoefficients
) -> torch.Tensor:
    """Force of still air on balls: ``-drag |v| v + magnus (omega x v)``.

    The second part is the lift ``rho A C_L |v|^2 / 2`` with ``C_L = k r |omega| / |v|``, across spin and flight.

    Args:
        lin_vel_w: Velocities. Shape is (N, 3) [m/s].
        ang_vel_w: Spins. Shape is (N, 3) [rad/s].
        coefficients: From :func:`aerodynamic_coefficients`.

    Returns:
        Forces at the centres of mass. Shape is (N, 3) [N].
    """
    drag = -coefficients.drag * lin_vel_w.norm(dim=-1, keepdim=True) * lin_vel_w
    return drag + coefficients.magnus * torch.linalg.cross(ang_vel_w, lin_vel_w)


def mean_force_w(
    lin_vel_w: torch.Tensor,
    ang_vel_w: torch.Tensor,
    coefficients: AerodynamicCoefficients,
    mass: float,
    duration: float,
) -> torch.Tensor:
    """Force to hold constant for a while: the force at the velocity expected in the middle of it (midpoint rule).

    On Newton one physics step spans a whole policy step of 1/30 s, in which a fast ball loses a percent of its speed;
    the force at the start would be wrong by as much throughout.

    Args:
        lin_vel_w: Velocities now. Shape is (N, 3) [m/s].
        ang_vel_w: Spins. Shape is (N, 3) [rad/s].
        coefficients: From :func:`aerodynamic_coefficients`.
        mass: Mass of the ball [kg].
        duration: How long the force is held [s].

    Returns:
        Forces. Shape is (N, 3) [N].
    """
    acceleration = aerodynamic_force_w(lin_vel_w, ang_vel_w, coefficients) / mass
    acceleration[..., 2] -= GRAVITY
    return aerodynamic_force_w(lin_vel_w + 0.5 * duration * acceleration, ang_vel_w, coefficients)


def apply_aerodynamics(
    ball: RigidObject, coefficients: AerodynamicCoefficients, mass: float, physics_dt: float
) -> None:
    """Set the air's force on a ball for the coming physics step. Call it once before every physics step.

    Args:
        ball: The ball.
        coefficients: From :func:`aerodynamic_coefficients`.
        mass: Mass of the ball [kg].
        physics_dt: Length of the physics step [s].
    """
    velocity, spin = ball.data.root_lin_vel_w.torch, ball.data.root_ang_vel_w.torch
    force = mean_force_w(velocity, spin, coefficients, mass, physics_dt).unsqueeze(1)
    ball.permanent_wrench_composer.set_forces_and_torques_index(
        forces=force, torques=torch.zeros_like(force), is_global=True
    )


class AerodynamicsAction(ActionTerm):
    """Applies the air's force before every physics step.

    It takes no action: an action term is the one kind of term that Isaac Lab calls once per physics step.
    """

    cfg: AerodynamicsActionCfg

    def __init__(self, cfg: AerodynamicsActionCfg, env: ManagerBasedEnv):
        super().__init__(cfg, env)
        self._coefficients = aerodynamic_coefficients(cfg.aerodynamics, cfg.radius)
        self._nothing = torch.zeros(self.num_envs, 0, device=self.device)

    @property
    def action_dim(self) -> int:
        """Zero."""
        return 0

    @property
    def raw_actions(self) -> torch.Tensor:
        """Nothing. Shape is (num_envs, 0)."""
        return self._nothing

    @property
    def processed_actions(self) -> torch.Tensor:
        """Nothing. Shape is (num_envs, 0)."""
        return self._nothing

    def process_actions(self, actions: torch.Tensor) -> None:
        """Do nothing."""

    def apply_actions(self) -> None:
        """Set the force for the coming physics step."""
        apply_aerodynamics(cast("RigidObject", self._asset), self._coefficients, self.cfg.mass, self._env.physics_dt)

    def reset(self, env_ids: Sequence[int] | None = None) -> None:
        """Do nothing: the force follows from the ball's velocity alone."""


@configclass
class AerodynamicsActionCfg(ActionTermCfg):
    """Action term, without an action, that lets a ball feel the air."""

    class_type: type[ActionTerm] = AerodynamicsAction

    asset_name: str = "ball"

    aerodynamics: AerodynamicsCfg = AerodynamicsCfg()
    """The air."""

    radius: float = 0.11
    """Radius of the ball [m]."""

    mass: float = 0.45
    """Mass of the ball [kg]."""
