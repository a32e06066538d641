"""
AWS clients: the SDK's own credentials, endpoints and retries, and its errors as one sentence.

Throttled calls, and those that a network or server error broke, are sent again by botocore's standard mode.
"""

import functools
import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import botocore.exceptions

from nomad_csi import errors
from nomad_csi.text import foreign, redaction

CONNECT_S = 5
"""Seconds to connect."""

READ_S = 20
"""Seconds until each piece of a reply, until AWS counts as not answering."""

ATTEMPTS = 6
"""How often a call is sent at most: with growing pauses, half a minute in all where AWS throttles."""

LOG = logging.getLogger("nomad_csi.aws")
"""Logs each call."""

_LOCK = threading.Lock()  # clients may be shared by threads, and sessions not. Source: boto3 guide, "Session", 2026-11


def client(service: str, aws_region: str) -> Any:
    """Return a client of *service*, with credentials and endpoints from the AWS SDK's usual places."""
    from botocore import config as settings  # noqa: PLC0415  # as in `_session`

    retries = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    config = settings.Config(connect_timeout=CONNECT_S, read_timeout=READ_S, retries=retries)
    environment = frozenset((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    with _LOCK:
        aws_client = _session(aws_region, environment).client(service, config=config)

    def log(model: Any, http_response: Any, **_: object) -> None:
        LOG.info("%s in %s: status %d", model.name, aws_region, http_response.status_code)

    name = aws_client.meta.service_model.service_id.hyphenize()
    aws_client.meta.events.register(f"after-call.{name}", log, unique_id="nomad-csi-log")
    return aws_client


@functools.lru_cache(maxsize=8)
def _session(aws_region: str, _environment: frozenset[tuple[str, str]]) -> Any:
    """Return a session: creating one takes fifteen times as long as a client. It reads the SDK's files once."""
    import boto3  # noqa: PLC0415  # the provider starts with every run of the engine, and seldom asks AWS

    return boto3.session.Session(region_name=aws_region)


# EC2 ids: 200 in a request, whatever the number.


CHUNK = 200
"""Values of one filter. Source: Amazon EC2 API reference, ``DescribeVolumes``, 2026-08."""


def described(ec2: Any, operation: str, result: str, name: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """
    Return the *result* of *operation* for those of *ids* that exist; *name* is the filter that takes them.

    By filter: in a request by id, one missing id makes EC2 return nothing at all. Raises botocore's errors.
    """
    wanted, rows = sorted(set(ids)), []
    for start in range(0, len(wanted), CHUNK):
        filters = [{"Name": name, "Values": wanted[start : start + CHUNK]}]
        rows += ec2.get_paginator(operation).paginate(Filters=filters).search(result)
    return rows


# Errors as one sentence.


@contextmanager
def aws_errors(aws_region: str) -> Iterator[None]:
    """Convert errors of the SDK in the block to an `errors.AwsError` of one sentence, which quotes no reply."""
    from botocore import parsers  # noqa: PLC0415  # as in `_session`

    try:
        yield
    except botocore.exceptions.ClientError as error:
        info = error.response.get("Error", {})
        code = info.get("Code", "an error without a code")
        sentence = f"{error.operation_name} in {aws_region}: {code}: {_shown(info.get('Message', ''))}"
        raise errors.AwsError(sentence) from None
    except parsers.ResponseParserError:  # its text is the reply, which may be of STS
        advice = "check the endpoint and what stands in front of it"
        raise errors.AwsError(f"AWS in {aws_region} could not be asked: its reply is not AWS's; {advice}") from None
    except (botocore.exceptions.BotoCoreError, ValueError) as error:  # `ValueError`: an endpoint that is no URL
        reason = _shown(str(error).partition(_BODY)[0])
        raise errors.AwsError(f"AWS in {aws_region} could not be asked: {reason}") from None


_BODY = " from container metadata: "
"""Behind it a reply with credentials may be quoted. Source: botocore 1.44.5, ``ContainerMetadataFetcher``."""


def _shown(text: str) -> str:
    """Return a message of AWS or of its SDK without secrets, cut."""
    return foreign.cut(redaction.redact(text), errors.MESSAGE_LIMIT)


# The default AWS region.


def region_of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region that the AWS SDK would take from the *environment*; empty if there is none."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
