"""MySport's manager terms, one module per kind."""
