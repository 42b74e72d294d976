"""MuJoCo Warp and native stepping side by side, from the same states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import newton
import numpy as np
from newton import Contacts
from newton.solvers import SolverMuJoCo

from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu
from tests.physics.mujoco_cpu.scenes import DT, SETTINGS, body_index, start


class Snapshot(NamedTuple):
    """What is compared after a step."""

    q: np.ndarray
    qd: np.ndarray
    contacts: int
    rows: np.ndarray
    qdd: np.ndarray
    parent_f: np.ndarray
    forces: dict[tuple[int, int], np.ndarray]


@dataclass
class Pair:
    """Both solvers, a state and a control for each."""

    warp: SolverMuJoCo
    native: SolverMuJoCoCpu
    states: tuple[newton.State, newton.State]
    control: newton.Control
    model: newton.Model

    def step(self, push: float = 0.0) -> tuple[Snapshot, Snapshot]:
        """One substep of both, pelvis pushed with ``push`` newtons along x."""
        shots = []
        for solver, state in zip((self.warp, self.native), self.states, strict=True):
            state.clear_forces()
            for world in range(self.model.world_count):
                state.body_f.numpy()[body_index(self.model, "pelvis", world), 0] = push * world
            solver.step(state, state, self.control, None, DT)
            shots.append(_snapshot(solver, state))
        return shots[0], shots[1]

    def align(self) -> None:
        """Give both solvers the same state again, and nothing to start their iterations from."""
        for name in ("joint_q", "joint_qd"):
            getattr(self.states[0], name).assign(getattr(self.states[1], name))
        for solver, state in zip((self.warp, self.native), self.states, strict=True):
            newton.eval_fk(self.model, state.joint_q, state.joint_qd, state)
            solver.reset(state, flags=0)


def _snapshot(solver: SolverMuJoCo, state: newton.State) -> Snapshot:
    contacts = Contacts(solver.get_max_contact_count(), 0, device="cpu", requested_attributes={"force"})
    solver.update_contacts(contacts, state)
    count = int(solver.mjw_data.nacon.numpy()[0])
    forces: dict[tuple[int, int], np.ndarray] = {}
    shapes = zip(contacts.rigid_contact_shape0.numpy(), contacts.rigid_contact_shape1.numpy(), strict=True)
    for pair, force in zip(list(shapes)[:count], contacts.force.numpy()[:count, :3], strict=True):
        key = (int(pair[0]), int(pair[1]))
        forces[key] = forces.get(key, np.zeros(3)) + force
    return Snapshot(
        state.joint_q.numpy().copy(),
        state.joint_qd.numpy().copy(),
        count,
        solver.mjw_data.nefc.numpy().copy(),
        state.body_qdd.numpy().copy(),
        state.body_parent_f.numpy().copy(),
        forces,
    )


def make_pair(model: newton.Model, seed: int = 0) -> Pair:
    """Both solvers of a model, from the same disturbed state."""
    solvers = SolverMuJoCo(model, **SETTINGS), SolverMuJoCoCpu(model, num_threads=2, **SETTINGS)
    return Pair(*solvers, (start(model, seed), start(model, seed)), model.control(), model)


def force_difference(ours: Snapshot, theirs: Snapshot) -> tuple[float, float]:
    """Largest difference between the forces of two bodies' contacts, and the largest force [N]."""
    keys = set(ours.forces) | set(theirs.forces)
    zero = np.zeros(3)
    pairs = [(ours.forces.get(key, zero), theirs.forces.get(key, zero)) for key in keys]
    return max(float(np.abs(a - b).max()) for a, b in pairs), max(float(np.abs(a).max()) for a, _ in pairs)
