"""MySport: a sport for sportsuite. What it offers is declared in :mod:`sportsuite_mysport.plugin`."""
