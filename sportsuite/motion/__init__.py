"""Motion clips: the native format, importers, retargeting to the suite's characters, features for motion priors."""
