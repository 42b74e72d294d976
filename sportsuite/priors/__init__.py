"""Motion priors as objects that a learning algorithm calls from a list: discriminators, encoders, latent commands."""
