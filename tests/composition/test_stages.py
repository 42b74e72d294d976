"""Stages: done is done, what failed goes on, and the record never lies."""

import json

import pytest

from sportsuite.composition.stages import Stage, read_stages, run_stages
from sportsuite.errors import BadInputError, SportSuiteError


def stages(folder, resume=lambda: ()):
    return [
        Stage("first", ("run", "first"), folder / "a"),
        Stage("second", ("run", "second", "--n", "1"), folder / "b", resume),
    ]


class Runs:
    """Makes each command's output and remembers the commands; fails where told."""

    def __init__(self, folder, fail=()):
        self.folder, self.fail, self.seen = folder, fail, []

    def __call__(self, command):
        self.seen.append(tuple(command))
        name = command[1]
        if name in self.fail:
            return 1
        (self.folder / {"first": "a", "second": "b"}[name]).touch()
        return 0


def test_what_is_done_is_skipped(tmp_path):
    file = tmp_path / "stages.json"
    once, again = Runs(tmp_path), Runs(tmp_path)
    run_stages(stages(tmp_path), file, once)
    run_stages(stages(tmp_path), file, again)
    assert [command[1] for command in once.seen] == ["first", "second"] and again.seen == []
    record = json.loads(file.read_text())
    assert record["second"]["status"] == "done" and record["second"]["command"] == ["second", "--n", "1"]


def test_a_failed_stage_goes_on_with_what_it_left(tmp_path):
    file = tmp_path / "stages.json"
    with pytest.raises(SportSuiteError, match="stage second ended with exit code 1"):
        run_stages(stages(tmp_path), file, Runs(tmp_path, fail=("second",)))
    assert read_stages(file)["first"]["status"] == "done" and read_stages(file)["second"]["status"] == "running"
    later = Runs(tmp_path)
    run_stages(stages(tmp_path, lambda: ("--resume", "here")), file, later)
    assert later.seen == [("run", "second", "--n", "1", "--resume", "here")]
    # how it was resumed is no part of what it is
    run_stages(stages(tmp_path), file, later)
    assert len(later.seen) == 1


def test_a_stage_that_ended_unnoticed_isnt_run_again(tmp_path):
    file = tmp_path / "stages.json"
    with pytest.raises(SportSuiteError):
        run_stages(stages(tmp_path), file, Runs(tmp_path, fail=("second",)))
    (tmp_path / "b").touch()
    ended = Stage("second", ("run", "second", "--n", "1"), tmp_path / "b", finished=lambda: True)
    later = Runs(tmp_path)
    run_stages([stages(tmp_path)[0], ended], file, later)
    assert later.seen == [] and read_stages(file)["second"]["status"] == "done"
    # what a failed attempt of another command left says nothing
    (tmp_path / "stages.json").unlink()
    run_stages([ended], file, later)
    assert len(later.seen) == 1


def test_a_lost_output_is_made_again(tmp_path):
    file = tmp_path / "stages.json"
    run_stages(stages(tmp_path), file, Runs(tmp_path))
    (tmp_path / "a").unlink()
    again = Runs(tmp_path)
    run_stages(stages(tmp_path), file, again)
    assert [command[1] for command in again.seen] == ["first"]


def test_another_command_for_a_done_stage_is_refused(tmp_path):
    file = tmp_path / "stages.json"
    run_stages(stages(tmp_path), file, Runs(tmp_path))
    other = [*stages(tmp_path)[:1], Stage("second", ("run", "second", "--n", "2"), tmp_path / "b")]
    with pytest.raises(BadInputError, match=r"stage second was done with another command \(2 differs\)"):
        run_stages(other, file, Runs(tmp_path))


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "\x00"])
def test_damaged_records_are_refused(tmp_path, text):
    (tmp_path / "stages.json").write_text(text)
    with pytest.raises(BadInputError, match=r"stages .*stages.json"):
        read_stages(tmp_path / "stages.json")


def test_processes_are_started_and_their_codes_read(tmp_path):
    import sys

    make = "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()"
    fine = Stage("fine", (sys.executable, "-c", make, str(tmp_path / "a")), tmp_path / "a")
    bad = Stage("bad", (sys.executable, "-c", "raise SystemExit(3)"), tmp_path / "b")
    with pytest.raises(SportSuiteError, match="stage bad ended with exit code 3"):
        run_stages([fine, bad], tmp_path / "stages.json")
    assert (tmp_path / "a").exists()
