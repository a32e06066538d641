"""
Calls that AWS refuses because there are too many of them, asked again: after a growing pause, and never silently.

Nothing else is asked again. A refused call did nothing, so repeating one is safe whatever it does.
"""

import logging
import random
from collections.abc import Callable
from typing import Any

LOG = logging.getLogger("nomad_csi.aws")
"""Where each further attempt is told, as a warning; without a handler of one's own, Python prints it on stderr."""

ATTEMPTS = 8
"""Times a call is sent at most: of calls that are refused three times in ten, one in 15,000 fails."""

LONGEST_PAUSE_S = 10.0

CODES = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "PriorRequestNotComplete",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    }
)
"""
Codes by which services say so. Source: botocore 1.44.5, ``botocore/retries/standard.py``
(``ThrottledRetryableChecker``).
"""

_ID = "nomad-csi-throttled"


def asked_again(
    client: Any, aws_region: str, *, attempts: int = ATTEMPTS, tell: Callable[..., None] = LOG.warning
) -> Any:
    """
    Return *client*, whose throttled calls are from now on sent up to *attempts* times.

    Each further attempt is told by *tell*, which takes a format and its values, as the methods of a logger do.
    """
    most = attempts

    def pause_s(response: Any = None, attempts: int = 1, operation: Any = None, **_: object) -> float | None:
        """Return the seconds until the next attempt, which botocore waits; ``None`` where there is none."""
        # Source: botocore 1.44.5, `Endpoint._needs_retry`: the first answer of a handler that is not None is waited.
        code = response[1].get("Error", {}).get("Code", "") if response is not None else ""
        if code not in CODES or attempts >= most:
            return None
        seconds = min(LONGEST_PAUSE_S, 0.25 * 2.0**attempts) * random.uniform(0.5, 1)  # noqa: S311  # no secret
        tell(
            "%s in %s: %s; asked again in %.1f s, attempt %d of %d",
            operation.name,
            aws_region,
            code,
            seconds,
            attempts + 1,
            most,
        )
        return seconds

    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register_first(f"needs-retry.{service}", pause_s, unique_id=_ID)
    return client
