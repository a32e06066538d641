"""
Bytes to Nomad and back: one attempt, one deadline, one size limit.

The one place that knows urllib3; its exceptions end here.
"""

import base64
import contextlib
import functools
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib import parse

import urllib3

from nomad_csi import errors
from nomad_csi.nomad import classify, connection, pipeline, streaming, tls, unix_socket

MAX_REPLY_BYTES = 64 * 2**20
"""Longest answer that is read. Nomad's reply to 20,000 registrations at once has 18 MB."""

_PART_BYTES = 2**16
_CONNECTIONS = 16
"""Kept open for the next call."""

AT_ONCE = 48
"""
Calls at a time; more wait. A Nomad agent takes 100 connections of one address and answers 429 to the next
(``http_max_conns_per_client``), and this client is seldom the only one there.
"""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Transport:
    """Connections to one address: nothing is sent twice, and no redirect followed."""

    def __init__(self, settings: connection.Connection) -> None:
        self._address = settings.address
        self._headers = _headers(settings)
        context = tls.context(settings)
        self._open = functools.partial(_pool, settings, context)
        self._pool = self._open()
        # A proxy is given the whole address of plain HTTP, and a tunnel for the rest (RFC 9112, section 3.2.2).
        self._front = settings.address if settings.proxy and context is None else ""
        self._can_pipeline = not settings.proxy
        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._line = pipeline.Line(
            address=settings.address,
            headers=self._headers,
            context=context,
            server_name=settings.tls_server_name,
            max_bytes=MAX_REPLY_BYTES,
        )

    def exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        """
        Send one request and return its answer, whatever its status.

        *target* is path and query as sent. Raises `errors.NomadApiError`: ``retry`` where the request cannot have
        arrived, else by `classify.unanswered`.
        """
        if not self._free.acquire(timeout=timeout_s):
            raise self._unsent(call, f"{AT_ONCE} calls were under way for {timeout_s:g} s", "")
        try:
            return self._exchange(call, target, content, timeout_s)
        except urllib3.exceptions.HTTPError as error:
            raise self._error(call, error, timeout_s) from error
        finally:
            self._free.release()

    def read_many(self, targets: Sequence[str], timeout_s: float) -> Iterator[Answer]:
        """
        Yield answers to a GET of each of *targets*, in order.

        Where a connection ends after it was of use, the next one goes on; else the answers end early. Through a proxy
        there are none: few of them pass on what comes before they have answered.
        """
        if not self._can_pipeline:
            return
        deadline = time.monotonic() + timeout_s
        done, before = 0, -pipeline.WINDOW
        while done < len(targets) and done - before >= pipeline.WINDOW:
            before = done
            with contextlib.suppress(pipeline.BrokenError):
                for part in pipeline.answers(self._line, targets[done:], deadline):
                    done += 1
                    headers = {"X-Nomad-Index": part.headers.get("x-nomad-index", "")}
                    yield Answer(status=part.status, headers=headers, content=part.content)

    def stream(self, target: str) -> streaming.Stream:
        """Return an answer that does not end, over a connection of its own: not through a proxy, which may hold it."""
        if not self._can_pipeline:
            raise streaming.NoStreamError("Nomad is asked through a proxy")
        return streaming.Stream(self._line, target)

    def close(self) -> None:
        """Close what is open. A later call opens anew."""
        closed, self._pool = self._pool, self._open()
        closed.close()

    def _exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        deadline = time.monotonic() + timeout_s
        response = self._pool.urlopen(
            call.method,
            self._front.rstrip("/") + target,
            body=content,
            headers=self._headers,
            retries=False,
            redirect=False,
            assert_same_host=False,  # where it goes is ours to say, and redirects are not followed
            timeout=urllib3.Timeout(total=timeout_s),
            preload_content=False,
        )
        with contextlib.closing(response):
            received = self._read(call, response, deadline, timeout_s)
            response.release_conn()
        return Answer(status=response.status, headers=response.headers, content=received)

    def _read(
        self, call: classify.Call, response: urllib3.BaseHTTPResponse, deadline: float, timeout_s: float
    ) -> bytes:
        parts = []
        left = MAX_REPLY_BYTES
        while part := response.read1(_PART_BYTES):
            parts.append(part)
            left -= len(part)
            if left < 0:
                raise self._lost(call, f"the answer is longer than {MAX_REPLY_BYTES} bytes", "ask for less at a time")
            if time.monotonic() > deadline:
                raise self._lost(call, f"the answer was not complete after {timeout_s:g} s")
        return b"".join(parts)

    def _error(
        self, call: classify.Call, error: urllib3.exceptions.HTTPError, timeout_s: float
    ) -> errors.NomadApiError:
        look = f"look at NOMAD_ADDR ({self._address}) and whether an agent listens there"
        match error:
            case urllib3.exceptions.ProxyError():
                return self._unsent(
                    call, "the proxy does not let it through: " + _cause(error), "look at HTTP_PROXY and HTTPS_PROXY"
                )
            case urllib3.exceptions.NameResolutionError():
                return self._unsent(call, "the host name is not known", look)
            case urllib3.exceptions.NewConnectionError():
                return self._unsent(call, "no connection: " + _cause(error), look)
            case urllib3.exceptions.ConnectTimeoutError():
                return self._unsent(call, f"no connection within {timeout_s:g} s", look)
            case urllib3.exceptions.SSLError() if not isinstance(error.args[0], ssl.SSLEOFError):
                return self._unsent(call, "no TLS connection: " + _cause(error), self._tls_advice(error))
            case urllib3.exceptions.SSLError():
                # How a server that wants a certificate hangs up depends on who is faster.
                return self._lost(call, "the TLS connection broke: " + _cause(error), self._tls_advice(error))
            case urllib3.exceptions.LocationParseError():
                return self._unsent(call, "the host name cannot be looked up", look)
            case urllib3.exceptions.ReadTimeoutError():
                return self._lost(call, f"no answer within {timeout_s:g} s")
            case _:
                return self._lost(call, "the connection broke: " + _cause(error))

    def _unsent(self, call: classify.Call, message: str, advice: str) -> errors.NomadApiError:
        return errors.NomadApiError(
            call.method, call.path, f"{self._address}: {message}", kind="retry", advice=advice, is_connected=False
        )

    def _lost(self, call: classify.Call, message: str, advice: str = "") -> errors.NomadApiError:
        verdict = classify.unanswered(call)
        return errors.NomadApiError(
            call.method, call.path, f"{self._address}: {message}", kind=verdict.kind, advice=advice or verdict.advice
        )

    def _tls_advice(self, error: urllib3.exceptions.SSLError) -> str:
        if isinstance(error.args[0], ssl.SSLCertVerificationError):
            return "look at NOMAD_CACERT, and at NOMAD_TLS_SERVER_NAME where the certificate has another name"
        return f"look at NOMAD_ADDR ({self._address}): http or https; and at NOMAD_CLIENT_CERT"


def _pool(settings: connection.Connection, context: ssl.SSLContext | None) -> urllib3.HTTPConnectionPool:
    if path := unix_socket.path_of(settings.address):
        return unix_socket.pool(path, _CONNECTIONS)
    words: dict[str, Any] = {"maxsize": _CONNECTIONS, "retries": False}
    if context is not None:
        words |= {"ssl_context": context, "server_hostname": settings.tls_server_name or None}
    manager = _through(settings.proxy, words) if settings.proxy else urllib3.PoolManager(**words)
    return manager.connection_from_url(settings.address)


def _through(proxy: str, words: Mapping[str, Any]) -> urllib3.ProxyManager:
    """Return what asks through *proxy*, whose user and password, where it has them, travel in a header of its own."""
    parts = urllib3.util.parse_url(proxy)
    headers = urllib3.make_headers(proxy_basic_auth=parse.unquote(parts.auth)) if parts.auth else None
    return urllib3.ProxyManager(parts._replace(auth=None).url, proxy_headers=headers, **words)


def _headers(settings: connection.Connection) -> dict[str, str]:
    headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "nomad-csi"}
    if settings.token:
        headers["X-Nomad-Token"] = settings.token
    if settings.http_auth:
        user, _, password = settings.http_auth.partition(":")
        headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    return headers


def _cause(error: Exception) -> str:
    """Return the innermost reason of *error*, without urllib3's words around it."""
    inner: BaseException = error
    while nested := inner.__cause__ or next((part for part in inner.args if isinstance(part, BaseException)), None):
        inner = nested
    if isinstance(inner, ssl.SSLError):
        return str(inner).split("] ", 1)[-1].split(" (_ssl", 1)[0]
    return (inner.strerror or str(inner)) if isinstance(inner, OSError) else str(inner)
