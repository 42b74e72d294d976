#!/usr/bin/env python3
"""Write the generated asset files and their manifest entries. Running it again changes nothing."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from sportsuite.assets import record_assets
from sportsuite.characters.humanoid28_usd import write_humanoid28
from sportsuite.characters.spec import SOLE_DROP, VARIANTS, asset_name

LICENCE = "BSD-3-Clause"
ORIGIN = "sportsuite, written by scripts/build_assets.py"

SIMULATED = {"motions/fallen_states.npz": "sportsuite, simulated by scripts/build_fallen_states.py"}
"""Files that depend on the physics engine's arithmetic: recorded where they exist, written by their own scripts."""

logger = logging.getLogger("build_assets")


def build(root: Path) -> list[str]:
    """Write every generated asset below ``root`` and record it, and the simulated ones, in the manifest.

    Returns:
        Names of the files written, relative to ``root``.
    """
    names = []
    for variant, size in VARIANTS.items():
        for foot in SOLE_DROP:
            name = asset_name(variant, foot)
            write_humanoid28(root / name, size.height, size.mass, foot)
            names.append(name)
    sources = dict.fromkeys(names, (ORIGIN, LICENCE))
    sources |= {name: (origin, LICENCE) for name, origin in SIMULATED.items() if (root / name).is_file()}
    record_assets(root, sources)
    return names


def main() -> None:
    """Parse the command line and build."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parent.parent / "assets"
    parser.add_argument("--output", type=Path, default=default, help="asset folder (default: the checkout's)")
    for name in build(parser.parse_args().output):
        logger.info("wrote %s", name)


if __name__ == "__main__":
    main()
