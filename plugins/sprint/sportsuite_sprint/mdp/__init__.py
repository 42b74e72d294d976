"""The sprint's manager terms, one module per kind. All measure along x, the direction of the lane."""
