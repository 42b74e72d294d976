"""Trained policies as parts of other tasks."""
