"""The 60 m sprint: a sport for sportsuite. What it offers is declared in :mod:`sportsuite_sprint.plugin`."""
