"""What would hurt: faults of a cluster, a token and an account, found before anybody meets them. Pure; only judges."""
