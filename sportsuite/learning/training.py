"""Runs a training: environment, rsl_rl runner, budget, progress. What is written is what ``isaaclab train`` writes."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sportsuite.envs.make_env import captured_prints
from sportsuite.errors import BadInputError, unknown_name
from sportsuite.plugins.manager import Task

if TYPE_CHECKING:
    from rsl_rl.runners import OnPolicyRunner

    from sportsuite.learning.agent_cfgs import SportRunnerCfg

__all__ = [
    "LOG_ROOT",
    "Outcome",
    "Progress",
    "TrainRequest",
    "agent_cfg_of",
    "sigterm_as_interrupt",
    "simulation",
    "train",
]

LOG_ROOT = Path("logs") / "rsl_rl"
"""Where runs go, below the working directory; the same as Isaac Lab's."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """What to train and for how long. Of the budgets, the first one that is used up ends the training."""

    task: Task
    size: str
    num_envs: int | None = None
    device: str | None = None
    physics: str | None = None
    seed: int | None = None
    iterations: int | None = None
    """Iterations in total, including those of the run that is resumed."""
    samples: int | None = None
    """Environment steps of all worlds in total, including those of the run that is resumed."""
    minutes: float | None = None
    """Wall time of this process's rollouts and updates [min]."""
    resume: Path | None = None
    """Checkpoint to go on from; the run goes on in its folder unless :attr:`run_dir` is given."""
    warm_start: Path | None = None
    """Checkpoint, perhaps of another task, whose networks a new run begins with."""
    run_dir: Path | None = None
    env_overrides: tuple[str, ...] = ()
    agent_overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How far a training is after an iteration. NaN where there is no figure yet."""

    iteration: int
    samples: int
    samples_per_s: float
    reward: float
    """Sum of rewards per episode, mean over the last 100 episodes."""
    episode_length: float
    """Steps per episode, mean over the last 100 episodes."""
    success_rate: float
    eta_s: float
    done: float
    """Used part of the budget, 0 to 1."""
    scalars: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a training left behind."""

    run_dir: Path
    checkpoint: Path
    iteration: int
    samples: int
    seconds: float
    stopped_by: str
    """``"budget"`` or ``"interrupt"``."""


class _BudgetUsed(Exception):
    """Ends rsl_rl's loop after an iteration."""


def train(
    request: TrainRequest,
    on_start: Callable[[Path, Mapping[str, float]], None] = lambda run_dir, weights: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Outcome:
    """Train a task until its budget is used up or the process is asked to stop (Ctrl-C, SIGTERM).

    Args:
        request: What to train.
        on_start: Called once with the run's folder and the weights of the reward terms.
        on_progress: Called after every iteration.

    Returns:
        Where the run is, and how far it came. The last checkpoint is written in any case.

    Raises:
        BadInputError: If something in the request is wrong.
        SportSuiteError: If training diverges.
    """
    import gymnasium
    from isaaclab_rl.rsl_rl import RslRlVecEnvWrapper, create_rsl_rl_runner

    from sportsuite.learning.warm_start import warm_start

    agent_cfg = _agent_cfg(request)
    run_dir = _run_dir(request, agent_cfg.experiment_name)
    with contextlib.ExitStack() as stack:
        env_cfg = stack.enter_context(simulation(request.task, request.physics, request.device, request.env_overrides))
        env = gymnasium.make(
            request.task.spec.id,
            # a plugin may use Isaac Lab's runner cfg, which doesn't say for how many worlds it was made
            num_envs=request.num_envs or getattr(agent_cfg, "num_envs", None) or env_cfg.scene.num_envs,
            device=request.device,
            physics=request.physics,
            seed=agent_cfg.seed,
            overrides=[*request.env_overrides, f"log_dir={json.dumps(str(run_dir))}"],
        )
        stack.callback(env.close)
        with captured_prints():
            runner = create_rsl_rl_runner(
                RslRlVecEnvWrapper(env, clip_actions=agent_cfg.clip_actions),  # type: ignore[arg-type]
                agent_cfg,
                log_dir=str(run_dir),
            )
        if request.resume is not None:
            _resume(runner, request.resume)
        elif request.warm_start is not None:
            warm_start(runner.alg, env, request.warm_start)
        _write_manifest(request, run_dir, env.unwrapped.cfg, agent_cfg)  # type: ignore[attr-defined]
        on_start(run_dir, _reward_weights(env.unwrapped))
        return _learn(runner, request, agent_cfg, run_dir, on_progress)


def agent_cfg_of(task: Task, size: str) -> SportRunnerCfg:
    """Load a task's agent config of a size, fresh and as the installed rsl_rl takes it.

    Raises:
        BadInputError: If the task has none, or none of that size.
    """
    from isaaclab_rl.rsl_rl import handle_deprecated_rsl_rl_cfg

    if not task.spec.agent_cfgs:
        raise BadInputError(f"task {task.spec.id} is not trained: it has no agent configs")
    if size not in task.spec.agent_cfgs:
        raise unknown_name(f"agent size of {task.spec.id}", size, task.spec.agent_cfgs)
    module, _, attribute = task.spec.agent_cfgs[size].partition(":")
    cfg = getattr(importlib.import_module(module), attribute)()
    return handle_deprecated_rsl_rl_cfg(cfg, importlib.metadata.version("rsl-rl-lib"))  # type: ignore[return-value]


@contextlib.contextmanager
def simulation(task: Task, physics: str | None, device: str | None, overrides: tuple[str, ...] = ()) -> Iterator[Any]:
    """Start what a backend needs around its environment: Isaac Sim for ``isaacsim_physx``, nothing for most.

    Args:
        task: The task.
        physics: Name of the physics preset; None for the default.
        device: Torch device; None for the default.
        overrides: Changes to the env cfg; they are checked here, before anything is started.

    Yields:
        The env cfg that was looked at, with the overrides.

    Raises:
        BadInputError: If the preset or an override is wrong.
    """
    from isaaclab.app import launch_simulation, validate_launch

    from sportsuite.envs.make_env import load_env_cfg
    from sportsuite.envs.overrides import apply_overrides

    cfg = load_env_cfg(task.spec.env_cfg, physics)
    apply_overrides(cfg, overrides)
    options = {"headless": True} | ({"device": device} if device else {})
    scan, kit_sources = validate_launch(cfg, dict(options))
    if not kit_sources and not scan.launcher_types:
        # launch_simulation would only print the traceback of every error that passes through it
        yield cfg
        return
    with launch_simulation(cfg, options):
        yield cfg


def _resume(runner: OnPolicyRunner, checkpoint: Path) -> None:
    runner.load(str(checkpoint))
    if runner.alg.samples:
        # rsl_rl would do the checkpoint's iteration a second time
        runner.current_learning_iteration += 1


def _agent_cfg(request: TrainRequest) -> SportRunnerCfg:
    from sportsuite.envs.overrides import apply_overrides

    cfg = agent_cfg_of(request.task, request.size)
    apply_overrides(cfg, [text.removeprefix("agent.") for text in request.agent_overrides])
    if request.seed is not None:
        cfg.seed = request.seed
    if request.device is not None:
        cfg.device = request.device
    return cfg


def _run_dir(request: TrainRequest, experiment: str) -> Path:
    if request.run_dir is not None:
        return request.run_dir.absolute()
    if request.resume is not None and (request.resume.parent / "run.json").is_file():
        return request.resume.parent.absolute()
    return (LOG_ROOT / experiment / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")).absolute()


def _write_manifest(request: TrainRequest, run_dir: Path, env_cfg: Any, agent_cfg: Any) -> None:
    """Write ``run.json``, by which ``--checkpoint latest`` finds runs, and the configs as YAML."""
    from isaaclab_rl.entrypoints.common import dump_train_configs, write_run_manifest

    is_default = request.size == request.task.spec.default_size
    agent = "rsl_rl_cfg_entry_point" if is_default else f"rsl_rl_{request.size}_cfg_entry_point"
    if not (run_dir / "run.json").is_file():
        write_run_manifest(str(run_dir), library="rsl_rl", task=request.task.spec.id, metadata={"agent": agent})
    dump_train_configs(str(run_dir), env_cfg, agent_cfg)


def _reward_weights(env: Any) -> dict[str, float]:
    manager = env.reward_manager
    return {name: float(manager.get_term_cfg(name).weight) for name in manager.active_terms}


def _learn(
    runner: OnPolicyRunner,
    request: TrainRequest,
    agent_cfg: SportRunnerCfg,
    run_dir: Path,
    on_progress: Callable[[Progress], None],
) -> Outcome:
    per_iteration = runner.env.num_envs * agent_cfg.num_steps_per_env
    budget = _Budget(request, agent_cfg.max_iterations, per_iteration, runner)
    _watch_iterations(runner, lambda scalars: _after_iteration(runner, budget, scalars, on_progress))
    start, stopped_by = time.monotonic(), "budget"
    with sigterm_as_interrupt(), captured_prints(), contextlib.ExitStack() as stack:
        stack.callback(runner.logger.stop_logging_writer)
        # any other exception passes: its weights may be useless, and the last periodic checkpoint stays the newest
        try:
            runner.learn(budget.iterations_left(), init_at_random_ep_len=agent_cfg.init_at_random_ep_len)
        except _BudgetUsed:
            pass
        except KeyboardInterrupt:
            stopped_by = "interrupt"
        iteration = runner.current_learning_iteration
        checkpoint = run_dir / f"model_{iteration}.pt"
        runner.save(str(checkpoint))
    return Outcome(run_dir, checkpoint, iteration, runner.alg.samples, time.monotonic() - start, stopped_by)


def _after_iteration(
    runner: OnPolicyRunner, budget: _Budget, scalars: Mapping[str, float], on_progress: Callable[[Progress], None]
) -> None:
    nan = math.nan
    on_progress(
        Progress(
            iteration=runner.current_learning_iteration,
            samples=runner.alg.samples,
            samples_per_s=scalars.get("Perf/total_fps", nan),
            reward=scalars.get("Train/mean_reward", nan),
            episode_length=scalars.get("Train/mean_episode_length", nan),
            success_rate=next((value for tag, value in scalars.items() if tag.endswith("success_rate")), nan),
            eta_s=budget.seconds_left(),
            done=budget.used(),
            scalars=scalars,
        )
    )
    if budget.used() >= 1.0:
        raise _BudgetUsed


class _Budget:
    """Tells how much of the training is done, by whichever of iterations, samples and minutes is nearest its end."""

    def __init__(self, request: TrainRequest, max_iterations: int, per_iteration: int, runner: OnPolicyRunner):
        self._runner = runner
        self._first = runner.current_learning_iteration
        self._start = time.monotonic()
        self._seconds = request.minutes * 60 if request.minutes is not None else math.inf
        limited = request.samples is not None or request.minutes is not None
        self._iterations = request.iterations or (math.inf if limited else max_iterations)
        if request.samples is not None:
            missing = math.ceil((request.samples - runner.alg.samples) / per_iteration)
            self._iterations = min(self._iterations, self._first + missing)
        if self._iterations <= self._first:
            raise BadInputError(
                f"nothing left to train: the checkpoint is at iteration {self._first - 1} and {runner.alg.samples:,} "
                "samples; --iterations and --samples count from the beginning of its run"
            )

    def iterations_left(self) -> int:
        """Iterations that rsl_rl's loop may run; more than anyone trains where only time is limited."""
        return 10**9 if math.isinf(self._iterations) else int(self._iterations - self._first)

    def used(self) -> float:
        """Used part of this process's budget, 0 to 1."""
        done = self._done() / (self._iterations - self._first)
        return min(1.0, max(done, self._elapsed() / self._seconds))

    def seconds_left(self) -> float:
        """Estimate of the time that is left [s]."""
        by_iterations = self._elapsed() / max(1, self._done()) * (self._iterations - self._first - self._done())
        return max(0.0, min(by_iterations, self._seconds - self._elapsed()))

    def _done(self) -> int:
        return self._runner.current_learning_iteration + 1 - self._first

    def _elapsed(self) -> float:
        return time.monotonic() - self._start


def _watch_iterations(runner: OnPolicyRunner, on_iteration: Callable[[Mapping[str, float]], None]) -> None:
    """Have this one runner report its scalars instead of printing eighty columns per iteration."""
    log = runner.logger.log

    def quiet_log(**kwargs: Any) -> None:
        with captured_prints():
            log(**kwargs)
        writer = runner.logger.writer
        row: Mapping[str, float] = {}
        if hasattr(writer, "flush_row"):
            row = writer.flush_row()  # type: ignore[union-attr]
        on_iteration(row)

    runner.logger.log = quiet_log  # type: ignore[method-assign]


@contextlib.contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Let a polite kill end the training like Ctrl-C does: with a checkpoint."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signum: int, frame: Any) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
