"""What custom resources have in common: their shape, their properties, and how these are compared."""
