"""``ValidateVolumeCapabilities`` for many volumes of one controller."""

import functools
from collections.abc import Mapping, Sequence
from concurrent import futures

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, records, services

WORKERS = 8
"""Volumes that are validated concurrently: behind the controller is a cloud's API, which throttles."""

ATTEMPT_MARGIN_S = 0.5
"""How much longer than a call an attempt to connect may take, in seconds, so that silence is not an error."""


def ask(
    local: str,
    questions: Sequence[records.ValidationQuestion],
    *,
    secrets: Mapping[records.Key, Mapping[str, str]] | None = None,
    timeout_s: float,
    insecure: bool = False,
) -> dict[records.Key, records.Validated]:
    """
    Validate each volume at the controller behind the endpoint *local*, several at a time over one connection.

    *secrets* are those that it needs, by volume; *insecure* allows to send them unencrypted to another machine.
    *timeout_s* is for each. A refusal is a response.
    """
    with channel.connect(
        endpoint.parse(local), attempt_s=timeout_s + ATTEMPT_MARGIN_S, insecure=insecure
    ) as connection:
        one = functools.partial(_one, connection, secrets=secrets or {}, timeout_s=timeout_s)
        with futures.ThreadPoolExecutor(WORKERS) as pool:
            answers = list(pool.map(one, questions))
    return {question.key: answer for question, answer in zip(questions, answers, strict=True)}


def _one(
    connection: channel.CsiConnection,
    question: records.ValidationQuestion,
    *,
    secrets: Mapping[records.Key, Mapping[str, str]],
    timeout_s: float,
) -> records.Validated:
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
            timeout_s=timeout_s,
        )
    except errors.CsiError as error:
        return records.Validated(code=error.code, message=error.message.removeprefix(f"{error.code}: "))
