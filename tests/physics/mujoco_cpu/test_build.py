"""What cannot be stepped natively is refused when the solver is built, by name."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import mujoco
import newton
import pytest
import warp as wp
from newton.solvers import SolverMuJoCo

from sportsuite.physics import mujoco_cpu
from sportsuite.physics.mujoco_cpu import layout, workers
from sportsuite.physics.mujoco_cpu.solver import SolverMuJoCoCpu
from tests.physics.mujoco_cpu.scenes import SETTINGS, ball_model


@pytest.fixture(scope="module")
def balls() -> newton.Model:
    return ball_model(1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"enable_sleeping": True}, "enable_sleeping"),
        ({"use_mujoco_contacts": False}, "use_mujoco_contacts"),
        ({"use_mujoco_cpu": True}, "use_mujoco_cpu"),
        ({"separate_worlds": False}, "separate_worlds"),
        ({"num_threads": -1}, "num_threads is -1"),
        ({"integrator": "rk4"}, "RK4"),
    ],
)
def test_unsupported_arguments_are_named(balls: newton.Model, arguments: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        SolverMuJoCoCpu(balls, **{**SETTINGS, **arguments})


def test_another_device_is_named() -> None:
    model = SimpleNamespace(device=SimpleNamespace(is_cuda=True, __str__=lambda self: "cuda:0"))
    with pytest.raises(ValueError, match="newton_mjwarp"):
        SolverMuJoCoCpu(model)  # type: ignore[arg-type]


TENDON = """<mujoco><worldbody><body name="a"><joint name="h" type="hinge"/><geom size="0.1"/></body></worldbody>
<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon></mujoco>"""


def _from_mjcf(text: str) -> newton.Model:
    builder = newton.ModelBuilder()
    SolverMuJoCo.register_custom_attributes(builder)
    builder.add_mjcf(text)
    return builder.finalize(device="cpu")


def test_tendons_are_named() -> None:
    with pytest.raises(ValueError, match=r"tendons \(1\)"):
        SolverMuJoCoCpu(_from_mjcf(TENDON))


def test_kinematic_bodies_are_named() -> None:
    builder = newton.ModelBuilder()
    SolverMuJoCo.register_custom_attributes(builder)
    body = builder.add_body(xform=wp.transform_identity(), is_kinematic=True)
    builder.add_shape_sphere(body, radius=0.1)
    with pytest.raises(ValueError, match=r"kinematic bodies \(1\)"):
        SolverMuJoCoCpu(builder.finalize(device="cpu"))


def test_zero_threads_means_every_usable_core(balls: newton.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: set(range(3)), raising=False)
    assert workers.usable_cores() == 3
    # No more threads than worlds: they would have nothing to do.
    assert len(SolverMuJoCoCpu(balls, num_threads=8, **SETTINGS)._loop.models.datas) == 1


def test_the_cfg_makes_the_native_solver() -> None:
    cfg = mujoco_cpu.MuJoCoCpuSolverCfg(njmax=77, cone="elliptic")
    assert cfg.num_threads == 0 and cfg.njmax == 77
    module, name = str(cfg.class_type).split(":")
    assert getattr(importlib.import_module(module), name) is mujoco_cpu.NewtonMuJoCoCpuManager
    with pytest.raises(AttributeError, match="SolverMuJoCoCpu"):
        mujoco_cpu.Solver  # noqa: B018


def test_importing_the_package_loads_no_simulator() -> None:
    code = (
        "import sys, sportsuite.physics.mujoco_cpu; "
        "sys.exit(len({'warp', 'numba', 'torch', 'newton'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_a_library_laid_out_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = layout.data_offsets()
    with pytest.raises(RuntimeError, match="newton_mjwarp"):
        layout._check(right._replace(ncon=right.ncon + 4), layout.contact_offsets())
    with pytest.raises(RuntimeError, match="mjData.no_such_field"):
        layout.offset(layout.struct_type("mjData"), "no_such_field")
    with pytest.raises(RuntimeError, match="no struct 'mjNothing'"):
        layout.struct_type("mjNothing")


def test_the_struct_tables_match_the_library() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><option impratio='7'/><worldbody><geom size='1'/></worldbody></mujoco>"
    )
    assert layout._read(layout.option_address(model, "impratio"), layout.ctypes.c_double) == 7.0
    geoms = layout.offset(layout.struct_type("mjModel"), "geom_type")
    assert layout._read(model._address + geoms, layout.ctypes.c_void_p) == model.geom_type.ctypes.data


def test_compiled_code_goes_to_the_users_cache(tmp_path: Path) -> None:
    """Also without any place to write, it works."""
    code = (
        "import logging, sys\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "from sportsuite.physics.mujoco_cpu import compile_cache\n"
        "import numba\n"
        "@numba.njit\n"
        "def twice(x):\n"
        "    return 2 * x\n"
        "print(compile_cache.enable(twice), twice(21))\n"
    )
    script = tmp_path / "probe.py"
    script.write_text(code)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    def run(cache: Path) -> str:
        env = {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(cache), "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=120, check=True
        )
        return done.stdout.strip()

    assert run(tmp_path / "cache") == "True 42"
    assert list((tmp_path / "cache" / "sportsuite" / "numba").rglob("*.nbi"))
    assert run(blocked) == "False 42"


ROOT = Path(__file__).resolve().parents[3]
