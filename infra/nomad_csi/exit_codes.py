"""Exit codes of every command; 0: done, or all is well."""

CHANGES = 1
"""A negative result: findings with severity error, drift, stale files, a refused change."""

ERROR = 2
"""The result could not be determined: a failed request, a missing file."""

USAGE = 64
"""A usage error (``EX_USAGE`` of ``sysexits.h``)."""
