"""Climbing: see :mod:`sportsuite_tasks.climbing.plugin` for what it offers."""
