"""Which bodies touched the ball, with nothing missed between two policy steps.

Isaac Lab's contact sensor shows the last substep only, and a kick can begin and end within one. The tracker adds up the
normal impulse of every substep instead, and finds bodies by name: the order of a sensor's columns differs between
backends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
import warp as wp

from sportsuite.characters.spec import BODY_NAMES
from sportsuite.errors import BadInputError, SportSuiteError, unknown_name
from sportsuite.physics.touch_kernel import add_normal_impulses

if TYPE_CHECKING:
    from isaaclab.scene import InteractiveScene, InteractiveSceneCfg

TOUCH_SENSOR = "ball_touch"
"""Name under which :func:`add_touch_sensor` adds its sensor to a scene."""


_ROUNDING = 1e-4
"""Share of the forces on known bodies below which the remaining force counts as rounding (float32 sums)."""


class TouchTracker:
    """Impulses that the ball exchanged with each body since the last :meth:`clear`.

    Attributes:
        body_names: Names of the columns of :attr:`impulse` but the last. With several robots a name is
            ``"<robot prim>/<body>"``.
        impulse: Sum of normal force times substep. Shape is (num_envs, num_bodies + 1) [N s]; the last column is
            everything else that the ball touched, such as the ground. The tensor stays the same object.
    """

    def __init__(self, body_names: Sequence[str], impulse: torch.Tensor, on_close: Callable[[], None]):
        self.body_names = tuple(body_names)
        self.impulse = impulse
        self._on_close = on_close
        self._closed = False

    @property
    def touched(self) -> torch.Tensor:
        """Bodies that touched the ball since the last :meth:`clear`. Shape is (num_envs, num_bodies), bool."""
        return self.impulse[:, :-1] > 0.0

    def slot(self, body: str) -> int:
        """Column of a body in :attr:`impulse`.

        Raises:
            BadInputError: If the body isn't tracked.
        """
        if body not in self.body_names:
            raise unknown_name("tracked body", body, self.body_names)
        return self.body_names.index(body)

    def clear(self, env_ids: torch.Tensor | slice | None = None) -> None:
        """Start new sums in the given worlds, or in all."""
        self.impulse[slice(None) if env_ids is None else env_ids] = 0.0

    def close(self) -> None:
        """Stop tracking and forget the simulation; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self._on_close()


def make_touch_tracker(env: Any) -> TouchTracker:
    """Make the tracker of an environment whose ball is the scene entity ``env.cfg.ball_name``.

    Call it after the simulation was reset and before its first step; :func:`track_touches` says what it raises.
    """
    return track_touches(env.scene, ball=env.cfg.ball_name)


def track_touches(
    scene: InteractiveScene,
    ball: str = "ball",
    robots: Sequence[str] = ("robot",),
    bodies: Sequence[str] = BODY_NAMES,
) -> TouchTracker:
    """Start to track the ball's contacts on whatever backend the scene runs.

    Args:
        scene: Scene whose simulation has been reset and not stepped: a CUDA graph captures the callbacks with its
            first step.
        ball: Scene entity of the ball.
        robots: Scene entities of the characters.
        bodies: Bodies of each character to tell apart.

    Raises:
        BadInputError: If a body is named that a character doesn't have, or an entity that the scene doesn't have.
        SportSuiteError: On PhysX, if the scene has no sensor from :func:`add_touch_sensor`.
    """
    _check_names(scene, ball, robots, bodies)
    robot_prims = [_prim_name(scene[name].cfg.prim_path) for name in robots]
    paths = [(prim, body) for prim in robot_prims for body in bodies]
    names = list(bodies) if len(robots) == 1 else [f"{prim}/{body}" for prim, body in paths]
    ball_prim = _prim_name(scene[ball].cfg.prim_path)
    solver = _newton_solver()
    if solver is None:
        return _track_with_sensor(scene, ball_prim, paths, names)
    slots, balls = _geom_slots(solver, ball_prim, paths)
    if hasattr(solver, "track_contacts"):
        total = solver.track_contacts([bool(flag) for flag in balls], slots, len(names))
        return TouchTracker(names, wp.to_torch(total), _nothing)
    return _track_with_kernel(solver, slots, balls, names)


def add_touch_sensor(
    scene_cfg: InteractiveSceneCfg,
    ball: str = "ball",
    robots: Sequence[str] = ("robot",),
    bodies: Sequence[str] = BODY_NAMES,
) -> None:
    """Add the contact sensor that tracking needs on PhysX to a scene's configuration; elsewhere it is only a cost.

    Arguments are those of :func:`track_touches`. Adding it twice changes nothing.
    """
    from isaaclab.sensors import ContactSensorCfg

    filters = [f"{getattr(scene_cfg, robot).prim_path}/{body}" for robot in robots for body in bodies]
    sensor = ContactSensorCfg(prim_path=getattr(scene_cfg, ball).prim_path, filter_prim_paths_expr=filters)
    setattr(scene_cfg, TOUCH_SENSOR, sensor)


def _nothing() -> None:
    """Release nothing: the native solver drops its trackers when it is closed."""


def _prim_name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _check_names(scene: InteractiveScene, ball: str, robots: Sequence[str], bodies: Sequence[str]) -> None:
    for entity in (ball, *robots):
        if entity not in (known := scene.keys()):
            raise unknown_name("scene entity", entity, known)
    for robot in robots:
        for body in bodies:
            if body not in scene[robot].body_names:
                raise unknown_name(f"body of {robot!r}", body, scene[robot].body_names)


def _newton_solver() -> Any | None:
    """The running MuJoCo solver of the Newton backend, or None on other backends."""
    from isaaclab.sim import SimulationContext
    from isaaclab_newton.physics import NewtonCfg, NewtonManager

    sim = SimulationContext.instance()
    if sim is None:
        raise SportSuiteError("contacts can't be tracked before there is a simulation")
    if not isinstance(sim.cfg.physics, NewtonCfg):
        return None
    if not hasattr(NewtonManager._solver, "mjc_geom_to_newton_shape"):
        raise BadInputError(f"solver {type(NewtonManager._solver).__name__}: contacts are tracked on MuJoCo's only")
    return NewtonManager._solver


def _geom_slots(solver: Any, ball: str, paths: Sequence[tuple[str, str]]) -> tuple[list[int], list[int]]:
    """Column of each MuJoCo geom (-1 for "anything else") and whether it is the ball; all worlds share the order."""
    from isaaclab_newton.physics import NewtonManager

    labels = NewtonManager.get_model().shape_label
    slots, balls = [], []
    for shape in solver.mjc_geom_to_newton_shape.numpy()[0]:
        label = labels[int(shape)] if shape >= 0 else ""
        matches = (slot for slot, (robot, body) in enumerate(paths) if f"/{robot}/{body}/" in label)
        slots.append(next(matches, -1))
        balls.append(int(ball in label.split("/")))
    if not any(balls):
        raise BadInputError(f"no collider below a prim named {ball!r}: there is no ball whose touches to track")
    return slots, balls


def _track_with_kernel(solver: Any, slots: Sequence[int], balls: Sequence[int], names: Sequence[str]) -> TouchTracker:
    """Read MuJoCo Warp's contacts after every substep.

    Newton calls back before each substep and after the last one of a step. Before a substep the solver still holds the
    contacts of the substep before it; before the first one those have been counted already.
    """
    from isaaclab_newton.physics import NewtonManager

    device = solver.model.device
    slot_array = wp.array([slot if slot >= 0 else len(names) for slot in slots], dtype=int, device=device)
    ball_array = wp.array(list(balls), dtype=int, device=device)
    total = wp.zeros((solver.mjw_data.nworld, len(names) + 1), dtype=float, device=device)
    pyramidal = int(solver.mj_model.opt.cone == 0)
    uncounted = False

    def count() -> None:
        data = solver.mjw_data
        contact = data.contact
        inputs = [data.nacon, contact.geom, contact.worldid, contact.dim, contact.efc_address, data.efc.force]
        inputs += [slot_array, ball_array, pyramidal, NewtonManager.get_solver_dt(), total]
        wp.launch(add_normal_impulses, dim=data.naconmax, inputs=inputs, device=device)

    def before_substep(state: object) -> None:
        nonlocal uncounted
        if uncounted:
            count()
        uncounted = True

    def after_step() -> None:
        nonlocal uncounted
        count()
        uncounted = False

    def stop() -> None:
        NewtonManager.unregister_post_step_callback(after_step)
        # Isaac Lab has no public way to take a state-force callback back.
        with contextlib.suppress(ValueError):
            NewtonManager._state_force_callbacks.remove(before_substep)

    NewtonManager.register_state_force_callback(before_substep)
    NewtonManager.register_post_step_callback(after_step)
    return TouchTracker(names, wp.to_torch(total), stop)


class _SensorSum:
    """Adds up a contact sensor's forces. The scene updates it once per physics step, after the sensor."""

    supports_batch_update = False

    def __init__(self, sensor: Any, total: torch.Tensor, columns: Sequence[int]):
        self._sensor = sensor
        self._total = total
        self._columns = torch.tensor(columns, device=total.device)

    def update(self, dt: float, force_recompute: bool = False) -> None:
        """Take in one physics step of ``dt`` [s]."""
        data = self._sensor.data
        matrix = data.normal_force_matrix_w.torch[:, 0]
        self._total[:, :-1] += dt * matrix.norm(dim=-1)[:, self._columns]
        rest = (data.net_normal_forces_w.torch[:, 0] - matrix.sum(dim=1)).norm(dim=-1)
        known = matrix.norm(dim=-1).sum(dim=1)
        self._total[:, -1] += dt * torch.where(rest > _ROUNDING * known, rest, 0.0)

    def reset(self, env_ids: Sequence[int] | None = None, env_mask: object = None) -> None:
        """Do nothing: the sums are cleared by their owner."""


def _track_with_sensor(
    scene: InteractiveScene, ball: str, paths: Sequence[tuple[str, str]], names: Sequence[str]
) -> TouchTracker:
    """Read PhysX's contact report after every physics step (it has no substeps)."""
    sensor = scene.sensors.get(TOUCH_SENSOR)
    if sensor is None or _prim_name(sensor.cfg.prim_path) != ball:
        raise SportSuiteError(
            f"tracking contacts of {ball!r} on PhysX needs its contact sensor: call add_touch_sensor(cfg.scene) before"
            " the scene is built"
        )
    reported = [tuple(path.rsplit("/", 2)[-2:]) for path in sensor.cfg.filter_prim_paths_expr]
    missing = sorted(set(paths) - set(reported))
    if missing:
        raise BadInputError(
            f"sensor {TOUCH_SENSOR!r} doesn't report {missing[0]}: give add_touch_sensor the same bodies"
        )
    total = torch.zeros(scene.num_envs, len(names) + 1, device=scene.device)
    key = f"{TOUCH_SENSOR}_sum"
    sensors: dict[str, Any] = scene.sensors
    sensors[key] = _SensorSum(sensor, total, [reported.index(path) for path in paths])

    def stop() -> None:
        sensors.pop(key, None)

    return TouchTracker(names, total, stop)
