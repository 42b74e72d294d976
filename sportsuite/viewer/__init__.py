"""Looking at tasks: videos without a display, and the browser viewer."""
