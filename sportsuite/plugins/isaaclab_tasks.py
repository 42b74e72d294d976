"""The module behind the entry point ``isaaclab.tasks``: Isaac Lab's own commands import it to find our tasks.

That loader has no guard, so one exception here would break every ``isaaclab`` command, also for other people's tasks.
:func:`~sportsuite.plugins.manager.register_all` logs what fails and never raises.
"""

from sportsuite.plugins.manager import register_all

register_all()
