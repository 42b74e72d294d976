"""Terms are listed from source text and imported one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugins.sites import GOOD, add_distribution, run_cli, run_python

REWARDS = '''
class ManagerTermBase:
    """Stands in for Isaac Lab's."""

def hit(env, sigma: float):
    """Pay for hits.

    More text.
    """
    return sigma

def helper(x):
    """Not a term: managers pass the env first."""

def _private(env):
    """Not public."""

class Smooth(ManagerTermBase):
    """Pay for smoothness."""

class Smoother(Smooth):
    """A term too, by its base."""

class Settings:
    """No term."""
'''


@pytest.fixture
def bow(site: Path) -> Path:
    terms = '{"rewards": "bow_pkg.rewards", "events": "bow_pkg.events", "commands": "bow_pkg.gone"}'
    plugin = GOOD.format(name="bow", task="Bow-v0").replace("tasks=(", f"terms={terms}, tasks=(")
    modules = {
        "bow_pkg/__init__.py": "",
        "bow_pkg/plugin.py": plugin,
        "bow_pkg/rewards.py": REWARDS,
        "bow_pkg/events.py": "def hit(env, env_ids):\n    '''Nock.'''\ndef draw(env, env_ids):\n    '''Draw.'''\n",
    }
    add_distribution(site, "bow-dist", {"sportsuite.sports": {"bow": "bow_pkg.plugin:PLUGIN"}}, modules)
    return site


def test_listing_finds_public_terms_of_both_forms_without_importing(bow: Path) -> None:
    done = run_cli(bow, "list", "--terms", "--sport", "bow", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(term["name"], term["kind"], term["summary"]) for term in document["terms"]] == [
        ("bow:hit", "rewards", "Pay for hits."),
        ("bow:Smooth", "rewards", "Pay for smoothness."),
        ("bow:Smoother", "rewards", "A term too, by its base."),
        ("bow:hit", "events", "Nock."),
        ("bow:draw", "events", "Draw."),
    ]
    assert document["unreadable_modules"] == ["module bow_pkg.gone: not found"]


def test_listing_imports_neither_the_modules_nor_a_simulator(bow: Path) -> None:
    code = """
import sys
from sportsuite.plugins.terms import list_terms
assert len(list_terms()[0]) > 5
assert not {"bow_pkg.rewards", "torch", "warp", "isaaclab"} & set(sys.modules), sorted(sys.modules)
"""
    done = run_python(bow, "-c", code)
    assert done.returncode == 0, done.stderr


RESOLVE = """
import json, sys
from sportsuite.plugins.terms import resolve_term
for arguments in json.loads(sys.argv[1]):
    try: print(resolve_term(*arguments).__qualname__)
    except Exception as error: print(type(error).__name__, error)
"""

RESOLVED = [
    (["bow:draw", "events"], "draw"),
    (["bow:hit", "rewards"], "hit"),
    (["bow:Smooth", "rewards"], "Smooth"),
    (["bow:hit", "events"], "hit"),
    (["bow:hitt", "rewards"], "BadInputError unknown term of rewards 'bow:hitt': did you mean 'bow:hit'?"),
    (["bow:helper", "rewards"], "BadInputError unknown term of rewards 'bow:helper'"),
    (["bow:hit"], "BadInputError term 'bow:hit' is among rewards and events: say which kind"),
    (["bow:hit", "reward"], "BadInputError unknown kind of terms 'reward': did you mean 'rewards'?"),
    (["bw:hit"], "BadInputError unknown sport 'bw': did you mean 'bow'?"),
    (["hit"], "BadInputError term 'hit': expected 'sport:term'"),
    (["bow:aim", "commands"], "PluginError term 'bow:aim' not found; a module of the sport can't be read"),
]


def test_resolving_imports_the_term_or_says_what_is_wrong(bow: Path) -> None:
    done = run_python(bow, "-c", RESOLVE, json.dumps([arguments for arguments, _ in RESOLVED]))
    lines = done.stdout.splitlines()
    assert len(lines) == len(RESOLVED), done.stderr
    for line, (arguments, expected) in zip(lines, RESOLVED, strict=True):
        assert line.startswith(expected), arguments


def test_a_term_module_that_breaks_is_named_with_its_cause(bow: Path) -> None:
    (bow / "bow_pkg" / "events.py").write_text("raise ValueError('no string')\ndef draw(env, env_ids): ...\n")
    done = run_python(bow, "-c", RESOLVE, '[["bow:draw", "events"]]')
    assert "PluginError term bow:draw: bow_pkg.events: ValueError: no string" in done.stdout
