"""The one request function: every call to Nomad goes through `Nomad.request`, which raises every refusal."""

import json
import logging
import re
import time
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email import utils
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
"""Logs warnings on the clock; without a configured handler, Python prints them on stderr."""

TIMEOUT_S = 30.0
"""Default deadline of a call."""

PLUGIN_TIMEOUT_S = 150.0
"""Longer than Nomad's timeout of two minutes for a plugin, so that Nomad's own reply arrives."""

READERS = 16
"""
Concurrent reads of many objects. More are no faster with a nearby agent; with a distant one,
10,000 volumes take 10,000 / 16 round trips.
"""

_Read = TypeVar("_Read")

CLOCK_REPORTED_S = 60.0
"""Difference between the clocks of Nomad and of this machine from which it is reported."""

CLOCK_IGNORED_S = 3600.0
"""Difference from which a ``Date`` is not Nomad's clock, but that of something in front of it, or invented."""

_NS_IN_S = 1_000_000_000
_INDEX_DIGITS = 20
"""Of the largest ``uint64``."""

JOB_ROUTES = frozenset(
    {
        "action", "actions", "allocations", "deployment", "deployments", "dispatch", "evaluate", "evaluations", "force",
        "payload", "plan", "revert", "scale", "services", "stable", "submission", "summary", "tag", "versions",
    }
)  # fmt: skip
"""Last segments of a path below ``/v1/job/`` that are not part of the job's id."""

_ALLOWED_JOB = "a job id without empty parts, '.' and '..', whose part behind a '/' is no route of Nomad's, as plan is"

_PATH_POSITION_OF_VERB = 3
"""In ``volume/csi/ID/delete``, counted from ``volume``."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """Nomad's reply to a successful call."""

    call: classify.Call
    status: int

    index: int
    """``X-Nomad-Index``; 0: the reply has none."""

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
        self._time: tuple[int, float] | None = None
        self._is_clock_reported = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Nomad({self.connection!r})"

    def close(self) -> None:
        """Close the connections. A later call opens new ones."""
        self._transport.close()

    @property
    def now_ns(self) -> int:
        """
        The time by the clock of the agent, in nanoseconds since 1970.

        It advances from the last reply by a monotonic clock, so that ages of Nomad's objects do not depend on the
        date of this machine; that is the time if the agent sent none that is less than `CLOCK_IGNORED_S` away.
        """
        if self._time is None:
            return time.time_ns()
        time_ns, at_s = self._time
        return time_ns + int((time.monotonic() - at_s) * _NS_IN_S)

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
        _refuse_volume_delete(method, path)
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

    def stream(self, path: str, query: Iterable[tuple[str, str]]) -> "transport.Stream":
        """
        Return the lines of a streaming response; nothing is sent before the first line is read.

        *query* may have a name more than once. Raises `transport.NoStreamError` if the connection uses a proxy.
        """
        if self._observe is not None:
            self._observe("GET", path)
        given = list(query)
        names = {name for name, _ in given}
        own = [item for item in self._query({}).items() if item[0] not in names]
        return self._transport.stream(f"{path}?{parse.urlencode([*own, *given])}")

    def _query(self, query: Mapping[str, str]) -> dict[str, str]:
        own = {"namespace": self.connection.namespace, "region": self.connection.region}
        return {name: value for name, value in (own | dict(query)).items() if value or name in query}

    def _record_time(self, answer: "transport.Answer") -> None:
        try:
            date = utils.parsedate_to_datetime(answer.headers.get("Date", ""))
            date_s = int(date.timestamp())
        except (ValueError, OverflowError):  # absent, or not from Nomad
            return
        ahead_s = date_s - time.time()
        is_ignored = abs(ahead_s) >= CLOCK_IGNORED_S
        if abs(ahead_s) >= CLOCK_REPORTED_S and not self._is_clock_reported:
            self._is_clock_reported = True
            LOG.warning(
                "Nomad's clock is %.0f min %s this machine's%s; correct one",
                abs(ahead_s) / 60,
                "ahead of" if ahead_s > 0 else "behind",
                ", and is ignored" if is_ignored else "",
            )
        if not is_ignored:
            self._time = date_s * _NS_IN_S, time.monotonic()

    def _reply(
        self, call: classify.Call, answer: "transport.Answer", secrets: Iterable[str], *, plain: bool = False
    ) -> Reply:
        self._record_time(answer)
        text = answer.content.decode(errors="replace")
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            classified = classify.answered(call, answer.status, text)
            raise _error(call, classify.status_of(answer.status, text), _sentence(text), classified, secrets)
        if call.method == "GET" and answer.status != HTTPStatus.OK:
            raise self._invalid(call, answer.status, f"expected status {HTTPStatus.OK} of a read")
        data = None if plain else self._decoded(call, answer.status, text)
        index = answer.headers.get("X-Nomad-Index", "")
        is_index = index.isdecimal() and len(index) <= _INDEX_DIGITS
        return Reply(call=call, status=answer.status, index=int(index) if is_index else 0, data=data, text=text)

    def _decoded(self, call: classify.Call, status: int, text: str) -> Any:
        """Return the JSON *text*; ``None`` for the empty answer to a write."""
        if not text.strip() and call.method == "GET":
            raise self._invalid(call, status, "the answer is empty")
        if not text.strip():
            return None
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._invalid(call, status, "the answer is not JSON") from error

    def _invalid(self, call: classify.Call, status: int, message: str) -> errors.NomadApiError:
        classified = classify.Classification(
            kind="refused" if classify.changes_nothing(call) else "ambiguous",
            advice=f"check whether NOMAD_ADDR ({self.connection.address}) is Nomad's HTTP address",
        )
        return _error(call, status, message, classified)


def _error(
    call: classify.Call, status: int, message: str, classified: classify.Classification, secrets: Iterable[str] = ()
) -> errors.NomadApiError:
    return errors.NomadApiError(
        call.method, call.path, message, status=status, kind=classified.kind, advice=classified.advice, secrets=secrets
    )


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
    ``/v1/job/backup%2Fperiodic-1``. Nomad uses all between ``/v1/job/`` and the last segment as the id. It splits every
    other path after decoding. Raises `errors.SpecError` for a segment that would become another path there.
    Source: hashicorp/nomad, ``command/agent/job_endpoint.go`` (``JobSpecificRequest``), 2026-08-21.
    """
    for position, segment in enumerate(segments):
        is_job = position == 1 and segments[0] == "job"
        parts = segment.split("/") if is_job else [segment]
        is_route = len(parts) > 1 and position == len(segments) - 1 and parts[-1] in JOB_ROUTES
        if is_route or any(part in {"", ".", ".."} or "/" in part for part in parts):
            allowed = _ALLOWED_JOB if is_job else "an id without '/', and not '.' or '..'"
            problem = errors.Problem(path="id", got=repr(segment), allowed=allowed)
            raise errors.SpecError((problem,), source=f"a request to /v1/{segments[0]}")
    return "/v1/" + "/".join(parse.quote(segment, safe="") for segment in segments)


def _refuse_volume_delete(method: str, path: str) -> None:
    sent = re.split(r"[?#]", path, maxsplit=1)[0]
    segments = [part for part in parse.unquote(sent).split("/") if part not in {"", "."}]
    for position, segment in enumerate(segments):
        if segment == "volume" and "delete" in segments[position + _PATH_POSITION_OF_VERB :]:
            raise errors.RefusedError(
                f"{method} {path} would delete the storage behind a volume, even one in use; deregister it instead"
            )


def _sentence(text: str) -> str:
    """Return *text* on one line; an HTML page is not quoted."""
    if text.lstrip().startswith("<"):
        return "an HTML page, not an answer of Nomad's"
    return " ".join(text.split())
