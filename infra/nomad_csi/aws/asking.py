"""
How AWS is asked: with the SDK's own credentials and end points, with a deadline; and what its refusals say.

A call that AWS throttles is sent again, and each time said so (`throttled`). No other is.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import botocore.config
import botocore.exceptions
import botocore.parsers

from nomad_csi import errors
from nomad_csi.aws import throttled

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
    return throttled.asked_again(made, aws_region)


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
