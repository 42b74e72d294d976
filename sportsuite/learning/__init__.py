"""Training: PPO under rsl_rl's own runner, agent configs in three sizes, checkpoints that describe themselves."""
