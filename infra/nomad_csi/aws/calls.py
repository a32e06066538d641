"""
AWS clients: the SDK's own credentials and endpoints, a deadline, a retry policy, and errors as one sentence.

A throttled call is retried, and each retry is logged (`asked_again`). Other calls are not retried.
"""

import contextvars
import functools
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import botocore.exceptions

from nomad_csi import concurrency, errors
from nomad_csi.text import foreign, redaction

CALL_S = 20
"""Seconds to connect, and again until each piece of a reply, until AWS counts as not answering."""

TASK_S = 150.0
"""Seconds of all calls of one task, such as to read the volumes of an account page by page."""

_UNTIL: contextvars.ContextVar[float] = contextvars.ContextVar("_UNTIL", default=float("inf"))
"""On the monotonic clock."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End calls in the block after *seconds* of it, and begin none; a block in a block never extends them."""
    token = _UNTIL.set(min(_UNTIL.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def _refuse_late(event_name: str, **_: object) -> None:
    if time.monotonic() >= _UNTIL.get():
        raise errors.AwsError(
            f"{event_name.rpartition('.')[2]} was not sent: AWS took too long for the calls before it"
        )


def _bounded(call: Callable[[], Any], name: str) -> Any:
    """
    Return the result of *call*. Raises `errors.AwsError` at the deadline, `TASK_S` from now at the latest.

    A thread makes the call, and is abandoned then: botocore bounds neither a reply that drips, nor a program that
    prints credentials.
    """
    outcome: futures.Future[Any] = futures.Future()
    make = functools.partial(contextvars.copy_context().run, concurrency.settle, call, outcome)
    threading.Thread(target=make, daemon=True).start()
    if not futures.wait([outcome], max(min(_UNTIL.get() - time.monotonic(), TASK_S), 0.0)).done:
        raise errors.AwsError(f"{name}: AWS, or the program that gives its credentials, took too long")
    return outcome.result()


# Retries of calls that AWS throttles: after a growing pause, and never silently.
#
# No other call is retried. A throttled call did nothing, so repeating it is safe whatever it does.


LOG = logging.getLogger("nomad_csi.aws")
"""Logs each retry as a warning; without a configured handler, Python prints it on stderr."""

ATTEMPTS = 8
"""How often a call is sent at most: if three in ten calls are throttled, one in 15,000 fails."""

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
Error codes of throttled calls. Source: botocore 1.44.5, ``botocore/retries/standard.py``
(``ThrottledRetryableChecker``).
"""

_ID = "nomad-csi-throttled"

_CHANCE = random.SystemRandom()
"""Not the generator of the module: a library may not change the random numbers of the program that uses it."""


def asked_again(
    client: Any, aws_region: str, *, attempts: int = ATTEMPTS, report: Callable[..., None] = LOG.warning
) -> Any:
    """
    Return *client*, which from now on sends throttled calls up to *attempts* times.

    *report* reports each retry; it takes a format and its values, as the methods of a logger do.
    """
    most = attempts

    def pause_s(response: Any = None, attempts: int = 1, operation: Any = None, **_: object) -> float | None:
        """Return the seconds until the next attempt, which botocore waits; ``None`` if there is none."""
        # Source: botocore 1.44.5, `Endpoint._needs_retry`: the first response of a handler that is not None is the
        # pause.
        code = response[1].get("Error", {}).get("Code", "") if response is not None else ""
        if code not in CODES or attempts >= most:
            return None
        seconds = min(LONGEST_PAUSE_S, 0.25 * 2.0**attempts) * _CHANCE.uniform(0.5, 1)
        if time.monotonic() + seconds >= _UNTIL.get():
            return None
        report(
            "%s in %s: %s; asked again in %.1f s, attempt %d of %d",
            operation.name,
            aws_region,
            code,
            seconds,
            attempts + 1,
            most,
        )
        return seconds

    def begin(context: dict[str, Any], **_: object) -> None:
        context[_ID] = time.monotonic()

    def log(context: dict[str, Any], model: Any, http_response: Any, **_: object) -> None:
        """Log a call with its time."""
        took_ms = (time.monotonic() - context.get(_ID, 0.0)) * 1000
        LOG.info("%s in %s: status %d, %.0f ms", model.name, aws_region, http_response.status_code, took_ms)

    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register(f"before-call.{service}", begin, unique_id=f"{_ID}-begin")
    client.meta.events.register(f"after-call.{service}", log, unique_id=f"{_ID}-log")
    client.meta.events.register_first(f"needs-retry.{service}", pause_s, unique_id=_ID)
    return client


# Batches of EC2 ids: 200 in a request, several requests in parallel, whatever the number.


CHUNK = 200
"""Values of one filter. Source: Amazon EC2 API reference, ``DescribeVolumes``, 2026-08."""

WORKERS = 8


def described(ec2: Any, operation: str, result: str, name: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """
    Return the *result* of *operation* for those of *ids* that exist; *name* is the filter that takes them.

    By filter: in a request by id, one missing id makes EC2 return nothing at all. Raises botocore's errors.
    """
    wanted = sorted(set(ids))
    chunks = [wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK)]
    if len(chunks) == 1:
        return _asked(ec2, operation, result, name, wanted)
    calls = (functools.partial(_asked, ec2, operation, result, name, chunk) for chunk in chunks)
    return [item for answer in concurrency.run_in_order(calls, workers=WORKERS) for item in answer]


def _asked(ec2: Any, operation: str, result: str, name: str, chunk: Sequence[str]) -> list[dict[str, Any]]:
    pages = ec2.get_paginator(operation).paginate(Filters=[{"Name": name, "Values": list(chunk)}])
    return list(pages.search(result))


# Clients, and their errors as one sentence.


SESSION_S = 60
"""Seconds until a new session reads the SDK's files again: other programs renew the credentials in them."""

_LOCK = threading.Lock()  # clients may be shared by threads, and sessions not. Source: boto3 guide, "Session", 2026-11
_SESSIONS: dict[tuple[object, ...], tuple[float, Any]] = {}
"""Creation time and session, by region and environment."""


def client(service: str, aws_region: str) -> Any:
    """Return a client of *service*, with credentials and endpoints from the AWS SDK's usual places."""
    from botocore import config as settings  # noqa: PLC0415  # as in `_session`

    config = settings.Config(connect_timeout=CALL_S, read_timeout=CALL_S, retries={"total_max_attempts": 1})
    with _LOCK:
        make = functools.partial(_session(aws_region).client, service, config=config)
        try:
            made = _bounded(make, f"a client of {service}")
        except errors.AwsError:
            _SESSIONS.clear()  # the abandoned thread is still in one
            raise
    # Source: botocore 1.44.5, `ClientCreator._create_api_method`: all methods and pages of a client call it.
    call = made._make_api_call  # noqa: SLF001
    made._make_api_call = lambda name, given: _bounded(  # noqa: SLF001
        functools.partial(call, name, given), f"{name} in {aws_region}"
    )
    return asked_again(made, aws_region)


def _session(aws_region: str) -> Any:
    """Return the current session, shared for `SESSION_S`: creating one takes fifteen times as long as a client."""
    environment = frozenset((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    key, now = (aws_region, environment), time.monotonic()
    for old in [old for old, (made_at, _) in _SESSIONS.items() if now - made_at > SESSION_S]:
        del _SESSIONS[old]
    if key not in _SESSIONS:
        import boto3  # noqa: PLC0415  # the provider starts with every run of the engine, and seldom asks AWS

        made = boto3.session.Session(region_name=aws_region)
        # Source: botocore 1.44.5, `Endpoint._get_response`: an error of ``before-send`` ends the call.
        made.events.register_last("before-send", _refuse_late)
        _SESSIONS[key] = now, made
    return _SESSIONS[key][1]


@contextmanager
def aws_errors(aws_region: str) -> Iterator[None]:
    """
    Convert errors in the block, which asks AWS and reads its replies, to an `errors.AwsError` of one sentence.

    The calls in the block end after `TASK_S`. No reply is quoted: it may be of STS.
    """
    try:
        with within(TASK_S):
            yield
    except _expected() as error:
        raise errors.AwsError(_sentence(error, aws_region)) from None


def _expected() -> tuple[type[Exception], ...]:
    """Return the classes of what a call of AWS, and a reader of its reply, raise."""
    from botocore import parsers  # noqa: PLC0415  # as in `_session`

    return (
        botocore.exceptions.BotoCoreError,
        botocore.exceptions.ClientError,
        parsers.ResponseParserError,  # of an endpoint other than AWS; it has no base class of botocore's
        *_UNREADABLE,
    )


_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What botocore's parsers and the readers of replies raise for a reply of another shape than AWS's."""


def _sentence(error: Exception, aws_region: str) -> str:
    if isinstance(error, botocore.exceptions.NoCredentialsError | botocore.exceptions.PartialCredentialsError):
        return "AWS credentials: none found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    if isinstance(error, botocore.exceptions.ProfileNotFound):
        return f"AWS credentials: {error}; check AWS_PROFILE"
    if isinstance(error, botocore.exceptions.ClientError):
        info = error.response.get("Error", {})
        code = info.get("Code", "an error without a code")
        return f"{error.operation_name} in {aws_region}: {code}: {_shown(info.get('Message', ''))}"
    if isinstance(error, botocore.exceptions.BotoCoreError) or str(error).startswith(_ENDPOINT):
        return f"AWS in {aws_region} could not be asked: {_shown(str(error).partition(_BODY)[0])}"
    return f"AWS in {aws_region} could not be asked: {type(error).__name__}: its reply could not be read; {_ADVICE}"


_ADVICE = "check the endpoint and what stands in front of it"

_BODY = " from container metadata: "
"""Behind it a reply with credentials may be quoted. Source: botocore 1.44.5, ``ContainerMetadataFetcher``."""

_ENDPOINT = "Invalid endpoint: "
"""The ``ValueError`` that is about no reply. Source: botocore 1.44.5, ``EndpointCreator.create_endpoint``."""


def _shown(text: str) -> str:
    """Return a message of AWS or of its SDK without secrets, cut."""
    return foreign.cut(redaction.redact(text), errors.MESSAGE_LIMIT)


# The default AWS region.


def region_of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region that the AWS SDK would take from the *environment*; empty if there is none."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
