"""The command line, one file per verb; see :mod:`sportsuite.cli.main` for the convention."""
