"""Coulomb friction between a ball and the ground on MuJoCo.

MuJoCo relaxes friction: whatever part of the wanted slip removal exceeds the friction cone lifts the ball instead. A
constant rate therefore either lets a sliding ball hop or removes too little slip from a bouncing one. But how much slip
Coulomb friction can remove is known beforehand: the coming normal impulse follows from the ball's flight. Asking for
exactly that much gives the theoretical slide, bounce and roll.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from isaaclab.managers import ActionTerm, ActionTermCfg
from isaaclab.utils import configclass

from sportsuite.physics.ball_contact import BallContactCfg, friction_solref

if TYPE_CHECKING:
    from isaaclab.assets import RigidObject
    from isaaclab.envs import ManagerBasedEnv
    from isaaclab.scene import InteractiveScene

GRAVITY = 9.81
"""Gravitational acceleration [m/s^2], Isaac Lab's default."""

_SLIP_OVER_IMPULSE = 3.5
"""Slip removed per tangential impulse over mass, for a solid ball of inertia 2/5 m r^2: 1 + 5/2."""

_SLOWEST_SLIP = 1e-6
"""Slip that counts as rolling [m/s]."""

_RESTING_HEIGHT = 1e-3
"""Gap below which a rising ball has just left the ground [m] (ours)."""


def coulomb_rate(
    lin_vel_w: torch.Tensor,
    ang_vel_w: torch.Tensor,
    gap: torch.Tensor,
    ball: BallContactCfg,
    step_dt: float,
    substep_dt: float,
) -> torch.Tensor:
    """Share of a ball's slip that Coulomb friction can remove in its next substep of contact with the ground.

    A ball that falls onto the ground within the step arrives with ``v_n = sqrt(v_z^2 + 2 g gap)`` and receives the
    normal impulse ``(1 + e) v_n`` per mass, one that lies there ``g dt``. Friction gives at most ``mu`` times that, and
    each unit removes 3.5 units of slip from a solid ball.

    Args:
        lin_vel_w: Velocities. Shape is (N, 3) [m/s].
        ang_vel_w: Spins. Shape is (N, 3) [rad/s].
        gap: Height of the ball's lowest point over the ground. Shape is (N,) [m].
        ball: The ball.
        step_dt: How long the answer will be used [s].
        substep_dt: Solver substep [s].

    Returns:
        Shares in (0, 1]. Shape is (N,).
    """
    slip_x = lin_vel_w[:, 0] - ball.radius * ang_vel_w[:, 1]
    slip_y = lin_vel_w[:, 1] + ball.radius * ang_vel_w[:, 0]
    slip = torch.hypot(slip_x, slip_y).clamp(min=_SLOWEST_SLIP)
    rising = lin_vel_w[:, 2]
    arrival = (rising.square() + 2.0 * GRAVITY * gap.clamp(min=0.0)).sqrt()
    lands = ((rising + arrival) < GRAVITY * step_dt) & ~((rising > 0.0) & (gap < _RESTING_HEIGHT))
    impulse = GRAVITY * substep_dt + torch.where(lands, (1.0 + ball.restitution) * arrival, 0.0)
    return (_SLIP_OVER_IMPULSE * ball.mu_ground * impulse / slip).clamp(max=1.0)


def ground_friction(scene: InteractiveScene, ball: BallContactCfg, step_dt: float, name: str = "ball") -> Callable:
    """Make the function that sets the ground friction for the coming physics step; call it before each one.

    On PhysX, whose friction needs no help, the function does nothing. The ground must be a plane at the height of each
    environment's origin.

    Args:
        scene: Scene whose simulation has been reset.
        ball: The ball that :func:`~sportsuite.physics.ball_contact.ball_pairs_hook` was given.
        step_dt: Length of a physics step [s].
        name: Scene entity of the ball.
    """
    rates = _live_rates(scene[name].cfg.prim_path.rsplit("/", 1)[-1])
    if rates is None:
        return _nothing
    table, pairs, substep_dt, publish = rates
    entity: RigidObject = scene[name]

    def update() -> None:
        data = entity.data
        gap = data.root_pos_w.torch[:, 2] - scene.env_origins[:, 2] - ball.radius
        velocity, spin = data.root_lin_vel_w.torch, data.root_ang_vel_w.torch
        rate = coulomb_rate(velocity, spin, gap, ball, step_dt, substep_dt)
        _, full = friction_solref(1.0, substep_dt)
        table[:, pairs, 1] = full * rate.unsqueeze(1)
        publish()

    return update


def _nothing() -> None:
    """Set nothing: the backend's own friction is right."""


def _live_rates(ball: str) -> tuple[torch.Tensor, list[int], float, Callable[[], None]] | None:
    """What setting friction takes.

    Returns:
        The solver's friction references (worlds, pairs, 2), the pairs of ball and plane, the substep [s], and a
        function that makes changes count; None on PhysX or without pairs.
    """
    import warp as wp
    from isaaclab.sim import SimulationContext
    from isaaclab_newton.physics import NewtonCfg, NewtonManager

    if not isinstance(SimulationContext.instance().cfg.physics, NewtonCfg):
        return None
    solver: Any = NewtonManager._solver
    if not getattr(getattr(solver, "mj_model", None), "npair", 0):
        return None
    labels = NewtonManager.get_model().shape_label
    shapes = solver.mjc_geom_to_newton_shape.numpy()[0]
    balls = {geom for geom, shape in enumerate(shapes) if shape >= 0 and ball in labels[int(shape)].split("/")}
    model = solver.mj_model
    planes = {geom for geom in range(model.ngeom) if model.geom_type[geom] == 0}
    pairs = [
        pair
        for pair in range(model.npair)
        if (ends := {int(model.pair_geom1[pair]), int(model.pair_geom2[pair])}) & balls and ends & planes
    ]
    table = wp.to_torch(solver.mjw_model.pair_solreffriction)
    return table, pairs, NewtonManager.get_solver_dt(), _publisher(solver)


def _publisher(solver: Any) -> Callable[[], None]:
    """MuJoCo Warp reads its model at every step; the native solver reads only some fields of it as often."""
    from sportsuite.physics.mujoco_cpu import fields

    if not hasattr(solver, "track_contacts") or "pair_solreffriction" in fields.LIVE_FIELDS:
        return _nothing
    return lambda: solver.notify_model_changed(0)


class BallFrictionAction(ActionTerm):
    """Sets the ball's ground friction before every physics step. It takes no action."""

    cfg: BallFrictionActionCfg

    def __init__(self, cfg: BallFrictionActionCfg, env: ManagerBasedEnv):
        super().__init__(cfg, env)
        self._update = ground_friction(env.scene, cfg.ball, env.physics_dt, cfg.asset_name)
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
        """Set the friction for the coming physics step."""
        self._update()

    def reset(self, env_ids: Sequence[int] | None = None) -> None:
        """Do nothing: the friction follows from the ball's state alone."""


@configclass
class BallFrictionActionCfg(ActionTermCfg):
    """Action term, without an action, that gives a ball Coulomb friction on the ground."""

    class_type: type[ActionTerm] = BallFrictionAction

    asset_name: str = "ball"

    ball: BallContactCfg = BallContactCfg()
    """The ball that the contact pairs were made for."""
