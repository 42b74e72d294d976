"""Malformed input ends with exit code 2 and one line on stderr, which names the value and the nearest valid one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sportsuite.cli.main import verbs
from tests.plugins.sites import run_cli, run_python

MALFORMED = [
    (["lst"], "unknown command 'lst': did you mean 'list'?"),
    (["--versoin"], "unknown option '--versoin': did you mean '--version'?"),
    (["list", "--term"], "list: unrecognized arguments: --term; did you mean --terms?"),
    (["list", "extra"], "list: unrecognized arguments: extra"),
    (["list", "--kind", "rewards"], "list: --sport and --kind belong to --terms"),
    (["list", "--terms", "--kind", "reward"], "unknown kind of terms 'reward': did you mean 'rewards'?"),
    (["list", "--terms", "--sport", "footbal"], "unknown sport 'footbal': did you mean 'football'?"),
    (["list", "--terms", "--sport"], "list: argument --sport: expected one argument"),
    (["info"], "info: the following arguments are required: ID"),
    (["info", "SportSuite-Trp-v0"], "unknown task 'SportSuite-Trp-v0': did you mean 'SportSuite-Trap-v0'"),
    (["info", "zzzz"], "unknown task 'zzzz'"),
    (["info", ""], "unknown task ''"),
    (["info", "SportSuite-Trap-v0", "--jsn"], "info: unrecognized arguments: --jsn; did you mean --json?"),
    (["doctor", "--json", "now"], "doctor: unrecognized arguments: now"),
    (["new-plugin"], "new-plugin: the following arguments are required: NAME"),
    (["new-plugin", "My Sport"], "NAME 'My Sport': expected lower case letters, digits and '_'"),
    (["new-plugin", "Bow"], "nearest: 'bow'"),
    (["new-plugin", "class"], "NAME 'class'"),
    (["new-plugin", "1st"], "NAME '1st'"),
    (["new-plugin", "../bow"], "NAME '../bow'"),
    (["new-plugin", "football"], "NAME 'football': there is a sport of that name already"),
    (["train", "SportSuite-Trp-v0"], "unknown task 'SportSuite-Trp-v0': did you mean 'SportSuite-Trap-v0'"),
    (["train", "SportSuite-Trap-v0", "--size", "smoky"], "'smoky': did you mean 'smoke'?"),
    (["train", "SportSuite-Trap-v0", "--num-envs", "0"], "--num-envs 0: expected a number above 0"),
    (["train", "SportSuite-Trap-v0", "--num-envs", "many"], "train: argument --num-envs: invalid int value: 'many'"),
    (["train", "SportSuite-Trap-v0", "--iterations", "3", "--samples", "5"], "not allowed with argument --iterations"),
    (["train", "SportSuite-Trap-v0", "enw.x=1"], "override 'enw.x=1'"),
    (["bench", "Nope-v0"], "unknown task 'Nope-v0'"),
    (["evaluate", "SportSuite-Trap-v0", "--pretrained", "--untrained"], "not allowed with argument --pretrained"),
    (["evaluate", "SportSuite-Trap-v0", "--seeds", "a,b"], "--seeds a,b: expected whole numbers"),
    (["evaluate", "SportSuite-Trap-v0", "--episodes", "0"], "--episodes 0: expected a number above 0"),
    (["zero", "SportSuite-Trap-v0", "--steps", "-1"], "--steps -1: expected a number above 0"),
]


@pytest.mark.parametrize(("arguments", "message"), MALFORMED, ids=[" ".join(arguments) for arguments, _ in MALFORMED])
def test_bad_input_is_one_clear_line_and_code_2(cli: Callable, arguments: list[str], message: str) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.startswith("sportsuite: ") and done.err.count("\n") == 1


def test_new_plugin_refuses_a_folder_that_exists(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "sportsuite-bow").mkdir()
    done = cli("new-plugin", "bow", "--output", str(tmp_path))
    assert done.code == 2 and "exists already" in done.err


def test_new_plugin_refuses_an_output_that_is_a_file(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = cli("new-plugin", "bow", "--output", str(tmp_path / "file"))
    assert done.code == 2 and str(tmp_path / "file") in done.err


def test_the_process_ends_with_the_code(own_site: Path) -> None:
    done = run_cli(own_site, "lst")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("arguments", [["info", "zzzz", "--debug"], ["--debug", "info", "zzzz"]])
def test_debug_shows_the_traceback(cli: Callable, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.code == 2 and "Traceback" in done.err


def test_a_fault_of_ours_is_one_line_and_code_1(cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(_: object) -> None:
        raise ZeroDivisionError("half\na fault")

    monkeypatch.setattr("sportsuite.cli.list.run", break_down)
    done = cli("list")
    assert done.code == 1 and done.err.count("\n") == 1
    assert "ZeroDivisionError: half a fault" in done.err and "--debug shows where" in done.err
    monkeypatch.setenv("SPORTSUITE_DEBUG", "1")
    assert "break_down" in cli("list").err


def test_a_closed_pipe_is_no_fault(own_site: Path) -> None:
    code = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'sportsuite.cli.main', 'list', '--json'],"
        " stdout=subprocess.PIPE, stderr=subprocess.PIPE); p.stdout.close(); e = p.stderr.read(); print(p.wait(), e)"
    )
    assert run_python(own_site, "-c", code).stdout.strip() == "0 b''"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"]])
def test_the_overview_lists_every_verb(cli: Callable, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.code == 0
    for verb in ("list", "info", "doctor", "new-plugin"):
        assert f"\n  {verb} " in done.out


def test_every_verb_follows_the_convention(cli: Callable) -> None:
    for verb in verbs():
        done = cli(verb, "--help")
        assert done.code == 0 and f"usage: sportsuite {verb}" in done.out
