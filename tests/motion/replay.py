"""Features of a replayed clip in the simulator and in the library, on one backend: ``replay.py BACKEND OUTPUT``.

A process holds one simulation, and PhysX and Newton don't share one, so each backend gets a process of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch

from sportsuite.motion.library import MotionLibrary
from sportsuite.motion.reference import prior_features_h, write_states

TASK = "SportSuite-ImitateHeading-v0"
NUM_ENVS = 4
EXACT = {
    "events.character.params.joint_noise": 0.0,
    "events.character.params.lift": 0.0,
    "events.character.params.reference_fraction": 1.0,
    "events.character.params.fallen_fraction": 0.0,
}
"""Starts are the reference's states and nothing else."""


def main() -> None:
    backend, output = sys.argv[1], Path(sys.argv[2])
    env = gym.make(f"sportsuite:{TASK}", num_envs=NUM_ENVS, seed=1, device="cpu", physics=backend, **EXACT).unwrapped
    result = measured(env)
    env.close()
    output.write_text(json.dumps(result))


def measured(env: Any) -> dict[str, float]:
    """All differences."""
    return {**starts(env), "replay": replayed(env)}


def difference(a: torch.Tensor, b: torch.Tensor) -> float:
    return (a - b).abs().max().item()


def starts(env: Any) -> dict[str, float]:
    """Largest difference in the observation after each kind of reset."""
    drawn: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
    draw = env.reference.draw

    def recorded(num: int, frames: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        drawn.append(draw(num, frames))
        return drawn[-1]

    env.reference.draw = recorded
    result = {}
    observations, _ = env.reset()
    result["first_reset"] = difference(observations["prior"], last_drawn(env, drawn))
    for _ in range(3):
        env.step(torch.zeros(NUM_ENVS, 28))
    # time is up in two of four worlds
    env.episode_length_buf[:2] = env.max_episode_length
    before = len(drawn)
    observations, _, _, timed_out, extras = env.step(torch.zeros(NUM_ENVS, 28))
    assert timed_out[:2].all() and not timed_out[2:].any() and len(drawn) == before + 1
    result["reset_in_step"] = difference(observations["prior"][:2], last_drawn(env, drawn))
    # the last frame of the old episode is another one
    result["change_by_reset"] = difference(extras["final_obs"]["prior"][:2], observations["prior"][:2])
    observations, _ = env.reset()
    result["later_reset"] = difference(observations["prior"], last_drawn(env, drawn))
    env.reference.draw = draw
    return result


def last_drawn(env: Any, drawn: list) -> torch.Tensor:
    """Features of the states that were drawn last, from the library."""
    clips, times, speed = drawn[-1]
    return env.reference.library.windows(clips, times, 1, env.step_dt, speed)[:, 0]


def replayed(env: Any) -> float:
    """Largest difference over a second of each clip, put into the simulator frame by frame."""
    library: MotionLibrary = env.reference.library
    clips = torch.arange(NUM_ENVS) % len(library)
    ids, worst = torch.arange(NUM_ENVS), 0.0
    speed = torch.tensor([1.0, 1.3, 0.7, 1.0])
    for frame in range(30):
        times = 0.1 + frame / 30.0 * speed
        write_states(env, ids, library.states(clips, times, speed), random_yaw=True)
        expected = library.windows(clips, times, 1, env.step_dt, speed)[:, 0]
        worst = max(worst, difference(prior_features_h(env), expected))
    return worst


if __name__ == "__main__":
    main()
