"""Preflight checks: faults of a cluster, a token and an account. Pure; only evaluates observed data."""
