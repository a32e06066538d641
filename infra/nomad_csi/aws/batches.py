"""Many things asked of EC2 by their ids: 200 in a question, some questions at a time, whatever the number."""

from collections.abc import Iterable, Sequence
from concurrent import futures
from typing import Any

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
    with futures.ThreadPoolExecutor(WORKERS) as pool:
        answers = [pool.submit(_asked, ec2, operation, result, name, chunk) for chunk in chunks]
        return [item for answer in answers for item in answer.result()]


def _asked(ec2: Any, operation: str, result: str, name: str, chunk: Sequence[str]) -> list[dict[str, Any]]:
    pages = ec2.get_paginator(operation).paginate(Filters=[{"Name": name, "Values": list(chunk)}])
    return [item for page in pages for item in page[result]]
