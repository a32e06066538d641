"""How many files a process may have open at once. With too few, gRPC ends the process without a sentence."""

import resource

LEAST = 64
"""
For the provider, and for the parts of a sandbox: 40 are enough for the tutorial's storage on Linux (tried 2026-11).

With 12, grpcio 1.85 ends the process by SIGABRT.
"""


def too_few() -> str | None:
    """Return what is wrong where this process may open fewer files than `LEAST`; ``None``: nothing."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if not 0 <= allowed < LEAST:
        return None
    return f"open files: expected a limit of at least {LEAST}, got {allowed}; raise it with `ulimit -n {LEAST}`"
