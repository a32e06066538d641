"""
Concurrent registrations, one from each thread, sent as one batch: Pulumi's engine creates in parallel.

The first one waits a moment for others of the same plugin and namespace, then sends all; each caller gets its own
result. Later registrations form the next batch, so a slow controller delays only its own volumes.
"""

import threading
import time
import weakref
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import registration
from nomad_csi.registration import owned, sending

GATHER_S = 0.02
"""Seconds that the first one waits; it waits again where others have joined meanwhile."""

GATHERINGS = 12
"""Maximum number of such waits."""

DEADLINE_S = 2 * volumes.REGISTER_TIMEOUT_S
"""Deadline of one batch, including the requests that determine which of its volumes is refused."""


_Place = tuple[str, str, registration_ownership.Requester]
"""Namespace and plugin of the volumes of one batch, and their requester."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Waiting:
    """A registration, and the future of its result."""

    wanted: owned.Acquisition
    answer: futures.Future[owned.Answer] = field(default_factory=futures.Future)


class Coalescer:
    """Gathers the registrations of several threads for one client. Thread-safe."""

    def __init__(self, client: nomad.Nomad, *, gather_s: float = GATHER_S) -> None:
        self._client = weakref.ref(client)
        self._gather_s = gather_s
        self._lock = threading.Lock()
        self._gathering: dict[_Place, list[_Waiting]] = {}

    def register(
        self,
        document: registration.VolumeRegistration,
        *,
        tell: Callable[[str], None],
        cancelled: threading.Event,
        requester: registration_ownership.Requester,
        token: registration_ownership.OwnerToken,
        is_new: bool = False,
    ) -> None:
        """
        Record *requester* as the owner of *document* and register it, together with concurrent ones; sent once.

        The first caller of a batch reports Nomad's warnings to *tell*. *is_new*: it is not registered, so that it may
        be taken back where another run registered the same storage at the same moment. Raises `errors.NomadApiError`
        for this volume, `errors.RefusedError` where another stack owns it or its storage; errors of other volumes of
        the batch are not raised.
        """
        mine = _Waiting(wanted=owned.Acquisition(document=document, token=token, is_new=is_new))
        place = (document.namespace, document.plugin_id, requester)
        with self._lock:
            group = self._gathering.setdefault(place, [])
            group.append(mine)
            is_first = len(group) == 1
        if is_first:
            self._gather(place, group)
            self._send(group, requester, tell, cancelled)
        error = mine.answer.result()
        if isinstance(error, errors.NomadApiError):
            # A copy: many callers may get one error, and each raises its own.
            raise errors.NomadApiError(
                error.method,
                error.path,
                error.message,
                status=error.status,
                kind=error.kind,
                advice=error.advice,
                is_connected=error.is_connected,
            ) from error
        if error is not None:
            raise error

    def _gather(self, place: _Place, group: list[_Waiting]) -> None:
        """Wait while others join *group*, then close it."""
        for _ in range(GATHERINGS):
            before = len(group)
            time.sleep(self._gather_s)
            with self._lock:
                if len(group) == before:
                    break
        with self._lock:
            del self._gathering[place]

    def _send(
        self,
        group: list[_Waiting],
        requester: registration_ownership.Requester,
        tell: Callable[[str], None],
        cancelled: threading.Event,
    ) -> None:
        """Send *group* and set each result, also after an error: other threads wait for them."""
        client = self._client()
        assert client is not None  # noqa: S101  # a caller holds it
        timeouts = sending.BatchTimeouts(deadline=time.monotonic() + DEADLINE_S, tell=tell, cancelled=cancelled)
        answers = {id(item.wanted.document): item.answer for item in group}
        try:
            for document, error in owned.register(
                client, (item.wanted for item in group), requester=requester, timeouts=timeouts
            ):
                answers[id(document)].set_result(error)
        except BaseException as problem:
            for answer in answers.values():
                if not answer.done():
                    answer.set_exception(problem)
            raise


_LOCK = threading.Lock()
_COALESCERS: weakref.WeakKeyDictionary[nomad.Nomad, Coalescer] = weakref.WeakKeyDictionary()


def coalescer_of(client: nomad.Nomad) -> Coalescer:
    """Return the coalescer of *client*: the same one for every thread."""
    with _LOCK:
        return _COALESCERS.setdefault(client, Coalescer(client))
