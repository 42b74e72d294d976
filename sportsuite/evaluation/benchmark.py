"""How fast a task steps on each physics backend, where the time goes, and how far that is from what MuJoCo itself can
do.

Every row is measured in a process of its own: one environment per process, and the memory of one row is not another's.
Rows differ in backend, worlds and threads only; actions, seed and warm-up are the same, so that their ratios mean
something.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sportsuite.errors import SportSuiteError

ACTION_NOISE = 0.05
"""Standard deviation of the actions [action units]: joints move, characters mostly stay up (ours)."""

WARM_UP_STEPS = 15
"""Steps before the clock starts: contacts have formed, lazily built things are built (ours)."""

_MARK = "sportsuite-bench-row:"


@dataclass(frozen=True)
class BenchRow:
    """One measurement.

    Attributes:
        physics: Name of the physics preset.
        num_envs: Number of worlds.
        threads: Threads that step worlds.
        env_steps_per_s: Environment steps of all worlds per second of wall time, without a policy.
        physics_share: Share of the step time inside Isaac Lab's physics step: solver, conversions, sensors.
        solver_share: Share inside the solver's stepping alone.
        conversion_share: Share in conversions between Newton's and MuJoCo's layout.
        manager_share: Share in everything else: managers' terms, resets, Python.
        policy_ms: Time of one forward pass of a [256, 128] network over all worlds [ms], not part of a step.
        make_s: Time from ``gym.make`` to the end of the first step, imports included [s].
        rss_mb: Resident memory of the process at the end [MB].
        ceiling_env_steps_per_s: Raw ``mj_step`` on the same model, states and threads; None where there is no MuJoCo
            model.
    """

    physics: str
    num_envs: int
    threads: int
    env_steps_per_s: float
    physics_share: float
    solver_share: float
    conversion_share: float
    manager_share: float
    policy_ms: float
    make_s: float
    rss_mb: float
    ceiling_env_steps_per_s: float | None


class _Stopwatch:
    """Sums the time spent inside wrapped methods; time inside a nested one counts for both."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def wrap(self, owner: Any, method: str, name: str) -> None:
        inner = getattr(owner, method)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

        setattr(owner, method, timed)


def measure(task: str, physics: str, num_envs: int, threads: int, steps: int, ceiling: bool = True) -> BenchRow:
    """Measure one row in this process.

    Args:
        task: Task id.
        physics: Physics preset.
        num_envs: Number of worlds.
        threads: Threads that step worlds; backends that have one thread ignore it.
        steps: Steps to time.
        ceiling: Whether to measure raw MuJoCo beside it.
    """
    import gymnasium as gym
    import psutil
    import torch

    import sportsuite  # noqa: F401

    started = time.perf_counter() - _process_age()
    options: dict[str, Any] = {"sim.physics.solver_cfg.num_threads": threads} if physics == "mujoco_cpu" else {}
    env = gym.make(task, num_envs=num_envs, device="cpu", physics=physics, seed=0, **options).unwrapped
    generator = torch.Generator().manual_seed(0)
    shape = (num_envs, env.action_manager.total_action_dim)

    def act() -> None:
        env.step(torch.randn(shape, generator=generator) * ACTION_NOISE)

    env.reset(seed=0)
    act()
    make_s = time.perf_counter() - started
    for _ in range(WARM_UP_STEPS):
        act()
    watch = _Stopwatch()
    solver = _instrument(env, watch)
    begin = time.perf_counter()
    for _ in range(steps):
        act()
    total = time.perf_counter() - begin
    spent = watch.seconds
    native = spent.get("native", spent.get("solver", 0.0))
    row = BenchRow(
        physics=physics,
        num_envs=num_envs,
        threads=threads if physics == "mujoco_cpu" else 1,
        env_steps_per_s=num_envs * steps / total,
        physics_share=spent["physics"] / total,
        solver_share=native / total,
        conversion_share=max(0.0, spent.get("solver", native) - native) / total,
        manager_share=1.0 - spent["physics"] / total,
        policy_ms=_policy_ms(env),
        make_s=make_s,
        rss_mb=psutil.Process().memory_info().rss / 2**20,
        ceiling_env_steps_per_s=_raw_mujoco(env, solver, threads, steps) if ceiling and solver is not None else None,
    )
    env.close()
    return row


def _process_age() -> float:
    import psutil

    return time.time() - psutil.Process().create_time()


def _instrument(env: Any, watch: _Stopwatch) -> Any:
    """Time the physics step, the solver and its native loop; returns the solver if it is a MuJoCo one."""
    from sportsuite.physics.presets import is_newton

    watch.wrap(env.sim, "step", "physics")
    if not is_newton(env.cfg.sim.physics):
        return None
    solver = env.sim.physics_manager._solver
    loop = getattr(solver, "_loop", None)
    watch.wrap(solver, "step_substeps" if loop is not None else "step", "solver")
    if loop is not None:
        watch.wrap(loop, "step", "native")
    return solver


def _policy_ms(env: Any) -> float:
    import torch

    observation = env.observation_manager.compute()["policy"]
    net = torch.nn.Sequential(
        torch.nn.Linear(observation.shape[1], 256),
        torch.nn.ReLU(),
        torch.nn.Linear(256, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, env.action_space.shape[1]),
    )
    with torch.inference_mode():
        net(observation)
        begin = time.perf_counter()
        for _ in range(10):
            net(observation)
    return 100.0 * (time.perf_counter() - begin)


def _raw_mujoco(env: Any, solver: Any, threads: int, steps: int) -> float:
    """Env steps per second of bare ``mj_step`` calls: same model, current states and controls, same substeps and
    threads.

    Each world's position, velocity and warm start are carried over between its steps, nothing else is read or written.
    """
    import copy

    import mujoco
    import numpy as np

    template = copy.copy(solver.mj_model)
    template.opt.timestep = env.cfg.substep_dt()
    substeps = env.cfg.steps_per_control()
    data = solver.mjw_data
    names = ("qpos", "qvel", "ctrl", "qacc_warmstart", "qfrc_applied")
    state = {name: np.array(getattr(data, name).numpy(), dtype=np.float64) for name in names}
    worlds = np.array_split(np.arange(env.num_envs), threads)
    rounds = max(3, steps // 4)

    def run(ids: np.ndarray) -> None:
        model = copy.copy(template)
        scratch = mujoco.MjData(model)
        for _ in range(rounds):
            for world in ids:
                for name in names:
                    getattr(scratch, name)[:] = state[name][world]
                mujoco.mj_step(model, scratch, substeps)
                for name in ("qpos", "qvel", "qacc_warmstart"):
                    state[name][world] = getattr(scratch, name)

    pool = [threading.Thread(target=run, args=(ids,)) for ids in worlds]
    begin = time.perf_counter()
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    return env.num_envs * rounds / (time.perf_counter() - begin)


def measure_all(
    task: str,
    plan: Iterable[tuple[str, int, int]],
    steps: int,
    on_row: Callable[[BenchRow], None] = lambda row: None,
) -> list[BenchRow]:
    """Measure rows one after the other, each in a fresh process.

    Args:
        task: Task id.
        plan: (physics, num_envs, threads) per row.
        steps: Steps to time per row.
        on_row: Called with each finished row.

    Raises:
        SportSuiteError: If a row's process fails; names the row and the last line it wrote.
    """
    rows = []
    for physics, num_envs, threads in plan:
        arguments = [task, physics, str(num_envs), str(threads), str(steps)]
        done = subprocess.run(
            [sys.executable, "-m", "sportsuite.evaluation.benchmark", *arguments], capture_output=True, text=True
        )
        marked = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
        if done.returncode or not marked:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise SportSuiteError(f"bench {physics}, {num_envs} worlds, {threads} threads: {last}")
        rows.append(BenchRow(**json.loads(marked[-1].removeprefix(_MARK))))
        on_row(rows[-1])
    return rows


def ceiling_of(rows: list[BenchRow]) -> dict[str, Any]:
    """The native backend's best row against the raw MuJoCo measured beside it."""
    native = [
        (row.env_steps_per_s, row.ceiling_env_steps_per_s, row)
        for row in rows
        if row.physics == "mujoco_cpu" and row.ceiling_env_steps_per_s is not None
    ]
    if not native:
        return {}
    reached, ceiling, best = max(native, key=lambda entry: entry[0])
    return {
        "env_steps_per_s": ceiling,
        "num_envs": best.num_envs,
        "threads": best.threads,
        "reached": reached / ceiling,
    }


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import psutil

    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
    }


if __name__ == "__main__":
    _task, _physics, _num_envs, _threads, _steps = sys.argv[1:]
    result = measure(_task, _physics, int(_num_envs), int(_threads), int(_steps))
    sys.stdout.write(f"{_MARK}{json.dumps(asdict(result))}\n")
