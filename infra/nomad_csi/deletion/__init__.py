"""Storage deleted with its data, and snapshots of it: only what this package made, and only when it is free."""
