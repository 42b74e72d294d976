"""Readers of motion files; each returns a :class:`~sportsuite.motion.source.SourceMotion` or a native clip."""
