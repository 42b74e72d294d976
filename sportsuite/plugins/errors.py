"""Errors of the plugin system."""

from __future__ import annotations

from sportsuite.errors import SportSuiteError

__all__ = ["PluginError"]


class PluginError(SportSuiteError):
    """A sport plugin is wrongly declared, could not be loaded, or clashes with another one.

    The message names the plugin (distribution and entry point, where known) and the cause.
    """
