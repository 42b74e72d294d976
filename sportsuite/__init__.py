"""Football, climbing and basketball for physics-based characters, on Isaac Lab, open to further sports.

Importing the package registers the Gymnasium ids of every installed sport, as strings: neither torch nor a simulator
is loaded before an environment is made.
"""

from importlib.metadata import PackageNotFoundError, version

from sportsuite.plugins.manager import register_all

__all__ = ["__version__"]

try:
    __version__ = version("sportsuite")
except PackageNotFoundError:
    # the source tree is on the path without having been installed: there are no entry points either
    __version__ = "0+not.installed"

register_all()
