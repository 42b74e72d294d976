"""How sports are declared (:mod:`~sportsuite.plugins.api`) and found (:mod:`~sportsuite.plugins.manager`)."""

from sportsuite.plugins.api import AGENT_SIZES, API_VERSION, TERM_KINDS, SportPlugin, TaskSpec
from sportsuite.plugins.errors import PluginError

__all__ = ["AGENT_SIZES", "API_VERSION", "TERM_KINDS", "PluginError", "SportPlugin", "TaskSpec"]
