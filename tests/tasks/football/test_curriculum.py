"""The order of trainings and recordings, and what each starts from."""

from pathlib import Path

import pytest

from sportsuite.errors import BadInputError
from sportsuite.learning.checkpoint import read_checkpoint, write_checkpoint
from sportsuite_tasks.football import curriculum
from tests.tasks.football.fake_skills import write_fake_skill

OUT = Path("runs")


def commands(**options):
    return {stage.name: " ".join(stage.command[3:]) for stage in curriculum.plan(OUT, **options)}


def test_order_of_the_text():
    assert list(commands()) == [
        "train move",
        "record move",
        "record move_near",
        "train trap",
        "record trap",
        "train dribble",
        "record dribble",
        "train kick",
    ]
    assert list(commands(sti=False)) == [f"train {skill}" for skill in ("move", "trap", "dribble", "kick")]


def test_every_buffer_is_recorded_before_it_is_used():
    made: set[Path] = set()
    for stage in curriculum.plan(OUT):
        used = {name for name in ("move", "move_near", "trap", "dribble") if f'{name}.npz"' in " ".join(stage.command)}
        assert {OUT / "buffers" / f"{name}.npz" for name in used} <= made, stage.name
        made.add(stage.output)


def test_shares_and_moments():
    done = commands(states=100, samples={"kick": 5000})
    assert 'buffers={"runs/buffers/trap.npz": 0.45, "runs/buffers/move_near.npz": 0.45}' in done["train dribble"]
    assert 'buffers={"runs/buffers/dribble.npz": 0.7}' in done["train kick"] and "--samples 5000" in done["train kick"]
    assert "--when touch" in done["record trap"] and "--when step" in done["record dribble"]
    assert "--states 100" in done["record trap"] and "--samples" not in done["train move"]
    assert "buffers=" not in " ".join(commands(sti=False).values())


def test_settings_reach_their_skill():
    done = commands(settings=["kick.env.physics_hz=240", "all.agent.seed=3"])
    assert "env.physics_hz=240" in done["train kick"] and "env.physics_hz=240" not in done["train trap"]
    assert all("agent.seed=3" in text for name, text in done.items() if name.startswith("train"))
    assert all("agent.seed=3" not in text for name, text in done.items() if name.startswith("record"))


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    stage = curriculum.plan(tmp_path)[0]
    assert stage.resume() == ()
    (tmp_path / "move").mkdir()
    assert stage.resume() == ()
    (tmp_path / "move" / "model_10.pt").touch()
    assert stage.resume() == ("--resume", str(tmp_path / "move"))


def test_a_training_that_has_all_its_samples_is_finished(tmp_path):
    folder = tmp_path / "kick"
    half = curriculum.plan(tmp_path, sti=False, samples={"kick": 1000})[-1]
    assert half.name == "train kick" and not half.finished()
    path = write_fake_skill(folder / "model_4.pt", "kick")
    content = read_checkpoint(path)
    for done, finished in ((999, False), (1000, True)):
        content["sportsuite"]["samples"] = done
        write_checkpoint(path, content)
        assert half.finished() is finished
    # without a number of samples: 5 iterations of the smoke config, this is the first
    assert not curriculum.plan(tmp_path, size="smoke", sti=False)[-1].finished()
    write_checkpoint(path, content | {"iter": 4})
    assert curriculum.plan(tmp_path, size="smoke", sti=False)[-1].finished()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": ["kik.env.a=1"]}, "unknown skill 'kik': did you mean 'kick'"),
        ({"settings": ["kick.a=1"]}, "expected SKILL.env.X=Y"),
        ({"samples": {"mov": 1}}, "unknown skill 'mov': did you mean 'move'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(BadInputError, match=message):
        curriculum.plan(OUT, **options)


def test_the_command_ends_with_2_on_bad_input(capsys):
    assert curriculum.main(["--out", "x", "--samples", "move=many"]) == 2
    assert "expected SKILL=N" in capsys.readouterr().err
