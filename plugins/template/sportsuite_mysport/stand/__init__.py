"""The task MySport-Stand-v0."""
