"""
Exit codes of every command; 0: done, or all is well.

`volumes.outcome` and `diagnosis.rounds` choose among them; the codes of exceptions are in `cli`.
"""

CHANGES = 1
"""A negative result: findings with severity error, drift, stale files, a refused change."""

ERROR = 2
"""The result could not be determined: a failed request, a missing file."""

USAGE = 64
"""A usage error (``EX_USAGE`` of ``sysexits.h``)."""

CSI_BASE = 100
"""`csi call` that a plugin refused exits with this plus the number of the gRPC code: 105 for ``NOT_FOUND``."""

INTERRUPTED = 130
"""128 and the number of SIGINT."""

CLOSED = 141
"""128 and the number of SIGPIPE, as in shells for a command whose output was closed."""

TERMINATED = 143
"""128 and the number of SIGTERM, which is handled as an interrupt."""
