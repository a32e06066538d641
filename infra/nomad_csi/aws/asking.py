"""
How AWS is asked: with the SDK's own credentials and end points, with a deadline; and what its refusals say.

A call that AWS throttles is sent again, and each time said so (`asked_again`). No other is.
"""

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import boto3
import botocore.config
import botocore.exceptions
import botocore.parsers

from nomad_csi import errors

# Calls that AWS refuses because there are too many of them, asked again: after a growing pause, and never silently.
#
# Nothing else is asked again. A refused call did nothing, so repeating one is safe whatever it does.


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


# Many things asked of EC2 by their ids: 200 in a question, some questions at a time, whatever the number.


CHUNK = 200
"""Values of one filter. Source: Amazon EC2 API reference, ``DescribeVolumes``, 2026-08."""

WORKERS = 8


def described(ec2: Any, operation: str, result: str, name: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """
    Return the *result* of *operation* for those of *ids* that exist; *name* is the filter that takes them.

    By filter: asked by id, one that is gone makes EC2 answer nothing at all. Raises botocore's errors.
    """
    wanted = sorted(set(ids))
    chunks = [wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK)]
    if len(chunks) == 1:
        return _asked(ec2, operation, result, name, wanted)
    with futures.ThreadPoolExecutor(WORKERS) as pool:
        answers = [pool.submit(_asked, ec2, operation, result, name, chunk) for chunk in chunks]
        return [item for answer in answers for item in answer.result()]


def _asked(ec2: Any, operation: str, result: str, name: str, chunk: Sequence[str]) -> list[dict[str, Any]]:
    pages = ec2.get_paginator(operation).paginate(Filters=[{"Name": name, "Values": list(chunk)}])
    return list(pages.search(result))


# Clients, and their refusals as one sentence.


DEADLINE_S = 20
"""Seconds to connect, and again to read, before AWS counts as not answering."""

SESSION_S = 60
"""Seconds after which a new session reads the SDK's files again: others renew the credentials that stand there."""

_LOCK = threading.Lock()  # clients may be shared by threads, and sessions not. Source: boto3 guide, "Session", 2026-11
_SESSIONS: dict[tuple[object, ...], tuple[float, Any]] = {}
"""When each session was made, and itself, by region, profile and the environment that it was made in."""


def client(service: str, aws_region: str, *, profile: str | None = None) -> Any:
    """Return a client of *service*. Credentials and end points are those of the AWS SDK's usual places."""
    config = botocore.config.Config(
        connect_timeout=DEADLINE_S, read_timeout=DEADLINE_S, retries={"total_max_attempts": 1}
    )
    with _LOCK:
        made = _session(aws_region, profile).client(service, config=config)
    return asked_again(made, aws_region)


def _session(aws_region: str, profile: str | None) -> Any:
    """Return the session of this minute: to make one takes fifteen times as long as a client of it."""
    environment = frozenset((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    key, now = (aws_region, profile, environment), time.monotonic()
    for old in [old for old, (made_at, _) in _SESSIONS.items() if now - made_at > SESSION_S]:
        del _SESSIONS[old]
    if key not in _SESSIONS:
        _SESSIONS[key] = now, boto3.session.Session(region_name=aws_region, profile_name=profile)
    return _SESSIONS[key][1]


@contextmanager
def told(aws_region: str) -> Iterator[None]:
    """Make what goes wrong in the block an `errors.AwsError` of one sentence."""
    try:
        yield
    except (
        botocore.exceptions.BotoCoreError,
        botocore.exceptions.ClientError,
        botocore.parsers.ResponseParserError,  # of an end point that is not AWS's; it has no base class of botocore's
        ValueError,
    ) as error:
        raise errors.AwsError(_sentence(error, aws_region)) from None


def _sentence(error: Exception, aws_region: str) -> str:
    if isinstance(error, botocore.exceptions.NoCredentialsError | botocore.exceptions.PartialCredentialsError):
        return "AWS credentials: none found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    if isinstance(error, botocore.exceptions.ProfileNotFound):
        return f"AWS credentials: {error}; check AWS_PROFILE and the stack's aws:profile"
    if isinstance(error, botocore.exceptions.ClientError):
        said = error.response["Error"]
        return (
            f"{error.operation_name} in {aws_region}: {said['Code']}: {said.get('Message', '')[: errors.MESSAGE_LIMIT]}"
        )
    return f"AWS in {aws_region} could not be asked: {str(error)[: errors.MESSAGE_LIMIT]}"


# Which AWS region is meant, where nobody names one.


def region_of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region that the AWS SDK would take from the *environment*; empty where there is none."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
