"""Compares ways of stepping many worlds with native MuJoCo: ``python -m tests.physics.mujoco_cpu.benchmark``.

Prints wall and processor time per physics step for the same standing humanoids with a ball: the raw ceiling
(``mj_step`` on the threads, nothing else), our solver (Newton's conversions included), a thread pool over
``mujoco.mj_step`` and ``mujoco.rollout``. The ways take turns, so that a busy machine slows all alike. Read the ratios,
not the times.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import newton
import numpy as np
from mujoco import rollout

from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu
from tests.physics.mujoco_cpu.scenes import DT, SETTINGS, football_model


def _measure(ways: dict[str, Callable[[], None]], steps: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Best wall time and least processor time per physics step [us] of calls that do ``steps`` of them each."""
    best = {name: (float("inf"), float("inf")) for name in ways}
    for call in ways.values():
        call()
    for _ in range(rounds):
        for name, call in ways.items():
            start, cpu = time.perf_counter(), time.process_time()
            call()
            took = 1e6 * (time.perf_counter() - start) / steps, 1e6 * (time.process_time() - cpu) / steps
            best[name] = min(best[name][0], took[0]), min(best[name][1], took[1])
    return best


def _threads_on(models: list[mujoco.MjModel], datas: list[mujoco.MjData], steps: int) -> None:
    share = [steps // len(models)] * len(models)
    threads = [
        threading.Thread(target=mujoco.mj_step, args=(model, data, count))
        for model, data, count in zip(models, datas, share, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _settled(model: newton.Model, solver: SolverMuJoCoCpu) -> tuple[newton.State, newton.Control]:
    state, control = model.state(), model.control()
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    for _ in range(30):
        solver.step_substeps(state, state, control, DT, 4)
    return state, control


def _spare(solver: SolverMuJoCoCpu, threads: int) -> tuple[list[mujoco.MjModel], list[mujoco.MjData]]:
    """Models and data of their own, in the state of the solver's first worlds."""
    models = [copy.copy(solver._loop.models.models[0]) for _ in range(threads)]
    datas = [mujoco.MjData(model) for model in models]
    for world, data in enumerate(datas):
        for name in ("qpos", "qvel", "ctrl", "qacc_warmstart"):
            getattr(data, name)[:] = getattr(solver.mjw_data, name).numpy()[world]
    return models, datas


def _pool_loop(solver: SolverMuJoCoCpu, threads: int, substeps: int, pool: ThreadPoolExecutor) -> Callable[[], None]:
    """What Python alone can do: each thread copies a world in, steps it, copies it out."""
    models, datas = _spare(solver, threads)
    names = ("qpos", "qvel", "qacc_warmstart", "xpos", "xquat", "cvel")
    arrays = {name: getattr(solver.mjw_data, name).numpy() for name in (*names, "ctrl")}
    worlds = arrays["qpos"].shape[0]

    def work(thread: int) -> None:
        model, data = models[thread], datas[thread]
        for world in range(thread, worlds, threads):
            for name in ("qpos", "qvel", "ctrl", "qacc_warmstart"):
                getattr(data, name)[:] = arrays[name][world]
            mujoco.mj_step(model, data, substeps)
            for name in names:
                arrays[name][world] = getattr(data, name)

    return lambda: list(pool.map(work, range(threads))) and None


def _rollout_loop(solver: SolverMuJoCoCpu, threads: int, substeps: int, runner: rollout.Rollout) -> Callable[[], None]:
    models, datas = _spare(solver, threads)
    data, nq, nv = solver.mjw_data, models[0].nq, models[0].nv
    worlds = data.qpos.shape[0]

    def call() -> None:
        start = np.concatenate([np.zeros((worlds, 1)), data.qpos.numpy(), data.qvel.numpy()], axis=1)
        control = np.repeat(data.ctrl.numpy().astype(np.float64)[:, None], substeps, axis=1)
        warm = data.qacc_warmstart.numpy().astype(np.float64)
        states, _ = runner.rollout(models[0], datas, start, control, nstep=substeps, initial_warmstart=warm)
        data.qpos.numpy()[:] = states[:, -1, 1 : 1 + nq]
        data.qvel.numpy()[:] = states[:, -1, 1 + nq : 1 + nq + nv]

    return call


def main() -> None:
    """Print one line per way and number of threads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--substeps", type=int, default=4)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--foot", default="box")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = football_model(Path(folder), args.worlds, foot=args.foot)
    for threads in args.threads:
        for name, (wall, cpu) in _compare(model, threads, args.substeps, args.rounds).items():
            sys.stdout.write(f"{threads} threads  {name:16s} wall {wall:7.2f} us  cpu {cpu:7.2f} us per step\n")


def _compare(model: newton.Model, threads: int, substeps: int, rounds: int) -> dict[str, tuple[float, float]]:
    solver = SolverMuJoCoCpu(model, num_threads=threads, **SETTINGS)
    state, control = _settled(model, solver)
    spare, steps = _spare(solver, threads), model.world_count * substeps
    with ThreadPoolExecutor(threads) as pool, rollout.Rollout(nthread=threads) as runner:
        ways = {
            "raw mj_step": lambda: _threads_on(*spare, steps),
            "solver": lambda: solver.step_substeps(state, state, control, DT, substeps),
            "loop only": lambda: solver._loop.step(DT, substeps, False),
            "python threads": _pool_loop(solver, threads, substeps, pool),
            "mujoco.rollout": _rollout_loop(solver, threads, substeps, runner),
        }
        return _measure(ways, steps, rounds)


if __name__ == "__main__":
    main()
