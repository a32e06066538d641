"""
``ValidateVolumeCapabilities`` for many volumes of one controller, and how a job carries the requests.

The requests hold no secrets: everyone with ``read-job`` can read a job, and what a client keeps of it.
"""

import base64
import functools
import json
import os
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass
from typing import Any

import pydantic

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, records, services

VARIABLE = "NOMAD_CSI_PROBE_VOLUMES"
"""Environment variables ``NOMAD_CSI_PROBE_VOLUMES_0`` and so on hold the packed requests."""

PART = 100_000
"""Characters of one variable: Linux allows 128 KiB (``MAX_ARG_STRLEN``)."""

WORKERS = 8
"""Volumes that are validated concurrently: behind the controller is a cloud's API, which throttles."""

ATTEMPT_MARGIN_S = 0.5
"""How much longer than a call an attempt to connect may take, in seconds, so that silence is not an error."""


@dataclass(frozen=True, kw_only=True)
class ValidationTask:
    """The validation requests of one client to its controllers."""

    seconds: float
    """Timeout for all volumes together."""

    by_allocation: Mapping[str, tuple[records.ValidationQuestion, ...]]


NOTHING = ValidationTask(seconds=0.0, by_allocation={})
"""No request."""

_TASK = pydantic.TypeAdapter(ValidationTask)
_WRONG = pydantic.TypeAdapter(list[tuple[str, str, records.Validated]])


def ask(
    local: str,
    questions: Sequence[records.ValidationQuestion],
    *,
    secrets: Mapping[records.Key, Mapping[str, str]] | None = None,
    timeout_s: float,
    seconds: float = float("inf"),
    insecure: bool = False,
) -> dict[records.Key, records.Validated]:
    """
    Validate each volume at the controller behind the endpoint *local*, several at a time over one connection.

    *secrets* are those that it needs, by volume; *insecure* allows to send them unencrypted to another machine.
    *timeout_s* is for each, *seconds* for all; volumes that remain are `records.LATE`. A refusal is a response.
    """
    until = time.monotonic() + seconds
    with channel.connect(
        endpoint.parse(local), attempt_s=timeout_s + ATTEMPT_MARGIN_S, insecure=insecure
    ) as connection:
        one = functools.partial(_one, connection, secrets=secrets or {}, timeout_s=timeout_s, until=until)
        with futures.ThreadPoolExecutor(WORKERS) as pool:
            answers = list(pool.map(one, questions))
    return {question.key: answer for question, answer in zip(questions, answers, strict=True)}


def _one(
    connection: channel.CsiConnection,
    question: records.ValidationQuestion,
    *,
    secrets: Mapping[records.Key, Mapping[str, str]],
    timeout_s: float,
    until: float,
) -> records.Validated:
    left_s = until - time.monotonic()
    if left_s <= 0:
        return records.LATE
    try:
        return services.validate_volume_capabilities(
            connection,
            volume_id=question.external_id,
            # As Nomad sends it when a volume is registered: without file system and mount flags.
            capabilities=[
                services.volume_capability(access_mode=mode, attachment_mode=attachment)
                for mode, attachment in question.uses
            ],
            context=question.context,
            parameters=question.parameters,
            secrets=secrets.get(question.key, {}),
            timeout_s=min(timeout_s, left_s),
        )
    except errors.CsiError as error:
        return records.Validated(code=error.code or "UNKNOWN", message=error.message)


def packed(task: ValidationTask) -> dict[str, str]:
    """Return *task* as environment variables of a job; none if it has no request."""
    if not any(task.by_allocation.values()):
        return {}
    text = base64.b64encode(zlib.compress(_TASK.dump_json(task), 9)).decode()
    parts = [text[at : at + PART] for at in range(0, len(text), PART)]
    return {f"{VARIABLE}_{number}": part for number, part in enumerate(parts)}


def unpacked(environment: Mapping[str, str] = os.environ) -> ValidationTask:
    """Return the task that `packed` wrote; one without requests if there is none. Raises `ValueError`."""
    parts: list[str] = []
    while (part := environment.get(f"{VARIABLE}_{len(parts)}")) is not None:
        parts.append(part)
    if not parts:
        return NOTHING
    try:
        return _TASK.validate_json(zlib.decompress(base64.b64decode("".join(parts), validate=True)))
    except (ValueError, zlib.error):
        raise ValueError(f"what {VARIABLE}_0 holds is not of this version") from None


def wrong_as_json(answers: Mapping[records.Key, records.Validated]) -> dict[str, Any]:
    """Return *answers* for a log: their number, and those that do not confirm."""
    wrong = [[*key, vars(answer)] for key, answer in answers.items() if not answer.confirmed]
    return {"asked": len(answers), "wrong": wrong}


def parse_answers(
    document: Mapping[str, Any], questions: Sequence[records.ValidationQuestion]
) -> dict[records.Key, records.Validated]:
    """Return the answers to *questions* that `wrong_as_json` wrote. Raises `ValueError` if they do not match."""
    keys = [question.key for question in questions]
    found = _WRONG.validate_json(json.dumps(document["wrong"]), strict=True)
    wrong = {(namespace, volume_id): answer for namespace, volume_id, answer in found}
    if document["asked"] != len(keys) or not wrong.keys() <= set(keys):
        raise ValueError("it answered for other volumes")
    return {key: wrong.get(key, records.Validated(confirmed=True)) for key in keys}
