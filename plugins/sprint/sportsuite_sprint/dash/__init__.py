"""The task Sprint-60m-v0."""
