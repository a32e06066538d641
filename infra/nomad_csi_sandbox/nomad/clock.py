"""The two ways in which Nomad writes a moment. Part of the Nomad emulator."""

import datetime as dt
import time

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS


def now_ns() -> int:
    """Return nanoseconds since 1970."""
    return time.time_ns()


def rfc3339(time_ns: int) -> str:
    """Return ``2026-11-21T07:18:42.396026101Z``."""
    seconds, rest = divmod(time_ns, SECOND_NS)
    moment = dt.datetime.fromtimestamp(seconds, tz=dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def go_duration(nanoseconds: int) -> str:
    """Return a duration as Go prints it: ``5s``, ``1m30s``, ``500ms``."""
    if nanoseconds < SECOND_NS:
        return f"{nanoseconds / 1_000_000:g}ms" if nanoseconds else "0s"
    minutes, rest_ns = divmod(nanoseconds, MINUTE_NS)
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}h" if hours else ""
    head += f"{minutes}m" if minutes or hours else ""
    return f"{head}{rest_ns / SECOND_NS:g}s"
