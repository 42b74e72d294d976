"""Plugins that break are named and left out; everything else goes on working."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugins.sites import GOOD, add_distribution, add_sport, run_cli, run_python

TRAP = "SportSuite-Trap-v0"

PROBE = """
import json, logging, sys
import sportsuite, gymnasium
from sportsuite.plugins.manager import find_task, find_sport, inventory
def error(function, name):
    try: function(name)
    except Exception as caught: return [type(caught).__name__, str(caught)]
found = inventory()
json.dump({
    "sports": list(found.plugins),
    "failures": {failure.origin.distribution: failure.cause for failure in found.failures},
    "off": [origin.name for origin in found.switched_off],
    "ids": [name for name, spec in gymnasium.registry.items() if "sport" in spec.kwargs],
    "task_errors": {name: error(find_task, name) for name in sys.argv[1:]},
    "sport_errors": {name: error(find_sport, name) for name in sys.argv[1:]},
}, sys.stdout)
"""


def probe(site: Path, *names: str, **environ: str) -> dict:
    done = run_python(site, "-c", PROBE, *names, **environ)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr}


def test_strangers_are_found_beside_our_own(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", GOOD.format(name="bow", task="Bow-Shoot-v0"))
    seen = probe(site, "Bow-Shoot-v0")
    assert {"football", "climbing", "basketball", "bow"} <= set(seen["sports"])
    assert {TRAP, "Bow-Shoot-v0"} <= set(seen["ids"])
    assert seen["task_errors"]["Bow-Shoot-v0"] is None
    assert seen["stderr"] == ""


def test_a_function_may_give_the_plugin(site: Path) -> None:
    source = GOOD.format(name="bow", task="Bow-Shoot-v0") + "\n_made = PLUGIN\ndef PLUGIN(): return _made\n"
    add_sport(site, "bow-dist", "bow", source)
    assert "bow" in probe(site)["sports"]


BROKEN = {
    "raises": ("raise RuntimeError('the bow\\nsnapped')", "RuntimeError: the bow snapped"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "imports": ("import no_such_module_xyz", "ModuleNotFoundError: No module named 'no_such_module_xyz'"),
    "syntax": ("def", "SyntaxError"),
    "absent": ("OTHER = 1", "has no attribute 'PLUGIN'"),
    "wrong_type": (
        "PLUGIN = {'name': 'wrong_type'}",
        "is a dict; expected a SportPlugin or a function that returns one",
    ),
    "future": (
        GOOD.format(name="future", task="Future-v0").replace("api_version=1", "api_version=99"),
        "api version 99",
    ),
    "ancient": (
        GOOD.format(name="ancient", task="Ancient-v0").replace("api_version=1", "api_version=0"),
        "update the plugin",
    ),
    "misnamed": (GOOD.format(name="other", task="Other-v0"), "called 'misnamed', the sport in it 'other'"),
    "thief": (
        GOOD.format(name="thief", task=TRAP),
        f"task id {TRAP} already belongs to sport 'football' of sportsuite",
    ),
}


def test_every_kind_of_broken_plugin_is_named_with_its_cause_and_the_rest_works(site: Path) -> None:
    for name, (source, _) in BROKEN.items():
        add_sport(site, f"dist-{name}", name, source)
    add_sport(site, "zz-good", "good", GOOD.format(name="good", task="Good-Task-v0"))
    seen = probe(site, "Future-v0", "Good-Task-v0", TRAP, "Unheard-v0", "thief", "good")
    assert set(seen["failures"]) == {f"dist-{name}" for name in BROKEN}
    for name, (_, cause) in BROKEN.items():
        assert cause in seen["failures"][f"dist-{name}"]
        lines = [line for line in seen["stderr"].splitlines() if f"dist-{name}" in line]
        assert len(lines) == 1 and cause in lines[0] and f"{name}_plugin:PLUGIN" in lines[0]
    assert "Traceback" not in seen["stderr"]
    assert {TRAP, "Good-Task-v0"} <= set(seen["ids"]) and "Future-v0" not in seen["ids"]
    assert seen["task_errors"]["Good-Task-v0"] is None and seen["task_errors"][TRAP] is None
    kind, text = seen["task_errors"]["Future-v0"]
    assert kind == "PluginError" and "dist-future" in text and "api version 99" in text
    kind, text = seen["sport_errors"]["thief"]
    assert kind == "PluginError" and TRAP in text
    kind, text = seen["task_errors"]["Unheard-v0"]
    assert kind == "BadInputError" and "failed to load may have it" in text and "the bow snapped" in text


def test_of_two_sports_with_one_name_the_later_distribution_is_left_out_naming_both(site: Path) -> None:
    add_sport(site, "bb-dist", "football", GOOD.format(name="football", task="Other-v0"))
    seen = probe(site)
    assert list(seen["failures"]) == ["bb-dist"] and "sport 'football' of sportsuite" in seen["failures"]["bb-dist"]
    assert TRAP in seen["ids"]


def test_between_strangers_the_order_of_distributions_decides(site: Path) -> None:
    add_sport(site, "zz-dist", "aaa", GOOD.format(name="aaa", task="Same-v0"))
    add_sport(site, "mm-dist", "zzz", GOOD.format(name="zzz", task="Same-v0"))
    assert "mm-dist" in probe(site)["failures"]["zz-dist"]


def test_an_id_of_another_gymnasium_package_is_not_taken_over(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", GOOD.format(name="bow", task="CartPole-v1"))
    cause = probe(site)["failures"]["bow-dist"]
    assert "CartPole-v1 already belongs to the Gymnasium environment" in cause


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SPORTSUITE_DISABLE_PLUGINS": "football, bow"}, {"basketball", "climbing", "imitate"}),
        ({"SPORTSUITE_PLUGINS": "football"}, {"football"}),
        ({"SPORTSUITE_PLUGINS": "football,bow", "SPORTSUITE_DISABLE_PLUGINS": "bow"}, {"football"}),
        (
            {"SPORTSUITE_PLUGINS": "", "SPORTSUITE_DISABLE_PLUGINS": " , "},
            {"basketball", "bow", "climbing", "football", "imitate"},
        ),
    ],
)
def test_environment_variables_choose_sports_without_loading_the_others(
    site: Path, environ: dict, expected: set
) -> None:
    source = GOOD.format(name="bow", task="Bow-v0") + "\nimport os\nif 'bow' not in WANTED: raise RuntimeError\n"
    source = source.replace("WANTED", f"{expected!r}")
    add_sport(site, "bow-dist", "bow", source)
    seen = probe(site, "football", **environ)
    assert set(seen["sports"]) == expected and seen["failures"] == {}
    assert set(seen["sports"]) | set(seen["off"]) == {"basketball", "bow", "climbing", "football", "imitate"}
    if "football" not in expected:
        assert "switched off" in seen["sport_errors"]["football"][1]


@pytest.mark.parametrize("variable", ["SPORTSUITE_PLUGINS", "SPORTSUITE_DISABLE_PLUGINS"])
def test_unknown_names_in_the_variables_are_warned_of_with_the_nearest(site: Path, variable: str) -> None:
    seen = probe(site, **{variable: "footbal,climbing"})
    assert f"{variable}: unknown sport 'footbal': did you mean 'football'" in seen["stderr"]


def test_importing_a_plugins_own_module_first_finds_it_all_the_same(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", GOOD.format(name="bow", task="Bow-v0"))
    code = "import bow_plugin; from sportsuite.plugins.manager import find_sport; find_sport('bow')"
    done = run_python(site, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    code = "import sportsuite_tasks.football.plugin, gymnasium; gymnasium.spec('SportSuite-Trap-v0')"
    done = run_python(site, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_registering_twice_changes_nothing_and_overrides_nothing(site: Path) -> None:
    code = """
import gymnasium, sportsuite
from sportsuite.plugins.manager import register_all
before = dict(gymnasium.registry)
register_all()
assert before == dict(gymnasium.registry)
"""
    done = run_python(site, "-W", "error", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_registered_strings_let_isaaclab_choose_an_agent_by_size(site: Path) -> None:
    code = "import json, gymnasium, sportsuite; print(json.dumps(gymnasium.spec('SportSuite-Trap-v0').kwargs))"
    kwargs = json.loads(run_python(site, "-c", code).stdout)
    agents = "sportsuite_tasks.football.trap.agents"
    assert kwargs == {
        "env_cfg_entry_point": "sportsuite_tasks.football.trap.trap_env_cfg:TrapEnvCfg",
        "rsl_rl_cfg_entry_point": f"{agents}:cpu",
        "rsl_rl_smoke_cfg_entry_point": f"{agents}:smoke",
        "rsl_rl_cpu_cfg_entry_point": f"{agents}:cpu",
        "rsl_rl_gpu_cfg_entry_point": f"{agents}:gpu",
        **{f"rsl_rl_latent_{size}_cfg_entry_point": f"{agents}:latent_{size}" for size in ("smoke", "cpu", "gpu")},
        "default_agent": "rsl_rl",
        "sport": "football",
        "task_id": TRAP,
    }


def test_isaaclabs_loader_survives_any_plugin(site: Path) -> None:
    for name, (source, _) in BROKEN.items():
        add_sport(site, f"dist-{name}", name, source)
    code = """
import gymnasium, importlib.metadata
for entry in importlib.metadata.entry_points(group="isaaclab.tasks"):
    if entry.dist.name == "sportsuite": entry.load(); entry.load()
gymnasium.spec("SportSuite-Trap-v0")
"""
    done = run_python(site, "-c", code)
    assert done.returncode == 0, done.stderr


def test_the_list_tells_of_failures_and_still_succeeds(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", "raise RuntimeError('snapped')")
    done = run_cli(site, "list")
    assert done.returncode == 0
    assert TRAP in done.stdout
    assert "FAILED: sport 'bow' of bow-dist 1.2.3 (bow_plugin:PLUGIN) is disabled: RuntimeError: snapped" in done.stdout


def test_the_traceback_of_a_failed_plugin_is_shown_when_debugging(site: Path) -> None:
    add_sport(site, "bow-dist", "bow", "def string():\n    raise RuntimeError('snapped')\nstring()")
    assert "in string" not in run_cli(site, "list").stderr
    assert "in string" in run_cli(site, "list", SPORTSUITE_DEBUG="1").stderr


def test_a_policy_lies_in_the_plugins_package_or_among_our_assets(site: Path) -> None:
    source = GOOD.format(name="bow", task="Bow-v0").replace("description=", 'policy="policies/b.pt", description=')
    source = source.replace('policy="policies/b.pt", ', "", 1)  # the sport's own description comes first
    modules = {"bow_pkg/__init__.py": "", "bow_pkg/plugin.py": source}
    add_distribution(site, "bow-dist", {"sportsuite.sports": {"bow": "bow_pkg.plugin:PLUGIN"}}, modules)
    code = """
from sportsuite.plugins.manager import find_task, policy_path
for name in ("Bow-v0", "SportSuite-Trap-v0"): print(policy_path(find_task(name)))
"""
    theirs, ours = run_python(site, "-c", code).stdout.split()
    assert Path(theirs) == site / "bow_pkg" / "policies" / "b.pt"
    assert ours.endswith("assets/policies/trap.pt")
