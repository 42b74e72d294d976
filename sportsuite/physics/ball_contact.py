"""Balls that bounce, slide and roll as theory says, on every backend.

MuJoCo has no coefficient of restitution: a contact is a spring and damper that the solver satisfies once per substep.
Two parameter sets make it bounce:

*Deadbeat*, against things that don't move. The reference acceleration of a contact is ``-b v - k r``. With
``b = (1 + e) / dt`` and hardly any spring, one substep turns the approach speed ``v`` into ``-e v`` whatever ``v`` and
the phase of the substep are. It depends on the substep ``dt``, which therefore has to be known.

*Soft*, against bodies. A jointed body gives way during a substep and its effective mass changes, so a deadbeat contact
can add energy. A spring and damper of natural frequency ``omega`` with ``omega dt`` below one and the damping ratio of
a bounce with restitution ``e``, enforced by nine tenths, never did at the speeds of play.

With ordinary friction the slip of a ball leaks into the normal direction through the friction cone and a sliding ball
hops. Explicit contact pairs may give friction its own, gentler reference; that needs the elliptic cone.

PhysX has restitution, but combines materials and can't treat pairs apart: there a ball bounces off a body as it does
off the ground, and slides on both with ``mu_ground``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from isaaclab.assets import RigidObjectCfg
from isaaclab.sim.schemas import MassCfg, UsdPhysicsCollisionCfg, UsdPhysicsRigidBodyCfg
from isaaclab.sim.spawners.materials import UsdPhysicsRigidBodyMaterialCfg
from isaaclab.utils import configclass
from isaaclab_physx.sim.schemas import PhysxRigidBodyCfg
from isaaclab_physx.sim.spawners.materials import PhysxMaterialCfg

from sportsuite.errors import BadInputError
from sportsuite.physics.ball_looks import BallSpawnCfg
from sportsuite.physics.colliders import world_colliders

Pair = tuple[float, float]


@configclass
class BallContactCfg:
    """A ball and how it touches things. The defaults are a football on grass."""

    radius: float = 0.11
    """Radius [m]; football: diameter 0.22 m (PhysicsFC)."""

    mass: float = 0.45
    """Mass [kg] (PhysicsFC)."""

    restitution: float = 0.8
    """Restitution coefficient against the ground and other fixed things (PhysicsFC)."""

    body_restitution: float = 0.5
    """Restitution coefficient against bodies (ours: a leg is softer than the ground). Not used on PhysX."""

    mu_ground: float = 0.4
    """Friction coefficient against fixed things (ours)."""

    mu_body: float = 0.6
    """Friction coefficient against bodies (ours). Not used on PhysX."""

    omega_dt: float = 0.8
    """Natural frequency times substep of contacts with bodies (ours)."""

    body_impedance: float = 0.9
    """Share of a body contact's reference acceleration that the solver enforces (ours).

    None of 2,000 balls thrown at the standing humanoid at 5 to 20 m/s gained speed at 1/240 s, nor of 1,000 at 20 and
    30 m/s at 1/480 s. At 0.999 a ball that strikes two bodies at once came back up to three times as fast: friction
    between three hard contacts drives them apart.
    """

    friction_rate: float = 0.2
    """Share of the slip that friction may remove per substep before the cone limits it (ours). On level ground
    :mod:`sportsuite.physics.ball_friction` replaces it by what Coulomb friction gives."""

    rolling_friction: float = 0.0
    """Lever arm of the rolling resistance, a torque of this times the normal force [m] (ours: none).
    Not used on PhysX."""

    angular_damping: float = 0.0
    """Rate at which PhysX damps the spin [1/s] (ours: none, as on the other backends)."""

    look: str = "football"
    """Markings: ``football``, ``basketball`` or ``plain``."""


def basketball_contact() -> BallContactCfg:
    """A basketball of size 7: 0.62 kg and 0.1152 m, dropped from 1.8 m it rebounds to about 1.1 m."""
    return BallContactCfg(radius=0.1152, mass=0.62, restitution=0.78, mu_ground=0.8, mu_body=1.0, look="basketball")


_FIXED_IMPEDANCE = 0.999
"""Share of the reference acceleration that the solver enforces in contacts with fixed things. MuJoCo's upper end."""

_NO_SPRING = -1e-3
"""Stiffness entry that leaves only the damper; zero would select MuJoCo's other parameter format."""

_TORSION_FRICTION = 0.005
"""MuJoCo's default torsional friction [m]; without effect unless the pair has torsional friction."""

_MAX_ANGULAR_SPEED_DEG = 57_000.0
"""PhysX's limit on the spin [deg/s]: 1000 rad/s. Its default of 100 rad/s would stop a ball rolling at over 11 m/s."""


def deadbeat_solref(restitution: float, substep_dt: float) -> Pair:
    """MuJoCo ``solref`` of a contact that reverses the approach speed within one substep.

    ``(-k, -b)`` in MuJoCo's direct format with ``b = (1 + e) / dt`` [1/s] and a negligible ``k``: the solver adds
    ``-b v dt = -(1 + e) v`` to the approach speed ``v`` and so leaves ``-e v``. MuJoCo divides by and multiplies with
    the same impedance, so that this holds for every mass.

    Args:
        restitution: Coefficient ``e`` in [0, 1].
        substep_dt: Solver substep [s].

    Raises:
        BadInputError: If an argument is out of range.
    """
    _check(restitution, substep_dt)
    return (_NO_SPRING, -(1.0 + restitution) / substep_dt)


def soft_solref(restitution: float, substep_dt: float, omega_dt: float = 0.8) -> Pair:
    """MuJoCo ``solref`` of a spring-damper contact with a given restitution.

    ``(-omega^2, -2 zeta omega)`` with ``omega = omega_dt / dt`` and ``zeta = -ln e / sqrt(pi^2 + ln^2 e)``, the damping
    ratio at which half a period of a damped oscillator returns ``e`` times the speed.

    Args:
        restitution: Coefficient ``e`` in (0, 1].
        substep_dt: Solver substep [s].
        omega_dt: Natural frequency times substep; explicit integration gains energy as it nears 2.

    Raises:
        BadInputError: If an argument is out of range.
    """
    _check(restitution, substep_dt)
    if not restitution > 0.0:
        raise BadInputError(f"restitution {restitution!r} of a soft contact: expected more than 0")
    if not 0.0 < omega_dt < 2.0:
        raise BadInputError(f"omega_dt {omega_dt!r}: expected a number between 0 and 2")
    log = math.log(restitution)
    zeta = -log / math.hypot(math.pi, log)
    omega = omega_dt / substep_dt
    return (-omega * omega, -2.0 * zeta * omega)


def friction_solref(rate: float, substep_dt: float) -> Pair:
    """MuJoCo ``solreffriction`` that removes the share ``rate`` of the slip per substep, friction cone permitting.

    Args:
        rate: Share in (0, 1].
        substep_dt: Solver substep [s].
    """
    if not 0.0 < rate <= 1.0:
        raise BadInputError(f"friction rate {rate!r}: expected a number above 0 and up to 1")
    return (_NO_SPRING, -rate / substep_dt)


def ball_cfg(ball: BallContactCfg, prim_path: str = "{ENV_REGEX_NS}/Ball") -> RigidObjectCfg:
    """Make the scene entry of a ball resting on the ground at the environment's origin; a fresh object per call.

    On Newton the contacts come from :func:`ball_pairs_hook`, because they depend on the substep; on PhysX from the
    material given here.
    """
    material = [
        UsdPhysicsRigidBodyMaterialCfg(
            static_friction=ball.mu_ground, dynamic_friction=ball.mu_ground, restitution=ball.restitution
        ),
        # The ground has friction 1 and no restitution: the ball's own values must prevail.
        PhysxMaterialCfg(friction_combine_mode="min", restitution_combine_mode="max"),
    ]
    rigid = [
        UsdPhysicsRigidBodyCfg(),
        PhysxRigidBodyCfg(
            linear_damping=0.0,
            angular_damping=ball.angular_damping,
            max_angular_velocity=_MAX_ANGULAR_SPEED_DEG,
            sleep_threshold=0.0,
        ),
    ]
    spawn = BallSpawnCfg(
        radius=ball.radius,
        look=ball.look,
        mass_props=[MassCfg(mass=ball.mass)],
        rigid_props=rigid,
        collision_props=[UsdPhysicsCollisionCfg(collision_enabled=True)],
        physics_material=material,
        activate_contact_sensors=True,
    )
    state = RigidObjectCfg.InitialStateCfg(pos=(0.0, 0.0, ball.radius))
    return RigidObjectCfg(prim_path=prim_path, spawn=spawn, init_state=state)


def ball_pairs_hook(ball: BallContactCfg, substep_dt: float, ball_name: str = "Ball") -> Callable[..., None]:
    """Make a world hook that adds the ball's contact pairs, for ``isaaclab_newton.cloner.newton_builder_world_hook``.

    Every collider of the same world or of the shared world gets a pair with the ball: deadbeat if it is fixed, soft if
    it belongs to a body, whatever that body's prim is called.

    Args:
        ball: The ball.
        substep_dt: Solver substep [s]: physics step over number of substeps.
        ball_name: Name of the ball's prim.

    Returns:
        A hook ``(builder, world, position, quaternion) -> None``. It raises ``BadInputError`` if a world has no such
        ball.
    """
    fixed, body = _pair_values(ball, substep_dt)

    def hook(builder: Any, world: int, position: object, quaternion: object) -> None:
        current, colliders = builder.current_world, world_colliders(builder)
        balls = [index for index in colliders if ball_name in builder.shape_label[index].split("/")]
        if not balls:
            raise BadInputError(f"no collider below a prim named {ball_name!r} in world {world}: nothing to bounce")
        for ball_shape in balls:
            for other in colliders:
                if other in balls:
                    continue
                values = fixed if builder.shape_body[other] < 0 else body
                builder.add_custom_values(
                    **{"mujoco:pair_world": current, "mujoco:pair_geom1": other, "mujoco:pair_geom2": ball_shape},
                    **values,
                )

    return hook


def _pair_values(ball: BallContactCfg, substep_dt: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Contact parameters of a pair with a fixed thing and with a body, as Newton's custom attributes."""

    def values(solref: Pair, mu: float, impedance: float) -> dict[str, Any]:
        rolling = ball.rolling_friction
        return {
            "mujoco:pair_condim": 6 if rolling > 0.0 else 3,
            "mujoco:pair_solref": solref,
            "mujoco:pair_solreffriction": friction_solref(ball.friction_rate, substep_dt),
            "mujoco:pair_solimp": (impedance, impedance, 1e-3, 0.5, 2.0),
            "mujoco:pair_margin": 0.0,
            "mujoco:pair_gap": 0.0,
            "mujoco:pair_friction": (mu, mu, _TORSION_FRICTION, rolling, rolling),
        }

    return (
        values(deadbeat_solref(ball.restitution, substep_dt), ball.mu_ground, _FIXED_IMPEDANCE),
        values(soft_solref(ball.body_restitution, substep_dt, ball.omega_dt), ball.mu_body, ball.body_impedance),
    )


def _check(restitution: float, substep_dt: float) -> None:
    if not 0.0 <= restitution <= 1.0:
        raise BadInputError(f"restitution {restitution!r}: expected a number from 0 to 1")
    if not substep_dt > 0.0:
        raise BadInputError(f"substep {substep_dt!r} s: expected a positive number")
