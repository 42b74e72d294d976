"""Writes the synthetic clips of assets/motions, so that characters learn gaits that no recorded clip at hand shows.

Recorded walks begin at about 1 m/s and go forward; standing, slow walks, side and backward steps and turns are made
here. The files depend on a solver's arithmetic, so build_assets.py doesn't rebuild them.
"""

from __future__ import annotations

import argparse
import logging
import math
from pathlib import Path

from sportsuite.assets import record_assets
from sportsuite.motion.clip import Clip
from sportsuite.motion.clip_io import save_clip
from sportsuite.motion.synth import stand, turn_in_place, walk_cycle

logger = logging.getLogger("build_motions")

FPS = 30.0


def clips() -> dict[str, Clip]:
    """Make every clip, by file name."""
    left = math.pi / 2.0
    return {
        "stand": stand(4.0, fps=FPS),
        "walk_slow": walk_cycle(0.5, fps=FPS, seconds=3.0),
        "walk_left": walk_cycle(0.9, left, fps=FPS, seconds=3.0),
        "walk_backward": walk_cycle(0.9, math.pi, fps=FPS, seconds=3.0),
        "walk_turning_left": walk_cycle(1.2, turn_rate=math.pi / 3.0, fps=FPS, seconds=3.0),
        "turn_left": turn_in_place(math.pi / 2.0, fps=FPS, seconds=3.0),
    }


def main() -> None:
    """Write the clips and record them in the manifest."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parent.parent / "assets"
    parser.add_argument("--output", type=Path, default=default, help="asset folder (default: the checkout's)")
    root = parser.parse_args().output
    made = clips()
    for name, clip in made.items():
        save_clip(clip, root / f"motions/{name}.npz")
        logger.info("wrote motions/%s.npz: %.1f s", name, clip.duration)
    origin = ("sportsuite, synthesised by scripts/build_motions.py", "BSD-3-Clause")
    record_assets(root, {f"motions/{name}.npz": origin for name in made})


if __name__ == "__main__":
    main()
