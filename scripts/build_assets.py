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

logger = logging.getLogger("build_assets")


def build(root: Path) -> list[str]:
    """Write every generated asset below ``root`` and record it in the manifest.

    Returns:
        Names of the files written, relative to ``root``.
    """
    names = []
    for variant, size in VARIANTS.items():
        for foot in SOLE_DROP:
            name = asset_name(variant, foot)
            write_humanoid28(root / name, size.height, size.mass, foot)
            names.append(name)
    record_assets(root, dict.fromkeys(names, (ORIGIN, LICENCE)))
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
