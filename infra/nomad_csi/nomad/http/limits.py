"""How much of a reply is read: by its status, and by its path."""

import re
from dataclasses import dataclass

ERROR_BYTES = 2**16
"""Of an error reply; the rest is not read. Nomad's longest texts list the errors of each part of a job."""


@dataclass(frozen=True, kw_only=True)
class ReplyLimits:
    """Limits of a reply to a successful call; a longer one is an error."""

    size: int
    """Bytes."""

    values: int
    """Strings, numbers, lists and objects, keys not counted: a bound of time and memory for decoding."""


OBJECT = ReplyLimits(size=2**24, values=2**20)
"""Of one object. The largest are jobs with their templates; Nomad accepts one of up to 1 MB of source."""

LIST = ReplyLimits(size=2**26, values=3_000_000)
"""
Of a list of objects, and of an object with all its allocations.

Nomad's reply to 20,000 registrations at once has 18 MB. A real agent's replies (2.0.6-dev) have one value in 23 to 47
bytes, so that this size has less than three million. To decode so many takes about a second and at most 0.4 GB.
"""

_LISTS = re.compile(
    r"/v1/(?:jobs|vars|namespaces|nodes|plugins|plugin/csi/[^/]+|volumes(?:/.*)?|volume/csi/[^/]+|job/[^/]+/allocations)"
)


def limits_of(path: str) -> ReplyLimits:
    """Return the limits of a reply to a call of *path*, as `request.path_of` returns it."""
    return LIST if _LISTS.fullmatch(path) else OBJECT
