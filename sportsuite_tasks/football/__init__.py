"""Football: see :mod:`sportsuite_tasks.football.plugin` for what it offers."""
