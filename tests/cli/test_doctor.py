"""``sportsuite doctor``: each check as a function of facts, and the verb once on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sportsuite.cli import _checks
from sportsuite.cli._checks import FAIL, OK, WARN
from tests.plugins.sites import add_sport, run_python

NCCL = {"NCCL_SHM_DISABLE": "1"}


def test_several_gpus_bring_the_note_on_nccl() -> None:
    checks = _checks.gpu_checks(["H200", "H200"], None, NCCL)
    assert [check.name for check in checks] == ["gpu", "multi-gpu"]
    assert "NCCL_SHM_DISABLE=1" in checks[1].found and "NCCL_ALGO=unset" in checks[1].found
    assert all(name in checks[1].remedy for name in ("NCCL_SHM_DISABLE=1", "NCCL_IB_DISABLE=1", "NCCL_ALGO=Ring"))


@pytest.mark.parametrize(
    ("gpus", "problem", "status"),
    [([], None, OK), (["H200"], None, OK), ([], "driver too old", WARN), (None, "no torch", FAIL)],
)
def test_gpus(gpus: list[str] | None, problem: str | None, status: str) -> None:
    (check,) = _checks.gpu_checks(gpus, problem, {})
    assert check.status == status


def test_versions_are_compared_with_the_wanted_ones() -> None:
    wanted = ["pytest>=8", "numpy==0.1", "no-such-distribution-xyz>=2", "viser; extra == 'viser'", "???"]
    checks = {check.name: check for check in _checks.package_checks(wanted)}
    assert checks["pytest"].status == OK
    assert checks["numpy"].status == FAIL and checks["numpy"].remedy == "pip install 'numpy==0.1'"
    assert checks["no-such-distribution-xyz"].found == "not installed"
    assert "viser" not in checks and checks["???"].status == WARN


@pytest.mark.parametrize(
    ("check", "status"),
    [
        (_checks.python_check((3, 12)), OK),
        (_checks.python_check((3, 13)), FAIL),
        (_checks.cpu_check(2, {}), WARN),
        (_checks.cpu_check(2, {"OMP_NUM_THREADS": "1"}), OK),
        (_checks.cpu_check(64, {}), OK),
        (_checks.memory_check(1.5), WARN),
        (_checks.memory_check(16.0), OK),
        (_checks.memory_check(None), WARN),
        (_checks.display_check({"DISPLAY": ":0"}), OK),
        (_checks.display_check({}, has_egl=True), OK),
        (_checks.display_check({}, has_egl=False), WARN),
    ],
)
def test_facts_of_the_machine(check: _checks.Check, status: str) -> None:
    assert check.status == status
    assert check.remedy or status == OK or check.found == "unknown"


def test_the_warp_cache(tmp_path: Path) -> None:
    cold = _checks.warp_cache_check({"WARP_CACHE_PATH": str(tmp_path / "cache")})
    assert cold.status == OK and "minute longer" in cold.remedy
    (tmp_path / "cache" / "wp_module").mkdir(parents=True)
    warm = _checks.warp_cache_check({"WARP_CACHE_PATH": str(tmp_path / "cache")})
    assert "1 kernels" in warm.found and warm.remedy == ""


def test_changed_assets_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from sportsuite import assets

    (tmp_path / "ball.usda").write_text("round")
    assets.record_assets(tmp_path, {"ball.usda": ("ours", "BSD-3-Clause")})
    monkeypatch.setattr(assets, "assets_root", lambda: tmp_path)
    assert _checks.asset_checks()[0].status == OK
    (tmp_path / "ball.usda").write_text("egg-shaped")
    (check,) = _checks.asset_checks()
    assert check.status == FAIL and "ball.usda" in check.found


def test_a_failed_plugin_is_broken_with_a_remedy_and_code_1(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", "raise RuntimeError('snapped')")
    add_sport(site, "heavy-dist", "heavy", "import sys; sys.modules['torch'] = None; raise ValueError")
    code = """
import sys
from sportsuite.cli import _checks, doctor
doctor._cuda_devices = lambda: ([], None)  # loading torch takes seconds
_checks.package_checks = lambda: []
from sportsuite.cli.main import main
sys.exit(main(["doctor", "--json"]))
"""
    done = run_python(site, "-c", code)
    assert done.returncode == 1
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["sport bow"]["status"] == FAIL and "snapped" in checks["sport bow"]["found"]
    assert "SPORTSUITE_DISABLE_PLUGINS=bow" in checks["sport bow"]["remedy"]
    assert checks["plugins"]["status"] == WARN and "torch" in checks["plugins"]["found"]


def test_on_this_machine_nothing_of_the_installation_is_broken(cli: Callable) -> None:
    done = cli("doctor", "--json")
    document = json.loads(done.out)
    assert done.code == (1 if document["summary"]["fail"] else 0)
    names = [check["name"] for check in document["checks"]]
    for name in ("python", "isaaclab", "rsl-rl-lib", "cpu", "memory", "gpu", "warp cache", "ffmpeg", "sport football"):
        assert name in names
    assert [check for check in document["checks"] if check["status"] == FAIL] == []
