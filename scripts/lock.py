"""Writes requirements.lock: every installed distribution as name==version, sportsuite's own left out."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

HEADER = "# What `make setup` installs. Written by `make lock` from a tested environment; name==version only.\n"
OWN = re.compile(r"sportsuite.*")


def main() -> None:
    """Write the lock file of the running environment."""
    found = {}
    for distribution in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
        if not OWN.fullmatch(name):
            found[name] = f"{name}=={distribution.version}"
    path = Path(__file__).parents[1] / "requirements.lock"
    path.write_text(HEADER + "".join(f"{found[name]}\n" for name in sorted(found)))
    print(f"{len(found)} distributions in {path.name}")


if __name__ == "__main__":
    main()
