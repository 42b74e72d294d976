"""What basketball offers: as yet a name and no tasks."""

from sportsuite.plugins.api import SportPlugin

PLUGIN = SportPlugin(
    name="basketball",
    api_version=1,
    description="Basketball skills with the hands; declared, without tasks as yet.",
)
