"""Trains the four football skills in PhysicsFC's order, with state buffers recorded in between.

  python -m sportsuite_tasks.football.curriculum --out runs/football --size cpu
  python -m sportsuite_tasks.football.curriculum --out runs/football --samples move=60000000 kick=40000000
  python -m sportsuite_tasks.football.curriculum --out runs/football --set kick.env.physics_hz=240 all.agent.seed=3

Move, Trap, Dribble, Kick: Trap starts from Move's states, Dribble from Trap's and Move's, Kick from Dribble's. What is
done is kept in OUT/stages.json; the same command goes on after a crash, a training from its last checkpoint.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from sportsuite.composition.stages import Stage, run_stages, sportsuite_command
from sportsuite.errors import BadInputError, SportSuiteError, unknown_name
from sportsuite.learning.checkpoint_files import checkpoints

__all__ = ["SKILLS", "main", "plan"]

SKILLS = ("move", "trap", "dribble", "kick")
"""PhysicsFC's order."""

FALLEN = "env.events.character.params.fallen_fraction=1.0"
"""Where buffers have 90 % of the starts, the rest lies on the ground (PhysicsFC: 10 % fallen starts)."""

_NEAR = "sportsuite_tasks.football.mdp.guards:near_and_closing"


def plan(
    out: Path,
    size: str = "cpu",
    samples: Mapping[str, int] | None = None,
    states: int = 50_000,
    sti: bool = True,
    options: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> list[Stage]:
    """List the stages.

    Args:
        out: Folder of runs and buffers.
        size: Agent size of all trainings.
        samples: Environment steps per skill; what the agent config says where a skill isn't named.
        states: States per buffer (PhysicsFC: 50,000).
        sti: Whether skills start from their predecessors' states; without, for comparison, nothing is recorded.
        options: Options of every command, such as ``--device``.
        settings: ``"SKILL.env.X=Y"`` and ``"SKILL.agent.X=Y"``; the skill ``all`` means every one.

    Raises:
        BadInputError: If a skill is unknown or a setting can't be read.
    """
    for name in samples or {}:
        if name not in SKILLS:
            raise unknown_name("skill", name, SKILLS)
    given = {skill: _settings(settings, skill) for skill in SKILLS}
    near = ("env.with_ball=true", "env.physics_hz=240")
    starts: dict[str, tuple[str, ...]] = dict.fromkeys(SKILLS, ())
    if sti:
        # shares of PhysicsFC; of those that leave no rest, 10 % go to fallen starts
        starts["trap"] = (_buffers(out, {"move": 0.9}), FALLEN)
        starts["dribble"] = (_buffers(out, {"trap": 0.45, "move_near": 0.45}), FALLEN)
        starts["kick"] = (_buffers(out, {"dribble": 0.7}),)

    def learn(skill: str) -> Stage:
        wanted = (samples or {}).get(skill)
        budget = () if wanted is None else ("--samples", str(wanted))
        return _training(out, skill, wanted, ("--size", size, *budget, *options), (*starts[skill], *given[skill]))

    def record(name: str, skill: str, when: str, more: Sequence[str] = ()) -> Stage:
        settings = [text for text in given[skill] if text.startswith("env.")]
        return _recording(out, name, skill, when, ("--states", str(states), *options), (*settings, *more))

    if not sti:
        return [learn(skill) for skill in SKILLS]
    return [
        learn("move"),
        record("move", "move", "step"),
        # for Dribble: Move's states at the moment in which the machine hands over
        record("move_near", "move", _NEAR, near),
        learn("trap"),
        record("trap", "trap", "touch"),
        learn("dribble"),
        record("dribble", "dribble", "step"),
        learn("kick"),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, run what isn't done, say where the policies are.

    Returns:
        The exit code: 0 done, 2 bad input, 1 a stage failed, 130 interrupted.
    """
    args = _parser().parse_args(arguments)
    try:
        samples = _numbers(args.samples)
        stages = plan(args.out, args.size, samples, args.states, not args.no_sti, _options(args), args.set)
        run_stages(stages, args.out / "stages.json", notify=_say)
    except SportSuiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, BadInputError) else 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command goes on from here\n")
        return 130
    found = {skill: checkpoints(_run_dir(args.out, skill))[0] for skill in SKILLS}
    _say(
        "to play: sportsuite play SportSuite-Football-v0 'env.skills={"
        + ", ".join(f"{skill}: {path}" for skill, path in found.items())
        + "}'"
    )
    return 0


def _training(out: Path, skill: str, samples: int | None, options: Sequence[str], settings: Sequence[str]) -> Stage:
    folder = _run_dir(out, skill)
    command = sportsuite_command("train", _task(skill), *settings, "--log-dir", str(folder), *options)

    def resume() -> tuple[str, ...]:
        return ("--resume", str(folder)) if folder.is_dir() and checkpoints(folder) else ()

    return Stage(f"train {skill}", command, folder, resume, lambda: _is_trained(folder, samples))


def _is_trained(folder: Path, samples: int | None) -> bool:
    """Whether the newest checkpoint of a run has all its samples, or all iterations of its agent config."""
    from sportsuite.learning.checkpoint import latest_valid, read_checkpoint

    if not checkpoints(folder):
        return False
    content = read_checkpoint(latest_valid(folder))
    about = content["sportsuite"]
    if samples is not None:
        return about.get("samples", 0) >= samples
    return content["iter"] + 1 >= yaml.safe_load(about["agent_cfg"])["max_iterations"]


def _recording(out: Path, name: str, skill: str, when: str, options: Sequence[str], settings: Sequence[str]) -> Stage:
    target = _buffer(out, name)
    command = sportsuite_command(
        "buffer",
        "record",
        _task(skill),
        *settings,
        "--checkpoint",
        str(_run_dir(out, skill)),
        "--when",
        when,
        "--centre",
        "--force",
        "--out",
        str(target),
        *options,
    )
    return Stage(f"record {name}", command, target)


def _task(skill: str) -> str:
    return f"SportSuite-{skill.capitalize()}-v0"


def _run_dir(out: Path, skill: str) -> Path:
    return out / skill


def _buffer(out: Path, name: str) -> Path:
    return out / "buffers" / f"{name}.npz"


def _buffers(out: Path, shares: Mapping[str, float]) -> str:
    # quoted: a path may hold what YAML has a meaning for
    pairs = ", ".join(f'"{_buffer(out, name)}": {share}' for name, share in shares.items())
    return f"env.events.buffer.params.buffers={{{pairs}}}"


def _settings(settings: Sequence[str], skill: str) -> tuple[str, ...]:
    found = []
    for text in settings:
        name, _, rest = text.partition(".")
        if name not in (*SKILLS, "all"):
            raise unknown_name("skill", name, [*SKILLS, "all"])
        if not rest.startswith(("env.", "agent.")) or "=" not in rest:
            raise BadInputError(f"--set {text}: expected SKILL.env.X=Y or SKILL.agent.X=Y")
        if name in (skill, "all"):
            found.append(rest)
    return tuple(found)


def _numbers(texts: Sequence[str]) -> dict[str, int]:
    numbers = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not value.replace("_", "").isdigit():
            raise BadInputError(f"--samples {text}: expected SKILL=N, such as move=20000000")
        numbers[name] = int(value)
    return numbers


def _options(args: argparse.Namespace) -> tuple[str, ...]:
    given = {"--device": args.device, "--physics": args.physics, "--seed": args.seed}
    return tuple(text for name, value in given.items() if value is not None for text in (name, str(value)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of runs and buffers")
    parser.add_argument("--size", default="cpu", help="agent config: smoke, cpu or gpu")
    parser.add_argument("--samples", nargs="+", default=[], metavar="SKILL=N", help="environment steps per skill")
    parser.add_argument("--states", type=int, default=50_000, metavar="N", help="states per buffer")
    parser.add_argument("--no-sti", action="store_true", help="without buffers, for comparison")
    parser.add_argument("--device", help="cpu, cuda:0, ...")
    parser.add_argument("--physics", help="physics backend")
    parser.add_argument("--seed", type=int, help="seed of all commands")
    parser.add_argument("--set", nargs="+", default=[], metavar="SKILL.env.X=Y", help="changes to the configs")
    return parser


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
