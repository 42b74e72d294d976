"""Putting skills together: recorded states to start from, and the machine that decides which skill plays."""
