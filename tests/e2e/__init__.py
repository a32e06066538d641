"""A package, so that the sandbox that its tests share ends with its last test: scope ``package`` needs this file."""
