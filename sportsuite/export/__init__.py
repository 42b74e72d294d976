"""Policies for use without sportsuite."""
