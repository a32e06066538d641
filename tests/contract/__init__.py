"""A package, so that what its tests share ends with its last test: scope ``package`` needs this file."""
