"""The demo: plays the shipped Trap policy, prints its metrics, writes demo.mp4. Run by ``make demo``."""

from __future__ import annotations

import logging
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
warnings.filterwarnings("ignore", category=FutureWarning)
warnings.filterwarnings("ignore", category=DeprecationWarning)

TASK = "SportSuite-Trap-v0"
WORLDS, EPISODES, SECONDS = 32, 64, 4.0


def main() -> None:
    """Evaluate briefly, film, say where the film is."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    began = time.monotonic()
    print(f"Starting {TASK} (the first start compiles the stepping loop, the next ones don't) ...", flush=True)
    import gymnasium as gym

    import sportsuite  # noqa: F401
    from sportsuite.cli import _output
    from sportsuite.cli._playing import results_only
    from sportsuite.envs.make_env import load_env_cfg
    from sportsuite.envs.offscreen import add_offscreen_viewer
    from sportsuite.evaluation.protocol import protocol_of
    from sportsuite.evaluation.report import COLUMNS, evaluation_document, over_seeds, table_rows
    from sportsuite.learning.policy import load_policy, pretrained_path, restore_interface
    from sportsuite.plugins.manager import find_task
    from sportsuite.viewer.video import check_offscreen, record

    task = find_task(TASK)
    path = pretrained_path(task)
    check_offscreen()
    with results_only():
        cfg = load_env_cfg(task.spec.env_cfg)
        restore_interface(cfg, path)
        protocol = protocol_of(task)
        protocol.configure(cfg)
        add_offscreen_viewer(cfg, 640, 360)
        env = gym.make(TASK, cfg=cfg, num_envs=WORLDS, device="cpu", seed=0).unwrapped
        policy = load_policy(path, env, task)
        metrics = protocol.run(env, policy, EPISODES, 0, lambda done, wanted: None)
    document = evaluation_document(TASK, EPISODES, over_seeds([metrics]), policy.about)
    _output.print_rows(COLUMNS, table_rows(document), f"{TASK}: the shipped policy over {EPISODES} lobs")
    video = Path("demo.mp4")
    with results_only():
        frames = record(env, policy, video, SECONDS)
    print(f"{video}: {frames} frames; {time.monotonic() - began:.0f} s in all", flush=True)
    # taking the simulation apart would take seconds and free nothing that the end of the process doesn't
    os._exit(0)


if __name__ == "__main__":
    main()
