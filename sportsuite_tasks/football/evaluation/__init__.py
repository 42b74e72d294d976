"""Football's evaluation protocols: the metrics of PhysicsFC's tables, a file per task."""
