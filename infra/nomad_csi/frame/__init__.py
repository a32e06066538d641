"""The common parts of custom resources: their interface, their properties, and the comparison of these."""
