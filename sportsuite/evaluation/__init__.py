"""Evaluation: protocols that measure a policy, episodes counted without bias, figures beside the texts' own."""
