"""What climbing offers: as yet a name and no tasks."""

from sportsuite.plugins.api import SportPlugin

PLUGIN = SportPlugin(
    name="climbing",
    api_version=1,
    description="Climbing from hold to hold; declared, without tasks as yet.",
)
