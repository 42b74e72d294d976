"""Motion priors: a character that moves like its reference clips, without a ball."""
