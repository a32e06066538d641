"""The one request function: every call to Nomad goes through `Nomad.request`, and every refusal comes out of it."""

import contextlib
import json
import re
import time
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email import utils
from http import HTTPStatus
from typing import Any, Self, TypeVar
from urllib import parse

from nomad_csi import errors, json_text, side_by_side
from nomad_csi.nomad.http import classify, connection, streaming, transport

TIMEOUT_S = 30.0
"""Deadline of a call that names none."""

PLUGIN_TIMEOUT_S = 150.0
"""Longer than the two minutes that Nomad gives a plugin, so that Nomad's own answer arrives."""

READERS = 16
"""
Reads at a time, where many objects are read one by one. More are no faster where the agent is near; where it is far,
ten thousand volumes take 10,000 / 16 round trips.
"""

_Read = TypeVar("_Read")

_NS_IN_S = 1_000_000_000
_INDEX_DIGITS = 20
"""Of the largest ``uint64``."""

JOB_ROUTES = frozenset(
    {
        "action", "actions", "allocations", "deployment", "deployments", "dispatch", "evaluate", "evaluations", "force",
        "payload", "plan", "revert", "scale", "services", "stable", "submission", "summary", "tag", "versions",
    }
)  # fmt: skip
"""Last words of a path below ``/v1/job/`` that are not part of the job's id."""

_ALLOWED_JOB = "a job id without empty parts, '.' and '..', whose part behind a '/' is no route of Nomad's, as plan is"

_PATH_POSITION_OF_VERB = 3
"""In ``volume/csi/ID/delete``, counted from ``volume``."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What Nomad answered to a call that succeeded."""

    call: classify.Call
    status: int

    index: int
    """``X-Nomad-Index``; 0 where the reply has none."""

    data: Any
    """The decoded JSON; ``None`` for an empty body, and where plain text was asked for."""

    text: str
    """The body as it came."""


class Nomad:
    """
    A client of one cluster. May be used by several threads at once; close it, or use it in a ``with`` statement.

    Args:
        connection: where, and as whom. Raises `errors.SpecError` for a certificate file that cannot be used.
        timeout_s: deadline of each call in seconds, unless the call names another.
        observe: told method and path of every attempt just before it is sent, so that none is silent.
    """

    def __init__(
        self,
        connection: connection.Connection,
        *,
        timeout_s: float = TIMEOUT_S,
        observe: Callable[[str, str], None] | None = None,
    ) -> None:
        self.connection = connection
        self._timeout_s = timeout_s
        self._observe = observe
        self._transport = transport.Transport(connection)
        self._told: tuple[int, float] | None = None

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
        The time by the clock of the agent, in nanoseconds since 1970; this machine's where it never told one.

        It goes on from the last answer by a clock that does not jump, so that ages of what Nomad tells do not depend
        on the date that this machine has.
        """
        if self._told is None:
            return time.time_ns()
        told_ns, at_s = self._told
        return told_ns + int((time.monotonic() - at_s) * _NS_IN_S)

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

        *path* comes from `path_of`; namespace and region of the connection are added to *query* where it has none;
        *body* is sent as JSON; *secrets* are those of its texts that no error may show, even where Nomad repeats them;
        *plain*: the answer is a text of somebody else, such as a task's log, and is not read as JSON.
        Raises `errors.NomadApiError` for everything but a success, and `errors.RefusedError`, before anything is sent,
        for *secrets* that could be read on the way, and for a volume *delete*: on a volume in use,
        Nomad lets the driver delete the data first and refuses afterwards (tried on Nomad 2.0.6-dev, 2026-08).
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
        answer = self._transport.exchange(
            call, f"{path}?{parse.urlencode(wanted)}", content, self._timeout_s if timeout_s is None else timeout_s
        )
        own = (self.connection.token, self.connection.http_auth)
        return self._reply(call, answer, (*own, *secrets), plain=plain)

    def stream(self, path: str, query: Iterable[tuple[str, str]]) -> streaming.Stream:
        """
        Return the lines of an answer that does not end; nothing is sent before they are asked for.

        *query* may have a name more than once. Raises `streaming.NoStreamError` where Nomad is asked through a proxy.
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

    def _note_time(self, answer: transport.Answer) -> None:
        with contextlib.suppress(ValueError):  # absent, or of something that is not Nomad
            told = utils.parsedate_to_datetime(answer.headers.get("Date", ""))
            self._told = int(told.timestamp()) * _NS_IN_S, time.monotonic()

    def _reply(
        self, call: classify.Call, answer: transport.Answer, secrets: Iterable[str], *, plain: bool = False
    ) -> Reply:
        self._note_time(answer)
        text = answer.content.decode(errors="replace")
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            classified = classify.answered(call, answer.status, text)
            raise _error(call, classify.status_of(answer.status, text), _sentence(text), classified, secrets)
        try:
            data = json_text.decode(text) if text.strip() and not plain else None
        except ValueError as error:
            classified = classify.Classification(
                kind="refused" if classify.changes_nothing(call) else "ambiguous",
                advice=f"check whether NOMAD_ADDR ({self.connection.address}) is Nomad's HTTP address",
            )
            raise _error(call, answer.status, "the answer is not JSON", classified) from error
        index = answer.headers.get("X-Nomad-Index", "")
        is_index = index.isdecimal() and len(index) <= _INDEX_DIGITS
        return Reply(call=call, status=answer.status, index=int(index) if is_index else 0, data=data, text=text)


def _error(
    call: classify.Call, status: int, message: str, classified: classify.Classification, secrets: Iterable[str] = ()
) -> errors.NomadApiError:
    return errors.NomadApiError(
        call.method, call.path, message, status=status, kind=classified.kind, advice=classified.advice, secrets=secrets
    )


def read_many(calls: Iterable[Callable[[], _Read]]) -> Iterator[_Read]:
    """
    Yield what each of *calls* returns, in order, `READERS` at a time; each has a deadline of its own.

    After the first error none is begun. Few results wait to be taken: of ten thousand volumes they would be much.
    """
    return side_by_side.in_order(calls, workers=READERS, ahead=4 * READERS)


def path_of(*segments: str) -> str:
    """
    Return the path of *segments*: ``path_of("volume", "csi", "data[0]")`` is ``/v1/volume/csi/data%5B0%5D``.

    The id of a job may hold ``/``, as that of a run of a periodic job does: ``path_of("job", "backup/periodic-1")`` is
    ``/v1/job/backup%2Fperiodic-1``. Nomad takes all between ``/v1/job/`` and the last word for it; every other path it
    splits after decoding. Raises `errors.SpecError` for a segment that would become another path there.
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
    """Return *text* on one line; a page of HTML is not quoted."""
    if text.lstrip().startswith("<"):
        return "an HTML page, not an answer of Nomad's"
    return " ".join(text.split())
