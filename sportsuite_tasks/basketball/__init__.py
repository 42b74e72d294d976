"""Basketball: see :mod:`sportsuite_tasks.basketball.plugin` for what it offers."""
