"""Fixtures of the plugin tests."""

from tests.plugins.fixtures import own_site, site

__all__ = ["own_site", "site"]
