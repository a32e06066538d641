"""Many volumes registered: compared first, sent in batches, and what became of each as data."""

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from nomad_csi import errors, nomad
from nomad_csi.deploy import (
    batch_look,
    batch_namespaces,
    batch_send,
    mark_upkeep,
    registration_ownership,
    volume_ownership,
    volume_verdict,
)
from nomad_csi.plan import registration

DEADLINE_S = 900.0
"""For everything, unless the caller names another."""

ATTEMPTS = 5
WAIT_S = 1.0
"""How often one request is sent at most, and the pause before the second time; doubled before each further one."""

Status = Literal["registered", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``registered``: new. ``updated``: sent again. ``unchanged``: nothing was sent. ``refused``: Nomad never takes it so.
``failed``: not registered, and may be another time. ``unknown``: sent, and no answer came.
"""

_Answer = TypeVar("_Answer")

_TAKEN = "cannot be updated"
"""Part of a refusal that says of a volume that was not there a moment ago: somebody else was faster."""

_OF_KIND: Mapping[errors.ReplyKind, Status] = {"refused": "refused", "retry": "failed", "ambiguous": "unknown"}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one volume."""

    namespace: str
    volume_id: str
    status: Status

    reason: str = ""
    """Why it is not registered; empty where it is."""

    changes: tuple[str, ...] = ()
    """What was to change, one sentence each."""

    ignored: tuple[str, ...] = ()
    """What Nomad accepts and leaves as it is, one sentence each."""

    hidden: tuple[str, ...] = ()
    """Parts that Nomad never shows: not compared, sent."""

    owner: str = ""
    """The stack that the volume belongs to, where that is why it is refused."""

    adopted: str = ""
    """Whose the volume is now and whose it was, where its mark was another's."""

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"

    @property
    def is_as_wanted(self) -> bool:
        """Whether Nomad holds the volume as it is wanted, as far as that can be seen."""
        return self.status in {"registered", "updated", "unchanged"} and not self.ignored

    @property
    def is_broken(self) -> bool:
        """Whether it was not found out, or not done for a reason that may pass."""
        return self.status in {"failed", "unknown"}

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as data; what is empty is there too."""
        return {
            "namespace": self.namespace,
            "volume_id": self.volume_id,
            "status": self.status,
            "reason": self.reason,
            "changes": list(self.changes),
            "ignored": list(self.ignored),
            "not_comparable": list(self.hidden),
            "owner": self.owner,
            "adopted": self.adopted,
        }


def register(
    client: nomad.Nomad,
    documents: Iterable[registration.VolumeRegistration],
    *,
    claimant: registration_ownership.Claimant = registration_ownership.ANYBODY,
    deadline_s: float = DEADLINE_S,
    tell: Callable[[str], None] = lambda _line: None,
    cancelled: threading.Event | None = None,
) -> tuple[Outcome, ...]:
    """
    Register *documents* and return an outcome for each, in their order; what is as wanted already is not sent.

    What would be sent and has the mark of another stack is refused before anything is, unless *claimant* adopts it.
    With an owner it leaves its own mark, and is refused what is another's also where it is as wanted.

    Args:
        client: the cluster.
        documents: volumes, each id once in a namespace.
        claimant: who registers.
        deadline_s: for all of it; what was not sent by then has ``failed``.
        tell: told of every attempt after the first, and of Nomad's warnings.
        cancelled: set it, and nothing more is sent.

    Raises:
        errors.SpecError: two documents have the same namespace and id, or Nomad lacks a namespace; nothing was sent.
        errors.NomadApiError: what is there could not be read; nothing was sent.

    """
    wanted = _by_key(documents)
    patience = batch_send.Patience(
        deadline=time.monotonic() + deadline_s,
        attempts=ATTEMPTS,
        wait_s=WAIT_S,
        tell=tell,
        cancelled=cancelled or threading.Event(),
    )
    _patiently(lambda: batch_namespaces.check(client, wanted), patience)
    seen = _looked(client, wanted, patience)
    taken = _taken(client, seen, claimant, patience)
    to_send = [document for key, (document, found) in seen.items() if found.must_be_sent and key not in taken.refused]
    new = frozenset(key for key, (_, found) in seen.items() if found.is_new)
    answers = {
        batch_look.key_of(document): error for document, error in batch_send.send(client, to_send, patience, new=new)
    }
    volume_ownership.take_back(client, taken, answers, claimant, tell)
    lost_to = mark_upkeep.confirm(client, (key for key, error in answers.items() if error is None), claimant, tell)
    lost = {key: wanted[key] for key in new if _TAKEN in getattr(answers.get(key), "message", "")}
    with contextlib.suppress(errors.NomadApiError):  # Nomad's own sentence is an answer too
        seen |= _looked(client, lost, patience)
    outcomes = {
        key: _of_another(key, taken.refused[key]) if key in taken.refused else _outcome(key, seen[key][1], answers)
        for key in wanted
    }
    for key, owner in lost_to.items():
        outcomes[key] = dataclasses.replace(_of_another(key, owner), reason=str(volume_ownership.lost(key, owner)))
    for key, former in taken.adopted.items():
        told = f"now of {claimant.owner or 'nobody'} (was {former})"
        outcomes[key] = dataclasses.replace(outcomes[key], adopted=told)
    return tuple(outcomes.values())


def _by_key(
    documents: Iterable[registration.VolumeRegistration],
) -> dict[batch_look.Key, registration.VolumeRegistration]:
    """Return *documents* by namespace and id. Raises `errors.SpecError` naming every pair that is there twice."""
    wanted: dict[batch_look.Key, registration.VolumeRegistration] = {}
    problems = []
    for document in documents:
        key = batch_look.key_of(document)
        if key in wanted:
            problems.append(
                errors.Problem(path="/".join(key), got="two volumes", allowed="each id once in a namespace")
            )
        wanted[key] = document
    if problems:
        raise errors.SpecError(tuple(problems), source="the volumes to register")
    return wanted


def _looked(
    client: nomad.Nomad, wanted: Mapping[batch_look.Key, registration.VolumeRegistration], patience: batch_send.Patience
) -> dict[batch_look.Key, tuple[registration.VolumeRegistration, volume_verdict.Verdict]]:
    """Return what registering each would do; asked again where the answer was lost, or Nomad asks to try later."""

    def look() -> dict[batch_look.Key, tuple[registration.VolumeRegistration, volume_verdict.Verdict]]:
        looked = batch_look.verdicts(client, wanted, frozenset())
        return {key: (document, found) for key, document, found in looked}

    return _patiently(look, patience)


def _taken(
    client: nomad.Nomad,
    seen: Mapping[batch_look.Key, tuple[registration.VolumeRegistration, volume_verdict.Verdict]],
    claimant: registration_ownership.Claimant,
    patience: batch_send.Patience,
) -> registration_ownership.Taken:
    """
    Mark what Nomad would take as *claimant*'s, and find out what is another's.

    Whose a volume is does not matter to one who leaves no mark on it and sends nothing.
    """
    marks = registration_ownership.of(client)
    by_kind = {key: found for key, (_, found) in seen.items()}
    leaves_marks = bool(claimant.owner) or claimant.adopts
    keys = [key for key, found in by_kind.items() if found.must_be_sent or (leaves_marks and found.kind != "refused")]
    taken = _patiently(lambda: marks.take(keys, claimant, patience.tell), patience)
    others = [key for key, found in by_kind.items() if found.kind == "refused"]
    looked = _patiently(lambda: marks.look(others, patience.tell), patience)
    refused = {key: owner for key, owner in looked.owners.items() if not claimant.may_have(owner)}
    return dataclasses.replace(taken, refused={**taken.refused, **refused})


def _patiently(ask: Callable[[], _Answer], patience: batch_send.Patience) -> _Answer:
    """Return what *ask* does; asked again where the answer was lost, or Nomad asks to try later."""
    attempt = 0
    while True:
        attempt += 1
        try:
            return ask()
        except errors.NomadApiError as error:
            if error.kind != "retry" or not error.is_connected or not patience.wait(error, attempt):
                raise


def _of_another(key: batch_look.Key, owner: str) -> Outcome:
    namespace, volume_id = key
    reason = f"belongs to stack {owner}; nothing was sent"
    return Outcome(namespace=namespace, volume_id=volume_id, status="refused", reason=reason, owner=owner)


def _outcome(
    key: batch_look.Key,
    found: volume_verdict.Verdict,
    answers: Mapping[batch_look.Key, errors.NomadApiError | None],
) -> Outcome:
    namespace, volume_id = key
    error = answers.get(key)
    if found.kind == "refused":
        status: Status = "refused"
        reason = "; ".join(volume_verdict.sentences(found.of("refused")))
    elif error is not None:
        status, reason = _OF_KIND[error.kind], str(error)
    else:
        status, reason = _done(found, is_sent=key in answers), ""
    return Outcome(
        namespace=namespace,
        volume_id=volume_id,
        status=status,
        reason=reason,
        changes=volume_verdict.sentences(found.of("changes")),
        ignored=volume_verdict.sentences(found.of("ignored")),
        hidden=found.hidden,
    )


def _done(found: volume_verdict.Verdict, *, is_sent: bool) -> Status:
    if not is_sent:
        return "unchanged"
    return "registered" if found.is_new else "updated"
