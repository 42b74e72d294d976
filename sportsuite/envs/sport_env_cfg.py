"""Base config of every sport's environment: rates, physics presets and the one place where derived values are
computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isaaclab.envs import ManagerBasedRLEnvCfg
from isaaclab.utils import configclass
from isaaclab_newton.physics import NewtonCfg

from sportsuite.errors import BadInputError
from sportsuite.physics import presets

_UNSET = 0


@configclass
class SportEnvCfg(ManagerBasedRLEnvCfg):
    """A manager-based environment whose rates are given in Hz and whose backend is a preset.

    Isaac Lab's ``decimation``, ``sim.dt``, ``sim.render_interval`` and the solver's substeps all follow from the two
    rates and differ between backends: :meth:`finalize` derives them after all overrides. Setting one of them by hand is
    refused.
    """

    decimation: int = _UNSET
    """Derived: set :attr:`control_hz` and :attr:`physics_hz`."""

    control_hz: float = 30.0
    """Rate of the policy [Hz]. All four texts act at 30 Hz."""

    physics_hz: float = 120.0
    """Rate of the physics [Hz]: 120 without a ball, 240 with one, 480 where balls exceed 20 m/s (measured: a slower
    rate lets a fast ball gain energy at the body or pass through it)."""

    compute_final_obs: bool = True
    """Terminal observations in ``extras["final_obs"]``, valid in the worlds that ended in this step."""

    dump_nonfinite: bool = True
    """Write the last state of the first world that turns NaN to ``log_dir`` (or the temporary folder)."""

    ball_name: str | None = None
    """Scene entity whose contacts with ``robot`` are tracked per substep, if the sport has one."""

    def steps_per_control(self) -> int:
        """Physics steps per policy step."""
        ratio = self.physics_hz / self.control_hz
        if ratio < 1 or abs(ratio - round(ratio)) > 1e-6:
            raise BadInputError(
                f"physics_hz={self.physics_hz:g}: expected a whole multiple of control_hz={self.control_hz:g}, "
                f"nearest {max(1, round(ratio)) * self.control_hz:g}"
            )
        return round(ratio)

    def substep_dt(self) -> float:
        """Length of one solver step [s]; contact constants depend on it."""
        return 1.0 / self.physics_hz

    def finalize(self) -> None:
        """Compute every derived value, after presets and overrides. Calling it twice changes nothing.

        Raises:
            BadInputError: If the rates don't divide, or a derived value was set by hand.
        """
        self.sim.physics = presets.for_device(self.sim.physics, str(self.sim.device))
        substeps = self.steps_per_control()
        # Newton takes all substeps of a policy step in one call; PhysX has no substeps, so Isaac Lab loops over them
        inner = substeps if presets.is_newton(self.sim.physics) else 1
        derived = {"decimation": substeps // inner, "sim.dt": inner / self.physics_hz}
        self._refuse_manual("decimation", self.decimation, _UNSET, derived["decimation"])
        self._refuse_manual("sim.dt", self.sim.dt, type(self.sim)().dt, derived["sim.dt"])
        self.decimation, self.sim.dt = derived["decimation"], derived["sim.dt"]
        self.sim.render_interval = self.decimation
        if isinstance(self.sim.physics, NewtonCfg):
            self.sim.physics.num_substeps = inner
        self.finalize_scene()

    def _refuse_manual(self, name: str, value: Any, default: Any, derived: Any) -> None:
        if value not in (default, derived):
            raise BadInputError(
                f"{name}={value}: derived from control_hz and physics_hz; set those (expected {derived:g})"
            )

    def finalize_scene(self) -> None:
        """Hook for sports: build scene parts whose constants depend on :meth:`substep_dt` (a bouncing ball)."""

    def ablations(self) -> dict[str, dict[str, Any]]:
        """Hook for sports: named variants of the task, each a set of overrides by dotted path (``--ablate NAME``)."""
        return {}

    def interface_fields(self) -> tuple[str, ...]:
        """Hook for sports: fields that decide what a policy sees and does; they are restored when one is played."""
        return ()

    def world_hooks(self) -> list[Callable]:
        """Hook for sports: functions ``(builder, world, pos, quat)`` that add MuJoCo contact pairs or equality rows."""
        return []

    def late_world_hooks(self) -> list[Callable]:
        """Hook for sports: as :meth:`world_hooks`, but after the soles of boots: all colliders are there."""
        return []
