"""The one request function: every call to Nomad goes through `Nomad.request`, which raises every refusal."""

import json
import logging
import re
import time
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib import parse

from nomad_csi import concurrency, errors
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.nomad import classify
from nomad_csi.nomad.connection import Connection

if TYPE_CHECKING:
    from nomad_csi.nomad import transport

LOG = logging.getLogger("nomad_csi.nomad")
"""Logs each call with its time."""

TIMEOUT_S = 30.0
"""Default deadline of a call; commands and resources use it, no option changes it."""

PLUGIN_TIMEOUT_S = 150.0
"""Longer than Nomad's timeout of two minutes for a plugin, so that Nomad's own reply arrives."""

READERS = 16
"""
Concurrent reads of many objects. More are no faster with a nearby agent; with a distant one,
10,000 volumes take 10,000 / 16 round trips.
"""

_Read = TypeVar("_Read")

ERROR_CHARACTERS = 2**16
"""Of an error's text that are searched for secrets; the message has fewer."""

_VOLUME_DELETE = re.compile(r"/v1/volume/[^/]+/.+/delete")


@dataclass(frozen=True, kw_only=True)
class Reply:
    """Nomad's reply to a successful call."""

    call: classify.Call
    status: int

    data: Any
    """The decoded JSON; ``None`` for an empty body, and for plain text."""

    text: str
    """The raw body."""


class Nomad:
    """
    A client of one cluster. Thread-safe; close it, or use it in a ``with`` statement.

    Args:
        connection: address and credentials. Raises `errors.SpecError` for an unusable certificate file.
        timeout_s: default deadline of each call, in seconds.
        observe: called with method and path of every attempt just before it is sent, for logging.
        clock: for all that waits for this cluster; deadlines of requests are of the system's clock.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        timeout_s: float = TIMEOUT_S,
        observe: Callable[[str, str], None] | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        from nomad_csi.nomad import transport  # noqa: PLC0415  # records are read without the HTTP library

        self.connection = connection
        self.clock = clock
        self._timeout_s = timeout_s
        self._observe = observe
        self._transport = transport.Transport(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Nomad({self.connection!r})"

    def close(self) -> None:
        """Close the connections. No call may follow."""
        self._transport.close()

    @property
    def now_ns(self) -> int:
        """The time in nanoseconds since 1970, to compare with Nomad's timestamps."""
        return time.time_ns()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        timeout_s: float | None = None,
        secrets: Collection[str] = (),
        plain: bool = False,
    ) -> Reply:
        """
        Send one request, once, and return the reply.

        *path* is from `path_of`; namespace and region of the connection are added to *query* if it has none;
        *body* is sent as JSON; *secrets* are its strings that no error may show, even if Nomad repeats them;
        *plain*: the reply is third-party text, such as a task's log, and is not parsed as JSON.
        Raises `errors.NomadApiError` unless the call succeeds, and `errors.RefusedError`, before anything is sent,
        for *secrets* that could be read in transit, and for a volume *delete*: on a volume in use,
        Nomad has the driver delete the data first and refuses afterwards (tried on Nomad 2.0.6-dev, 2026-08).
        """
        if _VOLUME_DELETE.fullmatch(path):
            raise errors.RefusedError(
                f"{method} {path} would delete the storage behind a volume, even one in use; deregister it instead"
            )
        if any(secrets):
            self.connection.refuse_secrets()
        wanted = self._query(query or {})
        call = classify.Call(
            method=method, path=path, namespace=wanted["namespace"], has_token=bool(self.connection.token)
        )
        if self._observe is not None:
            self._observe(method, path)
        content = None if body is None else json.dumps(body).encode()
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        began = time.monotonic()
        answer = self._transport.exchange(call, f"{path}?{parse.urlencode(wanted)}", content, timeout_s)
        LOG.info("%s %s: status %d, %.0f ms", method, path, answer.status, (time.monotonic() - began) * 1000)
        return self._reply(call, answer, (*self.connection.secrets, *secrets), plain=plain)

    def _query(self, query: Mapping[str, str]) -> dict[str, str]:
        own = {"namespace": self.connection.namespace, "region": self.connection.region}
        return {name: value for name, value in (own | dict(query)).items() if value or name in query}

    def _reply(self, call: classify.Call, answer: "transport.Answer", secrets: Iterable[str], *, plain: bool) -> Reply:
        text = answer.content.decode(errors="replace")
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            classified = classify.answered(call, answer.status, text)
            raise errors.NomadApiError(
                call.method,
                call.path,
                " ".join(text[:ERROR_CHARACTERS].split()),
                status=classify.status_of(answer.status, text),
                kind=classified.kind,
                advice=classified.advice,
                secrets=secrets,
            )
        data = None if plain or (not text and call.method != "GET") else self._decoded(call, answer.status, text)
        return Reply(call=call, status=answer.status, data=data, text=text)

    def _decoded(self, call: classify.Call, status: int, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise errors.NomadApiError(
                call.method,
                call.path,
                "the answer is not JSON",
                status=status,
                kind="refused" if classify.changes_nothing(call) else "ambiguous",
                advice=f"check whether NOMAD_ADDR ({self.connection.address}) is Nomad's HTTP address",
            ) from error


def read_many(calls: Iterable[Callable[[], _Read]]) -> Iterator[_Read]:
    """
    Yield the result of each of *calls*, in order, `READERS` at a time; each has its own deadline.

    After the first error no call begins.
    """
    return concurrency.run_in_order(calls, workers=READERS)


def path_of(*segments: str) -> str:
    """
    Return the path of *segments*: ``path_of("volume", "csi", "data[0]")`` is ``/v1/volume/csi/data%5B0%5D``.

    The id of a job may have ``/``, as that of a run of a periodic job does: ``path_of("job", "backup/periodic-1")`` is
    ``/v1/job/backup%2Fperiodic-1``. Nomad splits every other path after decoding. Raises `errors.SpecError` for a
    segment that would become another path there.
    """
    for position, segment in enumerate(segments):
        is_job = position == 1 and segments[0] == "job"
        parts = segment.split("/") if is_job else [segment]
        if any(part in {"", ".", ".."} or "/" in part for part in parts):
            allowed = f"an id without {'empty parts' if is_job else repr('/')}, and not '.' or '..'"
            problem = errors.Problem(path="id", got=repr(segment), allowed=allowed)
            raise errors.SpecError((problem,), source=f"a request to /v1/{segments[0]}")
    return "/v1/" + "/".join(parse.quote(segment, safe="") for segment in segments)
