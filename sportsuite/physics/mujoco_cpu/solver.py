"""Newton's MuJoCo solver with native stepping of every world on the CPU."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import warp as wp
from newton import BodyFlags, Control, Model, ModelFlags, State
from newton.solvers import SolverMuJoCo

from sportsuite.errors import BadInputError
from sportsuite.physics.mujoco_cpu.constants import DerivedConstants
from sportsuite.physics.mujoco_cpu.native import NativeLoop
from sportsuite.physics.mujoco_cpu.replay import Replay
from sportsuite.physics.mujoco_cpu.workers import usable_cores


class _WithoutKernels:
    """MJWarp's module with the functions that would compile kernels for constants taken out.

    ``mj_setConst`` covers ``set_const_fixed``; lengths of muscles are not supported at all.
    """

    def __init__(self, module: object) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        return getattr(self._module, name)

    def set_const_fixed(self, model: object, data: object) -> None:
        """Do nothing: ``mj_setConst`` computes these."""

    def set_length_range(self, model: object, data: object) -> None:
        """Do nothing: muscles are refused when the solver is built."""

    def step(self, model: object, data: object) -> None:
        """Refuse: this solver never steps with MJWarp."""
        raise RuntimeError("SolverMuJoCoCpu steps with native MuJoCo, not with MJWarp's kernels")


class SolverMuJoCoCpu(SolverMuJoCo):
    """:class:`newton.solvers.SolverMuJoCo` whose step runs native MuJoCo for every world on several threads.

    Newton's conversions keep working on MJWarp's arrays (``mjw_model``, ``mjw_data``), which are plain host memory on
    the CPU device; only the step itself and the derivation of model constants are replaced. After a step these of
    ``mjw_data`` are current: the fields of ``fields.OUTPUT_FIELDS``, ``contact`` with ``nacon`` and ``ncollision``,
    ``efc.force``, ``nefc``, ``ne``, ``nf``, ``nl`` and ``solver_niter``; all belong to the last substep. Other
    intermediate results stay inside the threads.

    ``mjw_data.eq_active`` and the fields of ``mjw_model`` in ``fields.LIVE_FIELDS`` (equality rows, contact pairs) are
    read at every step, so other code may write them directly. Every other model value counts once
    :meth:`notify_model_changed` says that it changed.

    A world whose position or velocity is NaN, infinite or beyond 1e10 is not stepped: its coordinates become NaN and it
    has no contacts until finite coordinates are written. No other world is touched. Results do not depend on the
    number of threads.

    Args:
        model: Newton model on the CPU device.
        num_threads: Threads that step worlds; 0 means every core this process may use.
        **kwargs: Arguments of :class:`newton.solvers.SolverMuJoCo`.

    Raises:
        BadInputError: The model or an argument needs something that is not supported; names it.
        RuntimeError: The installed MuJoCo cannot be called natively.
    """

    def __init__(self, model: Model, *, num_threads: int = 0, **kwargs: Any) -> None:
        if num_threads < 0:
            raise BadInputError(f"num_threads is {num_threads}; expected 0 (every core) or a positive number")
        _refuse_arguments(model, kwargs)
        self._loop: NativeLoop | None = None
        self._constants: DerivedConstants | None = None
        self._models_stale = True
        self._before, self._after = Replay("conversion to MuJoCo"), Replay("conversion to Newton")
        self._mujoco_warp = _WithoutKernels(self.import_mujoco()[1])
        super().__init__(model, **kwargs)
        _refuse_model(self.mj_model, model)
        self._fusible = not bool((self.mj_model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL)).any())
        self._loop = NativeLoop(self.mj_model, self.mjw_model, self.mjw_data, num_threads or usable_cores())
        self._close = weakref.finalize(self, self._loop.close)

    # -- what went wrong so far -------------------------------------------------------------------------------------

    @property
    def contact_overflow(self) -> int:
        """Contacts so far that acted but were not reported, for want of room in ``mjw_data.contact``."""
        return self._loop.report.contact_overflow

    @property
    def row_overflow(self) -> int:
        """Constraint rows so far that acted but whose forces were not reported, being beyond ``njmax``."""
        return self._loop.report.row_overflow

    @property
    def warnings(self) -> dict[str, int]:
        """How many times a world raised each of MuJoCo's warnings in a step, by name (``BADQACC``, ...)."""
        return dict(self._loop.report.warnings)

    @property
    def can_fuse_substeps(self) -> bool:
        """Whether several substeps with the same controls and forces may run as one call.

        False with ball joints, whose controls Newton converts anew from the joint's orientation at every substep.
        """
        return self._fusible

    # -- stepping ---------------------------------------------------------------------------------------------------

    def step(self, state_in: State, state_out: State, control: Control, contacts: object, dt: float) -> None:
        """Advance every world by one substep.

        Args:
            state_in: State to start from.
            state_out: State to write; may be ``state_in``.
            control: Targets and forces.
            contacts: Unused, MuJoCo finds the contacts.
            dt: Substep [s].

        Raises:
            RuntimeError: MuJoCo met an error; names the world and the cause.
        """
        self.step_substeps(state_in, state_out, control, dt, 1)

    def step_substeps(self, state_in: State, state_out: State, control: Control, dt: float, count: int) -> None:
        """Advance every world by several substeps under constant controls and applied forces.

        Args:
            state_in: State to start from; its ``body_f`` acts in every substep.
            state_out: State to write; may be ``state_in``.
            control: Targets and forces, constant over the substeps.
            dt: Substep [s].
            count: Number of substeps.

        Raises:
            RuntimeError: MuJoCo met an error; names the world and the cause.
        """
        self._validate_rne_postconstraint(state_out)
        sync = self.update_data_interval > 0 and self._step % self.update_data_interval == 0
        arrays = (sync, *_arrays(state_in), *_arrays(state_out), *_control_arrays(control))
        with wp.ScopedDevice(self.model.device):
            self._before.run(arrays, lambda: self._convert_inputs(state_in, control, sync))
            if self._models_stale:
                self._loop.update_models(self._constants.dof_m0)
                self._models_stale = False
            with_rne = state_out.body_qdd is not None or state_out.body_parent_f is not None
            self._loop.step(float(dt), count, with_rne)
            self._after.run(
                arrays, lambda: self._update_newton_state(self.model, state_out, self.mjw_data, state_prev=state_in)
            )
        self._step += count

    def _convert_inputs(self, state: State, control: Control, sync: bool) -> None:
        """Write controls, forces and, if ``sync``, coordinates of Newton's state into MJWarp's arrays."""
        self._apply_mjc_control(self.model, state, control, self.mjw_data)
        if sync:
            self._update_mjc_data(self.mjw_data, self.model, state)

    # -- touches ----------------------------------------------------------------------------------------------------

    def track_contacts(
        self, tracked_geoms: Sequence[bool] | np.ndarray, slot_of_geom: Sequence[int] | np.ndarray, num_slots: int
    ) -> wp.array:
        """Accumulate the normal impulses that tracked geoms exchange with others, over every substep from now on.

        Args:
            tracked_geoms: (ngeom,) True for the geoms to follow (a ball's), in MuJoCo's order
                (``mjc_geom_to_newton_shape`` maps them to Newton's shapes).
            slot_of_geom: (ngeom,) the column in which the touch of a tracked geom with this geom is booked; -1 for the
                last column, "anything else". A touch of two tracked geoms is booked once, in the first one's column.
            num_slots: Number of columns before "anything else".

        Returns:
            (worlds, num_slots + 1) float32, sum over substeps of normal force times substep [N s]. It is the caller's:
            ``wp.to_torch`` shows it without a copy, and zeroing it (see :meth:`clear_tracked`) starts a new sum.

        Raises:
            BadInputError: A length is not the number of geoms, or a slot is out of range.
        """
        tracked, slots = np.asarray(tracked_geoms), np.asarray(slot_of_geom)
        ngeom = self.mj_model.ngeom
        if tracked.shape != (ngeom,) or slots.shape != (ngeom,):
            raise BadInputError(
                f"tracked_geoms {tracked.shape} and slot_of_geom {slots.shape} must both have one entry for each of the"
                f" {ngeom} geoms"
            )
        if slots.size and (slots.min() < -1 or slots.max() >= num_slots):
            raise BadInputError(f"slot_of_geom spans {slots.min()}..{slots.max()}; expected -1..{num_slots - 1}")
        out = wp.zeros((self.mjw_data.nworld, num_slots + 1), dtype=wp.float32, device=self.model.device)
        self._loop.add_tracker(tracked, slots, out)
        return out

    @staticmethod
    def clear_tracked(impulses: wp.array, world_mask: np.ndarray | None = None) -> None:
        """Start new sums.

        Args:
            impulses: Array returned by :meth:`track_contacts`.
            world_mask: (worlds,) True where the sum starts anew; all worlds if not given.
        """
        impulses.numpy()[slice(None) if world_mask is None else world_mask] = 0.0

    # -- model changes ----------------------------------------------------------------------------------------------

    def notify_model_changed(self, flags: ModelFlags | int) -> None:
        """Take over changed parts of the Newton model; they count from the next step on.

        Args:
            flags: What changed.
        """
        super().notify_model_changed(flags)
        self._models_stale = True
        self._before.invalidate()
        self._after.invalidate()

    def _set_const_0_with_physical_meaninertia(self) -> None:
        """Derive the model constants with ``mj_setConst`` instead of MJWarp's forward pipeline."""
        if self._constants is None:
            self._constants = DerivedConstants(self.mj_model, int(self.mjw_data.nworld))
        self._constants.update(self.mjw_model)


def _arrays(state: State) -> tuple[object, ...]:
    """Every array of a state that a step reads or writes."""
    own = getattr(state, "mujoco", None)
    return (
        *(
            state.joint_q,
            state.joint_qd,
            state.body_q,
            state.body_qd,
            state.body_f,
            state.body_qdd,
            state.body_parent_f,
        ),
        getattr(own, "qfrc_actuator", None),
    )


def _control_arrays(control: Control | None) -> tuple[object, ...]:
    """Every array of a control that a step reads."""
    if control is None:
        return ()
    own = getattr(control, "mujoco", None)
    return (control.joint_f, control.joint_target_q, control.joint_target_qd, getattr(own, "ctrl", None))


def _refuse_arguments(model: Model, kwargs: dict[str, Any]) -> None:
    """Raise for what the arguments already show to be unsupported."""
    if model.device.is_cuda:
        raise BadInputError(f"mujoco_cpu steps on the CPU; the model is on {model.device}: use newton_mjwarp there")
    if kwargs.get("use_mujoco_cpu"):
        raise BadInputError("use_mujoco_cpu steps the first world only; mujoco_cpu needs it to be False")
    if kwargs.get("enable_sleeping"):
        raise BadInputError("mujoco_cpu does not support enable_sleeping; expected False")
    if not kwargs.get("use_mujoco_contacts", True):
        raise BadInputError("mujoco_cpu finds contacts with MuJoCo; use_mujoco_contacts must be True")
    if kwargs.get("separate_worlds") is False:
        raise BadInputError("mujoco_cpu steps one MuJoCo world per Newton world; separate_worlds must not be False")


def _refuse_model(mj_model: mujoco.MjModel, model: Model) -> None:
    """Raise for parts of the model that native stepping has not been verified with."""
    found = {
        "tendons": mj_model.ntendon,
        "flexes": mj_model.nflex,
        "plugins": mj_model.nplugin,
        "height fields": mj_model.nhfield,
        "delays or interpolated sensors (history)": getattr(mj_model, "nhistory", 0),
        "muscles": int((mj_model.actuator_dyntype == int(mujoco.mjtDyn.mjDYN_MUSCLE)).sum()),
        "kinematic bodies": int(((model.body_flags.numpy() & int(BodyFlags.KINEMATIC)) != 0).sum()),
        "models without a degree of freedom": int(mj_model.nv == 0),
        "bodies compiled to a diagonal inertia": int(((mj_model.body_simple != 0) & (mj_model.body_dofnum > 0)).sum()),
        "sleeping": int(bool(mj_model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP))),
        "the RK4 integrator": int(mj_model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4),
    }
    missing = [f"{name} ({count})" for name, count in found.items() if count]
    if missing:
        raise BadInputError(f"mujoco_cpu does not support {', '.join(missing)}; use newton_mjwarp for this model")
