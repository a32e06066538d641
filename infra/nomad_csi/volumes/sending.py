"""
Send registrations, one request for each volume: nothing is sent again before Nomad was read.

A request without a response is read back, because the server continues without its caller (tried on Nomad 2.0.6-dev,
2026-08: cancelled after 1 s, registered 2 s later). `RegistrationRun` is the one path to a registration, for the
command line and for Pulumi: with the owner record, and taken back where another run came first.
"""

import functools
import threading
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, field
from typing import TypeVar

from nomad_csi import concurrency, errors, nomad
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import compare, ownership, sharing

_Answer = TypeVar("_Answer")

ATTEMPTS = 5
"""How often `apply` sends a request at most. A run of Pulumi sends it once: its next run is the retry."""

WAIT_S = 1.0
"""Seconds before the second attempt; doubled before each further one."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How long, and how often, a request is tried."""

    deadline: float
    """Time of *clock* after which nothing is sent any more."""

    attempts: int = 1
    """Maximum number of attempts of a request: again where nothing was done, or where a read shows that it did not
    arrive."""

    wait_s: float = WAIT_S

    report: Callable[[str], None] = lambda _line: None
    """Called for every attempt after the first, and for Nomad's warnings."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Once set, ends the waiting, and nothing more is sent."""

    clock: Clock = SYSTEM

    def wait(self, error: errors.NomadApiError, attempt: int) -> bool:
        """Wait after the failure of *attempt*, counted from 1; return whether there is to be another."""
        delay_s = self.wait_s * 2 ** (attempt - 1)
        if attempt >= self.attempts or self.clock.now() + delay_s > self.deadline:
            return False
        self.report(f"{error}; trying again in {delay_s:g} s (attempt {attempt + 1} of {self.attempts})")
        return not self.clock.wait(self.cancelled, delay_s)

    def retry(self, read: Callable[[], _Answer]) -> _Answer:
        """Return the result of *read*; again where the response was lost, or Nomad asks to (`nomad.classify`)."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return read()
            except errors.NomadApiError as error:
                if error.kind != "retry" or not error.is_connected or not self.wait(error, attempt):
                    raise


# Requests.


Document = registration.VolumeRegistration

CONCURRENT = 16
"""
Concurrent requests. A plugin's controller validates those of several requests at a time, about 50 ms each.

Measured on Nomad 2.0.6-dev, 2026-08: 96 volumes in 16 concurrent requests took 0.55 s, in one request 5.4 s.
"""

SLOW_S = 20.0
"""A request that failed after more seconds met a controller that hangs, for which Nomad waits two minutes."""

FAILURES = 3
"""So many volumes of a plugin that fail in a row end its registrations in this run."""


class CircuitBreaker:
    """
    Keeps a run from sending what would fail like the volumes before it. Thread-safe.

    After `FAILURES` volumes of a plugin in a row that used all their attempts, or failed slowly, its volumes are not
    sent. Requests under way end by themselves; one that gets an answer starts the count again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: dict[str, list[errors.NomadApiError]] = {}
        """Failures in a row, by plugin."""

    def refusal(self, document: Document) -> errors.NomadApiError | None:
        """Return why *document* is not sent; ``None`` where it may be."""
        with self._lock:
            failed = tuple(self._failed.get(document.plugin_id, ()))
        if len(failed) < FAILURES:
            return None
        reason = f"plugin {document.plugin_id} did not answer for {len(failed)} volumes in a row: {failed[-1].message}"
        return _not_sent(document, reason, failed[-1].advice or "run it again once it answers")

    def answer(self, document: Document) -> None:
        """Record that a request for *document* was answered: it is registered, or refused."""
        with self._lock:
            self._failed.pop(document.plugin_id, None)

    def fail(self, document: Document, error: errors.NomadApiError) -> None:
        """Record that *document* is not tried again."""
        with self._lock:
            self._failed.setdefault(document.plugin_id, []).append(error)


def _not_sent(document: Document, reason: str, advice: str = "run it again") -> errors.NomadApiError:
    path = volumes.path_of(document.volume_id)
    return errors.NomadApiError("PUT", path, f"not sent: {reason}", kind="retry", advice=advice)


class Sender:
    """Sends registrations by one policy. Thread-safe."""

    def __init__(self, client: nomad.Nomad, policy: RetryPolicy, breaker: CircuitBreaker) -> None:
        self._client = client
        self._policy = policy
        self._breaker = breaker

    def send(self, document: Document, *, is_new: bool) -> errors.NomadApiError | None:
        """
        Register *document*; return why Nomad does not have it, ``None`` where it does.

        *is_new*: Nomad does not have it: if it is there after a lost response, it has arrived with all its parts.
        """
        error: errors.NomadApiError | None = None
        has_arrived: bool | None = False
        attempt = 0
        while True:
            attempt += 1
            if unsent := self._refusal(document):
                return error or unsent
            took_s = 0.0
            if has_arrived is None:
                has_arrived = self._has_arrived(document, is_new=is_new)
            if has_arrived is False:
                error, took_s = self._request(document)
                if error is None or error.kind == "refused":
                    return error
                if error.kind == "ambiguous":
                    has_arrived = self._has_arrived(document, is_new=is_new)
            if has_arrived:
                return None
            is_slow = took_s > SLOW_S
            if error is None or is_slow or not self._policy.wait(error, attempt):
                if error is not None and (is_slow or self._policy.attempts > 1):
                    self._breaker.fail(document, error)
                return error

    def _refusal(self, document: Document) -> errors.NomadApiError | None:
        """Return why *document* may not be sent now."""
        if self._policy.cancelled.is_set():
            return _not_sent(document, "interrupted")
        if self._policy.clock.now() > self._policy.deadline:
            return _not_sent(document, "the deadline has passed")
        return self._breaker.refusal(document)

    def _request(self, document: Document) -> tuple[errors.NomadApiError | None, float]:
        """Send once; return why it failed, and the seconds that it took."""
        clock = self._policy.clock
        began, error = clock.now(), None
        try:
            timeout_s = min(volumes.REGISTER_TIMEOUT_S, max(self._policy.deadline - began, 0.1))
            if warnings := volumes.register(self._client, document, timeout_s=timeout_s):
                self._policy.report(f"Nomad warns: {warnings}")
        except errors.NomadApiError as problem:
            error = problem
        if error is None or error.kind == "refused":
            self._breaker.answer(document)
        return error, clock.now() - began

    def _has_arrived(self, document: Document, *, is_new: bool) -> bool | None:
        """Return whether a request without a response registered *document*; ``None`` where that cannot be read."""
        try:
            registered = volumes.get(self._client, document.namespace, document.volume_id)
        except errors.NomadApiError as error:
            self._policy.report(f"{error}; what was sent could not be read back")
            return None
        compared = compare.compare_volume(document, registered)
        return compared.kind in {"equal", "ignored", "hidden"} and (is_new or not compared.hidden)


# A registration with its owner record.


@dataclass(frozen=True, kw_only=True)
class _Sent:
    """A registration that Nomad has as wanted."""

    document: Document
    owner: ownership.VolumeOwner
    is_new: bool
    is_record_new: bool
    """Whether its owner record was written for it."""


class RegistrationRun:
    """One run: its registrations share what is known of plugins that do not answer, and lists. Thread-safe."""

    def __init__(self, context: resource.Context, *, policy_of_many: RetryPolicy | None = None) -> None:
        """*policy_of_many*: new registrations are settled together by it, in `settle`."""
        self._context = context
        self._client = context.client
        self._policy_of_many = policy_of_many
        self._unsettled: list[_Sent] = []
        self.breaker = CircuitBreaker()
        self.problems: dict[volumes.Key, errors.NomadCsiError] = {}
        """Why registrations that were sent are not as wanted, where they are settled together."""

    def register(self, document: Document, owner: ownership.VolumeOwner, policy: RetryPolicy, *, is_new: bool) -> None:
        """
        Record *owner* as that of the volume, and register *document*; return where Nomad has it.

        *is_new*: it is not registered. Of two runs that register one storage at the same moment, the later one takes
        its volume back (`sharing.take_back_later`). A record that was written for nothing is removed.

        Raises:
            errors.RefusedError: another owner has the volume, or its storage was registered as another one before it.
            errors.NomadApiError: Nomad does not have it as wanted, or that is not known.

        """
        taken = policy.retry(owner.acquire)
        sent = _Sent(document=document, owner=owner, is_new=is_new, is_record_new=taken.is_new)
        if failed := Sender(self._client, policy, self.breaker).send(document, is_new=is_new):
            raise self._withdrawn(sent, failed)
        if self._policy_of_many is not None and is_new:
            self._unsettled.append(sent)
            return
        storage = storage_identity.identify(document.external_id)
        if problem := self._settle(sent, lambda: sharing.users_now(self._context, storage)):
            raise problem

    def settle(self) -> None:
        """Settle the registrations that were sent; those with a problem are in `problems` then."""
        sent, self._unsettled = self._unsettled, []
        policy = self._policy_of_many
        if policy is None or not sent:
            return
        listed: futures.Future[sharing.Users] = futures.Future()
        concurrency.settle(lambda: policy.retry(sharing.Users(self._client).list), listed)
        calls = [functools.partial(self._settle, each, listed.result) for each in sent]
        for each, problem in zip(sent, concurrency.run_in_order(calls, workers=CONCURRENT), strict=True):
            if problem is not None:
                self.problems[each.owner.key] = problem

    def _settle(self, sent: _Sent, users: Callable[[], sharing.Users]) -> errors.NomadCsiError | None:
        """Take the volume back where another one had its storage before, and confirm its record; return the problem."""
        if sent.is_new and (problem := sharing.take_back_later(self._client, sent.document, users)):
            return self._withdrawn(sent, problem)
        try:
            other = sent.owner.confirm()
        except errors.NomadApiError as error:
            unknown = f"could not be determined whether the owner record of {sent.document.key} still exists"
            sent.owner.report(f"{error}; {unknown}")
            return None
        return None if other is None else ownership.LostError(sent.owner.key, other)

    def _withdrawn(self, sent: _Sent, problem: errors.NomadCsiError) -> errors.NomadCsiError:
        """Remove the owner record where the *problem* shows that it was written for nothing; return the problem."""
        is_ambiguous = isinstance(problem, errors.NomadApiError) and problem.kind == "ambiguous"
        if sent.is_record_new and not is_ambiguous:
            sent.owner.try_release()
        return problem
