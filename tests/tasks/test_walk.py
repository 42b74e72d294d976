"""Every registered task: its configs load, are fresh, and are documented."""

import importlib
import inspect

import pytest

from sportsuite.plugins import manager

TASKS = [task.spec for task in manager.inventory().tasks.values()]


def load(entry: str):
    module, _, attribute = entry.partition(":")
    return getattr(importlib.import_module(module), attribute)


@pytest.fixture(params=TASKS, ids=lambda spec: spec.id)
def spec(request):
    return request.param


def terms(section):
    found = {} if section is None else vars(section)
    return {name: term for name, term in found.items() if hasattr(term, "func")}


def test_configs_are_fresh_objects(spec):
    first, second = load(spec.env_cfg)(), load(spec.env_cfg)()
    first.scene.num_envs = 7
    for term in terms(first.rewards).values():
        term.weight = 99.0
    assert second.scene.num_envs != 7
    assert all(term.weight != 99.0 for term in terms(second.rewards).values())


def test_it_has_the_physics_presets(spec):
    from sportsuite.physics.presets import PRESET_NAMES

    presets = load(spec.env_cfg)().sim.physics
    assert set(PRESET_NAMES) <= set(type(presets).__dataclass_fields__)


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_the_default_backend_follows_the_device(spec, device):
    from isaaclab_tasks.utils import resolve_presets

    cfg = resolve_presets(load(spec.env_cfg)())
    cfg.sim.device = device
    cfg.finalize()
    expected = "MuJoCoCpuSolverCfg" if device == "cpu" else "MJWarpSolverCfg"
    assert type(cfg.sim.physics.solver_cfg).__name__ == expected
    assert cfg.sim.dt * cfg.decimation == pytest.approx(1 / cfg.control_hz)


@pytest.mark.parametrize("physics", ["newton_mjwarp", "mujoco_cpu", "ovphysx", "isaacsim_physx"])
def test_every_backend_steps_at_the_same_rates(spec, physics):
    from isaaclab_tasks.utils import resolve_presets

    cfg = resolve_presets(load(spec.env_cfg)(), (physics,))
    cfg.finalize()
    cfg.finalize()
    substeps = getattr(cfg.sim.physics, "num_substeps", 1)
    assert cfg.sim.dt / substeps == pytest.approx(1 / cfg.physics_hz)
    assert cfg.sim.dt * cfg.decimation == pytest.approx(1 / cfg.control_hz)


def test_agents_come_in_three_sizes(spec):
    if not spec.agent_cfgs:
        pytest.skip("it plays skills and is not trained")
    sizes = {size: load(entry)() for size, entry in spec.agent_cfgs.items()}
    assert set(sizes) >= {"smoke", "cpu", "gpu"}
    assert sizes["smoke"].num_envs < sizes["cpu"].num_envs < sizes["gpu"].num_envs


def test_time_limits_are_truncations_and_final_observations_are_on(spec):
    cfg = load(spec.env_cfg)()
    limits = [term for name, term in terms(cfg.terminations).items() if "time_out" in name]
    assert limits and all(term.time_out for term in limits)
    assert cfg.compute_final_obs


def test_nonfinite_worlds_are_looked_for_first(spec):
    first = next(iter(terms(load(spec.env_cfg)().terminations).values()))
    assert first.func.__name__ == "nonfinite_state"


def test_every_term_says_what_it_does(spec):
    cfg = load(spec.env_cfg)()
    for section in (cfg.rewards, cfg.terminations, cfg.events, cfg.curriculum):
        for name, term in terms(section).items():
            assert inspect.getdoc(term.func), f"{name} has no docstring"


def test_play_mode_needs_no_training_worlds(spec):
    cfg = load(spec.env_cfg)()
    cfg.play_mode()
    assert cfg.scene.num_envs <= 50
