"""What a user gets who installs the wheel instead of a checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The built wheel. Building is isolated, as pip does it."""
    uv = shutil.which("uv") or str(ROOT / ".bootstrap" / "bin" / "uv")
    if not Path(uv).exists():
        pytest.skip("building a wheel needs uv: run `make setup` once")
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [uv, "build", "--wheel", "--python", sys.executable, "--out-dir", str(out), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel's files on a path of their own, away from the checkout."""
    target = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def run(installed, code):
    """Run code that sees the wheel and the environment's other packages, but not the checkout."""
    env = os.environ | {"PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=installed, env=env, timeout=120
    )


def test_every_asset_is_packed_and_nothing_is_left_out(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.removeprefix("sportsuite/_assets/") for name in archive.namelist() if "/_assets/" in name}
    tracked = subprocess.run(["git", "ls-files", "assets"], capture_output=True, text=True, cwd=ROOT).stdout.split()
    expected = {name.removeprefix("assets/") for name in tracked} if tracked else packed
    assert expected and expected <= packed


def test_tests_and_logs_are_not_packed(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"sportsuite", "sportsuite_tasks"}


def test_assets_are_found_inside_the_wheel(installed):
    done = run(installed, "from sportsuite.assets import asset_path; print(asset_path('motions/fallen_states.npz'))")
    assert done.stdout.strip() == str(installed / "sportsuite" / "_assets" / "motions" / "fallen_states.npz"), (
        done.stderr
    )


def test_the_wheel_declares_sports_and_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        text = archive.read(entry).decode()
    for line in ("sportsuite = sportsuite.cli.main:main", "football = sportsuite_tasks.football.plugin:PLUGIN"):
        assert line in text
    assert "[isaaclab.tasks]" in text and "[sportsuite.sports]" in text


def test_new_plugin_finds_its_template_in_the_wheel(installed, tmp_path):
    code = f"from sportsuite.cli.main import main; main(['new-plugin', 'archery', '--output', {str(tmp_path / 'a')!r}])"
    done = run(installed, code)
    assert list((tmp_path / "a").rglob("pyproject.toml")), done.stderr
