"""Delete storage with its data, and its snapshots: only what this package created, and only if it is not in use."""
