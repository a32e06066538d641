"""Register many volumes: compare them, send the changed ones in batches, return an outcome for each."""

import contextlib
import dataclasses
import difflib
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeVar

from nomad_csi import errors, nomad
from nomad_csi.compare import difference
from nomad_csi.nomad import namespaces, volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import registration
from nomad_csi.registration import outcomes as registration_outcomes
from nomad_csi.registration import owned, secret_safety, sending, storage_sharing
from nomad_csi.text import listing

# Unknown namespaces, refused before anything is sent.
#
# Nomad checks the namespace only when it stores a volume. By then the batches of other namespaces may be stored, and an
# unknown namespace often means the wrong cluster.


NAMED = 3
"""Volumes that an error names for each namespace; the others are counted."""


def check_namespaces(client: nomad.Nomad, keys: Iterable[volumes.Key]) -> None:
    """
    Raise `errors.SpecError` with all namespaces of *keys* that Nomad does not have.

    Raises `errors.NomadApiError` where Nomad does not answer.
    """
    wanted = tuple(keys)
    missing = namespaces.missing(client, (namespace for namespace, _ in wanted))
    if problems := tuple(_problems(wanted, missing)):
        raise errors.SpecError(problems, client.connection.address)


def namespace_fix(namespace: str, there: Iterable[str]) -> str:
    """Return the fix for a *namespace* that is not one of those *there*."""
    close = difflib.get_close_matches(namespace, tuple(there), n=1)
    other = f"did you mean {close[0]}" if close else "name another, or another cluster"
    return f"{other}; or make it first with `nomad namespace apply {namespace}`"


def _problems(wanted: Iterable[volumes.Key], missing: namespaces.Missing) -> Iterator[errors.Problem]:
    inside = sorted(key for key in wanted if key[0] in missing.names)
    for namespace, group in groupby(inside, key=lambda key: key[0]):
        yield errors.Problem(
            path=_volumes(["/".join(key) for key in group]),
            got=repr(namespace),
            allowed=namespaces.one_of(missing.there),
            fix=namespace_fix(namespace, missing.there),
        )


def _volumes(names: list[str]) -> str:
    return f"{'volume' if len(names) == 1 else 'volumes'} {listing.shortened(names, NAMED)}"


# The registration.


DEADLINE_S = 900.0
"""Default deadline of a whole registration."""

ATTEMPTS = 5
WAIT_S = 1.0
"""Maximum number of attempts of a request, and the seconds before the second one; doubled before each further one."""

_Answer = TypeVar("_Answer")

_TAKEN = "cannot be updated"
"""Part of a refusal of a volume that was not registered a moment ago: a concurrent registration came first."""


def register(
    client: nomad.Nomad,
    documents: Iterable[registration.VolumeRegistration],
    *,
    requester: registration_ownership.Requester = registration_ownership.NO_OWNER,
    deadline_s: float = DEADLINE_S,
    tell: Callable[[str], None] = lambda _line: None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[registration_outcomes.RegistrationOutcome, ...]:
    """
    Register *documents* and return an outcome for each, in their order; volumes without drift are not sent.

    Changed volumes of another stack are refused before anything is sent, unless *requester* adopts them. A requester
    with an owner writes its owner records, and is refused another stack's volumes even without drift.

    Args:
        client: the cluster.
        documents: volumes, each id once in a namespace.
        requester: who registers.
        deadline_s: for all volumes; those not sent by then have ``failed``.
        tell: called for every attempt after the first, and for Nomad's warnings.
        advance: called with the number of volumes sent, and of those to send.

    Raises:
        errors.SpecError: two documents have the same namespace and id, or Nomad lacks a namespace; nothing was sent.
        errors.NomadApiError: the registered volumes could not be read; nothing was sent.

    """
    wanted = _index_by_key(documents)
    timeouts = sending.BatchTimeouts(
        deadline=time.monotonic() + deadline_s,
        attempts=ATTEMPTS,
        wait_s=WAIT_S,
        tell=tell,
    )
    _retried(lambda: check_namespaces(client, wanted), timeouts)
    users = storage_sharing.Users(client)
    seen = {
        key: (document, _retried(functools.partial(storage_sharing.refuse_sharing, users, document, found), timeouts))
        for key, (document, found) in _observed(client, wanted, timeouts).items()
    }
    if users.unlisted:
        tell(users.unlisted)
    taken = _acquire(client, seen, requester, timeouts)
    to_send = [document for key, (document, found) in seen.items() if found.must_be_sent and key not in taken.refused]
    new = frozenset(key for key, (_, found) in seen.items() if found.is_new)
    holds = registration_ownership.objects_without_nonce(map(volumes.key_of, to_send))
    sent_now = owned.send(client, to_send, taken, holds=holds, requester=requester, timeouts=timeouts, new=new)
    answers = {}
    for document, answer in sent_now:
        answers[volumes.key_of(document)] = answer
        advance(len(answers), len(to_send))
    taken_meanwhile = {
        key: wanted[key]
        for key in new
        if _TAKEN in getattr(answers.get(key), "message", "")
        and not (wanted[key].secrets and secret_safety.risk(client))
    }
    with contextlib.suppress(errors.NomadApiError):  # then Nomad's own message is the reason
        seen |= _observed(client, taken_meanwhile, timeouts)
    outcomes = {key: _outcome(key, seen[key][1], taken, answers) for key in wanted}
    for key, former in taken.adopted.items():
        adopted = f"now of {requester.owner or 'no owner'} (was {former})"
        outcomes[key] = dataclasses.replace(outcomes[key], adopted=adopted)
    for key in taken.fresh.keys() - new:
        outcomes[key] = dataclasses.replace(outcomes[key], adopted=f"now of {requester.owner} (had no owner record)")
    return tuple(outcomes.values())


def _outcome(
    key: volumes.Key,
    found: difference.Comparison,
    taken: registration_ownership.AcquiredVolumes,
    answers: Mapping[volumes.Key, owned.Answer],
) -> registration_outcomes.RegistrationOutcome:
    if key in taken.refused:
        return registration_outcomes.owned_outcome(key, str(taken.refused[key]))
    return registration_outcomes.outcome_of(key, found, answers)


def _index_by_key(
    documents: Iterable[registration.VolumeRegistration],
) -> dict[volumes.Key, registration.VolumeRegistration]:
    """Return *documents* by namespace and id. Raises `errors.SpecError` with every duplicate."""
    wanted: dict[volumes.Key, registration.VolumeRegistration] = {}
    problems = []
    for document in documents:
        key = volumes.key_of(document)
        if key in wanted:
            problems.append(
                errors.Problem(path="/".join(key), got="two volumes", allowed="each id once in a namespace")
            )
        wanted[key] = document
    if problems:
        raise errors.SpecError(tuple(problems), source="the volumes to register")
    return wanted


def _observed(
    client: nomad.Nomad,
    wanted: Mapping[volumes.Key, registration.VolumeRegistration],
    timeouts: sending.BatchTimeouts,
) -> dict[volumes.Key, tuple[registration.VolumeRegistration, difference.Comparison]]:
    """Return the comparison of each, by key; retried where the response was lost, or Nomad asks to retry later."""

    def look() -> dict[volumes.Key, tuple[registration.VolumeRegistration, difference.Comparison]]:
        observed = sending.comparisons(client, wanted, frozenset())
        return {key: (document, found) for key, document, found in observed}

    return _retried(look, timeouts)


def _acquire(
    client: nomad.Nomad,
    seen: Mapping[volumes.Key, tuple[registration.VolumeRegistration, difference.Comparison]],
    requester: registration_ownership.Requester,
    timeouts: sending.BatchTimeouts,
) -> registration_ownership.AcquiredVolumes:
    """
    Record *requester* as the owner of what Nomad would accept; return others' volumes as refused.

    A requester without an owner may have unchanged volumes of any stack.
    """
    records = registration_ownership.owner_records_of(client)
    by_kind = {key: found for key, (_, found) in seen.items()}
    leaves_records = bool(requester.owner) or requester.adopts
    keys = [key for key, found in by_kind.items() if found.must_be_sent or (leaves_records and found.kind != "refused")]
    others = [key for key, found in by_kind.items() if found.kind == "refused"]
    wanted = registration_ownership.objects_without_nonce(keys)
    taken = _retried(lambda: records.acquire(wanted, requester, timeouts.tell), timeouts)
    observed = _retried(lambda: records.read(others, timeouts.tell), timeouts)
    refused = {key: owner for key, owner in observed.owners.items() if not requester.may_have(owner)}
    return dataclasses.replace(taken, refused={**taken.refused, **refused})


def retried(ask: Callable[[], _Answer], tell: Callable[[str], None]) -> _Answer:
    """Return the result of *ask*, which only reads; *tell* is called for every attempt after the first."""
    deadline = time.monotonic() + DEADLINE_S
    return _retried(ask, sending.BatchTimeouts(deadline=deadline, attempts=ATTEMPTS, wait_s=WAIT_S, tell=tell))


def _retried(ask: Callable[[], _Answer], timeouts: sending.BatchTimeouts) -> _Answer:
    """Return the result of *ask*; retried where the response was lost, or Nomad asks to retry later."""
    attempt = 0
    while True:
        attempt += 1
        try:
            return ask()
        except errors.NomadApiError as error:
            if error.kind != "retry" or not error.is_connected or not timeouts.wait(error, attempt):
                raise
