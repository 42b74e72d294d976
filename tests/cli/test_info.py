"""``sportsuite info``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sportsuite.plugins import manager
from tests.plugins.sites import GOOD, REPOSITORY, add_sport, run_cli

TRAP = "SportSuite-Trap-v0"


def test_info_names_the_files_that_are_used(cli: Callable) -> None:
    document = json.loads(cli("info", TRAP, "--json").out)
    assert document["id"] == TRAP and document["sport"] == "football"
    assert document["plugin"]["distribution"] == "sportsuite"
    football = REPOSITORY / "sportsuite_tasks" / "football"
    assert Path(document["plugin"]["file"]) == football / "plugin.py"
    assert Path(document["env_cfg"]["file"]) == football / "trap" / "trap_env_cfg.py"
    assert Path(document["terms"]["rewards"]["file"]) == football / "mdp" / "rewards.py"
    assert document["agent_cfgs"]["gpu"]["isaaclab_option"] == "--agent rsl_rl_gpu_cfg_entry_point"
    assert document["default_agent_cfg"] == "cpu"


def test_text_and_json_say_the_same(cli: Callable) -> None:
    text = cli("info", TRAP).out
    assert f"id: {TRAP}" in text and "trap_env_cfg.py" in text and "distribution: sportsuite" in text


def test_a_prefix_as_gymnasium_takes_it_is_accepted(cli: Callable) -> None:
    assert json.loads(cli("info", f"sportsuite:{TRAP}", "--json").out)["id"] == TRAP


def test_missing_modules_are_named_and_fail(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", GOOD.format(name="bow", task="Bow-v0"))
    done = run_cli(site, "info", "Bow-v0")
    assert done.returncode == 1
    assert "problem: module bow_pkg.cfg: ModuleNotFoundError: No module named 'bow_pkg'" in done.stdout


def test_a_task_of_a_failed_plugin_gives_the_cause(site: Path) -> None:
    source = GOOD.format(name="bow", task="Bow-v0").replace("api_version=1", "api_version=99")
    add_sport(site, "bow-dist", "bow", source)
    done = run_cli(site, "info", "Bow-v0")
    assert done.returncode == 1 and "bow-dist" in done.stderr and "api version 99" in done.stderr


@pytest.mark.parametrize(("text", "expected"), [('{"seed": 3}', {"seed": 3}), ("{broken", "problem")])
def test_the_card_of_a_shipped_policy_is_shown(
    cli: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, expected: object
) -> None:
    (tmp_path / "trap.pt").write_bytes(b"")
    (tmp_path / "trap.card.json").write_text(text)
    monkeypatch.setattr("sportsuite.cli.info.policy_path", lambda task: tmp_path / "trap.pt")
    policy = json.loads(cli("info", TRAP, "--json").out)["policy"]
    assert policy["exists"] is True
    assert policy["card"] == expected or expected in policy["card"]


def test_a_task_without_a_policy_says_so(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", GOOD.format(name="bow", task="Bow-v0"))
    assert json.loads(run_cli(site, "info", "Bow-v0", "--json").stdout)["policy"] is None
    assert manager.ONLY_VARIABLE == "SPORTSUITE_PLUGINS"
