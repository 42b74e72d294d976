"""Train the four football skills in order: the same as ``python -m sportsuite_tasks.football.curriculum``."""

import sys

from sportsuite_tasks.football.curriculum import main

if __name__ == "__main__":
    sys.exit(main())
