"""
Send registrations in batches: every volume gets its own result, and nothing is sent again without reading it first.

A batch that Nomad refuses is split until the refused volumes are alone; the others are registered. So is a batch that a
plugin refuses on every attempt because it is busy with one volume. A batch without a response is read back, because the
server continues without its caller (tried on Nomad 2.0.6-dev, 2026-08: cancelled after 1 s, registered 2 s later).
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from nomad_csi import errors, nomad, side_by_side
from nomad_csi.compare import volume
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration
from nomad_csi.registration import batching, secret_safety

# Progress reports for a slow request, for the user at a terminal. They end nothing.


EVERY_S = 15.0
"""Interval between reports, in seconds."""


@contextlib.contextmanager
def reported_when_overdue(tell: Callable[[str], None], what: Callable[[], str]) -> Iterator[None]:
    """
    Call *tell* every `EVERY_S` while the body runs, from another thread.

    Args:
        tell: called with ``<what>, after 15 s``.
        what: returns what is waited for; called for each report.

    """
    is_over, began = threading.Event(), time.monotonic()

    def watch() -> None:
        while not is_over.wait(EVERY_S):
            tell(f"{what()}, after {time.monotonic() - began:.0f} s")

    thread = threading.Thread(target=watch, name="nomad-csi-overdue", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


# Batches of registrations.


Documents = batching.Documents
Sent = tuple[registration.VolumeRegistration, errors.NomadApiError | None]
"""A document, and why Nomad does not have it; ``None``: it does."""


_Answer = TypeVar("_Answer")

_MAY_HANG = "where a controller hangs, Nomad waits two minutes for it"


def _silent(_line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class BatchTimeouts:
    """Deadline and retry policy of a batch."""

    deadline: float
    """Time of `time.monotonic` after which nothing is sent any more."""

    attempts: int = 1
    """Maximum number of attempts of a request: again where nothing was done, or where a read shows that it did not
    arrive. 1: the caller decides."""

    wait_s: float = 1.0
    """Seconds before the second attempt; doubled before each further one."""

    tell: Callable[[str], None] = _silent
    """Called for every attempt after the first, for Nomad's warnings, and for slow requests."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Once set, ends the waiting, and nothing more is sent."""

    def wait(self, error: errors.NomadApiError, attempt: int) -> bool:
        """Wait after the failure of *attempt*, counted from 1; return whether there is to be another."""
        delay_s = self.wait_s * 2 ** (attempt - 1)
        if attempt >= self.attempts or time.monotonic() + delay_s > self.deadline:
            return False
        self.tell(f"{error}; trying again in {delay_s:g} s (attempt {attempt + 1} of {self.attempts})")
        return not self.cancelled.wait(delay_s)

    def retried(self, ask: Callable[[], _Answer]) -> _Answer:
        """Return the result of *ask*; again where the response was lost, or Nomad asks to retry later."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return ask()
            except errors.NomadApiError as error:
                if error.kind != "retry" or not error.is_connected or not self.wait(error, attempt):
                    raise


def send(
    client: nomad.Nomad,
    documents: Iterable[registration.VolumeRegistration],
    timeouts: BatchTimeouts,
    *,
    new: frozenset[volumes.Key] = frozenset(),
) -> Iterator[Sent]:
    """
    Register *documents*, and yield each as soon as its result is known.

    *new* are those that Nomad does not have: one that is there after a lost response has arrived with all its parts.
    """
    all_of_them = tuple(documents)
    # For one volume it makes no difference whether a controller is asked.
    plugin_ids = dict.fromkeys(item.plugin_id for item in all_of_them) if len(all_of_them) > 1 else {}
    asked = {plugin_id for plugin_id in plugin_ids if _asked(client, plugin_id, timeouts.tell)}
    batches = batching.batches(all_of_them, asked)
    sender = _Sender(client, timeouts, new)
    for is_asked, workers in ((False, batching.PARALLEL), (True, batching.PARALLEL_ASKED)):
        chosen = [batch.documents for batch in batches if batch.is_asked is is_asked]
        yield from _send_in_parallel(sender, chosen, workers)


def _asked(client: nomad.Nomad, plugin_id: str, tell: Callable[[str], None]) -> bool:
    """Return whether the plugin has a controller that is asked for each volume."""
    try:
        plugin = plugins.get(client, plugin_id)
    except errors.NomadApiError as error:
        # Small requests suit both, and the registration itself reports the error.
        tell(f"{error}; whether plugin {plugin_id} has a controller is not known: small requests are sent")
        return True
    return plugin is not None and plugin.controller_required


def _send_in_parallel(sender: "_Sender", batches: list[Documents], workers: int) -> Iterator[Sent]:
    if len(batches) <= 1:
        for documents in batches:
            yield from sender.deliver(documents)
        return
    calls = (functools.partial(sender.delivered, documents) for documents in batches)
    try:
        for sent in side_by_side.each(calls, workers=workers):
            yield from sent
    except BaseException:
        sender.stop()
        raise


class _Sender:
    """Sends one batch after the other, from several threads."""

    def __init__(self, client: nomad.Nomad, timeouts: BatchTimeouts, new: frozenset[volumes.Key]) -> None:
        self._client = client
        self._timeouts = timeouts
        self._new = new
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped.set()

    def delivered(self, documents: Documents) -> list[Sent]:
        """Register *documents* and return the result of each."""
        return list(self.deliver(documents))

    def deliver(self, documents: Documents, *, is_part: bool = False) -> Iterator[Sent]:
        """
        Register *documents* and yield the result of each.

        *is_part*: of a batch that a plugin refused on every attempt for one volume; it does not wait again for that.
        """
        error, took_s = self._tried(documents, is_part=is_part)
        if error is None or batching.is_for_all(error, took_s=took_s):
            yield from ((document, error) for document in documents)
            return
        parts = batching.parts(documents, error.message)
        if not parts:
            yield documents[0], error
        for part in parts:
            yield from self.deliver(part, is_part=is_part or error.kind == "retry")

    def _tried(self, documents: Documents, *, is_part: bool) -> tuple[errors.NomadApiError | None, float]:
        """
        Send with retries; return the final error, ``None`` where Nomad has all of *documents*.

        The second value is how long the last request took, in seconds.
        """
        error: errors.NomadApiError | None = None
        took_s, is_unseen = 0.0, False
        for attempt in range(self._timeouts.attempts):
            if error is not None and (self._stopped.is_set() or not self._timeouts.wait(error, attempt)):
                return error, took_s
            why_not = self._why_not(documents)
            if why_not:
                return error or why_not, took_s
            has_arrived = self._has_arrived(documents) if is_unseen else False
            if has_arrived is False:
                error, took_s = self._once(documents)
                if error is None or error.kind == "refused" or (is_part and batching.is_of_one(error)):
                    return error, took_s
                is_ambiguous = error.kind == "ambiguous" and self._timeouts.attempts > 1
                if is_ambiguous and self._is_hidden(documents):
                    return error, took_s
                has_arrived = self._has_arrived(documents) if is_ambiguous else False
            if has_arrived:
                return None, took_s
            is_unseen = has_arrived is None
        return error, took_s

    def _is_hidden(self, documents: Documents) -> bool:
        """Return whether the batch must not be read back, and report why: then its arrival cannot be determined."""
        why = secret_safety.risk(self._client) if any(item.secrets for item in documents) else ""
        if why:
            self._timeouts.tell(f"what was sent is not read back: {why}")
        return bool(why)

    def _once(self, documents: Documents) -> tuple[errors.NomadApiError | None, float]:
        """Send once; return why it failed, and after how many seconds."""
        started = time.monotonic()
        timeout_s = min(volumes.REGISTER_TIMEOUT_S, max(self._timeouts.deadline - started, 0.1))
        try:
            with reported_when_overdue(self._timeouts.tell, lambda: _unanswered(documents)):
                warnings = volumes.register(self._client, documents, timeout_s=timeout_s)
        except errors.NomadApiError as error:
            return error, time.monotonic() - started
        for warning in warnings:
            self._timeouts.tell(f"Nomad warns: {warning}")
        return None, time.monotonic() - started

    def _why_not(self, documents: Documents) -> errors.NomadApiError | None:
        """Return why nothing may be sent now."""
        if self._stopped.is_set() or self._timeouts.cancelled.is_set():
            reason = "not sent: interrupted"
        elif time.monotonic() > self._timeouts.deadline:
            reason = "not sent: the deadline has passed"
        else:
            return None
        return errors.NomadApiError("PUT", "/v1/volumes", reason, kind="retry", advice=_again(len(documents)))

    def _has_arrived(self, documents: Documents) -> bool | None:
        """Return whether a batch without a response was registered; ``None`` where that cannot be read."""
        wanted: Mapping[volumes.Key, registration.VolumeRegistration] = {
            volumes.key_of(document): document for document in documents
        }
        try:
            seen = [self._is_as(wanted[key], held) for key, held in volumes.found(self._client, wanted)]
        except errors.NomadApiError as error:
            self._timeouts.tell(f"{error}; what was sent could not be read back")
            return None
        return all(seen)

    def _is_as(self, document: registration.VolumeRegistration, held: volumes.Volume | None) -> bool:
        """Return whether Nomad's record *held* is that of *document*, all of whose parts are known to have arrived."""
        compared = volume.compare_volume(document, held)
        is_whole = volumes.key_of(document) in self._new or not compared.hidden
        return compared.kind in {"equal", "ignored", "hidden"} and is_whole


def _unanswered(documents: Documents) -> str:
    first, *others = documents
    more = f" and {len(others)} more" if others else ""
    return f"no answer yet to the registration of {first.namespace}/{first.volume_id}{more}: {_MAY_HANG}"


def _again(count: int) -> str:
    return "run it again" if count == 1 else f"run it again: {count} volumes were not sent"
