"""Step eleven against eleven for a while and report how fast it goes: scene, state machine and physics under load.

python scripts/eleven_a_side.py --seconds 60
python scripts/eleven_a_side.py --seconds 10 --skills move=move.pt trap=trap.pt dribble=dribble.pt kick=kick.pt
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")


def main() -> int:
    """Run it; prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="simulated time [s]")
    parser.add_argument(
        "--skills", nargs="+", default=[], metavar="SKILL=FILE", help="policies; by default the shipped"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="size of the pitch against 105 m x 68 m")
    args = parser.parse_args()
    import gymnasium
    import torch

    import sportsuite  # noqa: F401  registers the tasks

    options = {"skills": dict(text.split("=", 1) for text in args.skills)} if args.skills else {}
    overrides: dict[str, Any] = {f"actions.team.{name}": value for name, value in options.items()}
    start = time.monotonic()
    env = gymnasium.make(
        "SportSuite-ElevenASide-v0", num_envs=1, seed=0, **{"pitch_scale": args.scale} | overrides
    ).unwrapped
    built = time.monotonic() - start
    observations, _ = env.reset(seed=0)
    steps, counts = round(args.seconds / env.step_dt), {}
    start = time.monotonic()
    finite = True
    for _ in range(steps):
        observations, *_ = env.step(torch.zeros(1, 2, device=env.device))
        finite &= bool(torch.isfinite(observations["policy"]).all())
    wall = time.monotonic() - start
    machine = env.action_manager.get_term("team").machine
    for row, count in zip(machine.table.transitions, machine.counts.tolist(), strict=True):
        counts[f"{row.source} -> {row.target}"] = count
    report = {
        "players": 22,
        "simulated_s": args.seconds,
        "wall_s": round(wall, 1),
        "steps_per_s": round(steps / wall, 2),
        "real_time_factor": round(args.seconds / wall, 3),
        "build_s": round(built, 1),
        "finite": finite,
        "nonfinite_worlds": env.nonfinite_count,
        "transitions": counts,
    }
    env.close()
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 0 if finite and not report["nonfinite_worlds"] else 1


if __name__ == "__main__":
    sys.exit(main())
