"""
Send a request and read its reply: one attempt, one deadline, one size limit.

urllib3's exceptions do not leave this module.
"""

import base64
import contextlib
import functools
import http
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib import parse

import urllib3
from urllib3 import connection as connections

from nomad_csi import errors
from nomad_csi.nomad import classify, connection, permissions
from nomad_csi.text import foreign, redaction

AT_ONCE = 48
"""
Concurrent calls; more wait. A Nomad agent accepts 100 connections of one address and returns 429 to the next
(``http_max_conns_per_client``), and this client is seldom the only one.
"""

CONNECT_S = 10.0
"""Longest wait for a connection to one address of a host; the next address is tried then."""

SILENCE_S = 45.0
"""Idle timeout of a stream, after which its connection counts as dead: Nomad sends a line at least every 30 s."""

FIRST_S = 5.0
"""
Timeout of the first line of a stream, which Nomad sends at once. Nomad 2.0.6-dev sends headers before it checks the
token, and is silent then. Source: hashicorp/nomad, ``nomad/event_endpoint.go`` (``NewJsonStream``), 2026-08-21.
"""

MAX_LINE_BYTES = 2**24
"""Maximum length of a line of a stream. An event contains one object, such as a job with its templates."""

MAX_BYTES = 2**26
"""Longest reply. Nomad's reply to 20,000 registrations at once has 18 MB."""

ERROR_BYTES = 2**16
"""Of an error reply; the rest is not read. Nomad's longest texts list the errors of each part of a job."""

_PART_BYTES = 2**16
_SHOWN = 200

_SEND: Mapping[str, Any] = {
    "retries": False,
    "redirect": False,
    "assert_same_host": False,
    "preload_content": False,
    "decode_content": False,
}
"""Options of every request: sent once, and read as it arrives."""


class BrokenError(Exception):
    """The connection of a stream ended, or the response is no stream of lines."""


class NoStreamError(BrokenError):
    """Nomad refused the stream."""


# Certificates: read once when a client is made, so that an error names the invalid file.


def ssl_context(settings: connection.Connection) -> ssl.SSLContext | None:
    """
    Return the TLS context of connections; ``None``: the address is plain HTTP.

    Raises `errors.SpecError` naming each file that cannot be used.
    """
    if parse.urlsplit(settings.address).scheme != "https":
        return None
    trusts_own = bool(settings.ca_cert or settings.ca_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if trusts_own else ssl.create_default_context()
    if problems := tuple(_load(context, settings)):
        raise errors.SpecError(problems, source=connection.SOURCE)
    if settings.tls_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load(context: ssl.SSLContext, settings: connection.Connection) -> Iterator[errors.Problem]:
    """Load files into *context*; yield a problem for each unusable one. `ca_cert` takes precedence over `ca_path`."""
    if settings.ca_cert:
        yield from _tried(context.load_verify_locations, "ca_cert", settings.ca_cert)
    elif settings.ca_path:
        # Every file, as Nomad does; OpenSSL itself reads only hashed names.
        files = sorted(path for path in Path(settings.ca_path).glob("*") if path.is_file())
        if not files:
            yield connection.problem("ca_path", repr(settings.ca_path), "a directory with PEM files")
        for file in files:
            yield from _tried(context.load_verify_locations, "ca_path", str(file))
    if settings.client_cert:
        # An empty password: a key that needs one is an error, never a prompt on the terminal.
        yield from _tried(
            lambda file: context.load_cert_chain(file, settings.client_key, password=""),
            "client_cert",
            settings.client_cert,
            f" that fits client_key {settings.client_key!r}",
        )


def _tried(load: Callable[[str], None], name: str, file: str, fitting: str = "") -> Iterator[errors.Problem]:
    try:
        load(file)
    except OSError as error:
        reason = error.strerror or str(error)
        yield connection.problem(name, repr(file), f"a readable PEM file{fitting} ({reason})")


# Requests.


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A reply."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Transport:
    """Connections to one address: nothing is sent twice, and no redirect followed."""

    def __init__(self, settings: connection.Connection) -> None:
        self._settings = settings
        self._headers = _headers(settings)
        self._context = ssl_context(settings)
        # A proxy gets the full URL for plain HTTP, and a tunnel otherwise (RFC 9112, section 3.2.2).
        self._front = settings.address.rstrip("/") if settings.proxy and self._context is None else ""
        self._pool = self._open()

    def exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        """
        Send one request and return its reply, of any status, within *timeout_s*.

        *target* is path and query as sent. Raises `errors.NomadApiError`: ``retry`` if the request cannot have
        arrived, else by `classify.unanswered`.
        """
        try:
            return self._exchange(call, target, content, timeout_s)
        except urllib3.exceptions.HTTPError as error:
            raise self._error(call, error, timeout_s) from error

    def stream(self, target: str) -> "Stream":
        """Return a streaming response, over its own connection: not through a proxy, which may buffer it."""
        if self._settings.proxy:
            raise NoStreamError("Nomad is asked through a proxy")
        timeout = urllib3.Timeout(connect=CONNECT_S, read=SILENCE_S)
        send = functools.partial(self._open().urlopen, "GET", target, headers=self._headers, timeout=timeout, **_SEND)
        return Stream(send, self._settings.secrets)

    def close(self) -> None:
        """Close all connections. A later call opens new ones."""
        closed, self._pool = self._pool, self._open()
        closed.close()

    def _open(self) -> urllib3.HTTPConnectionPool:
        settings = self._settings
        options: dict[str, Any] = {"maxsize": AT_ONCE, "block": True}
        path = connection.socket_path(settings.address)
        if self._context is not None:
            options |= {"ssl_context": self._context, "server_hostname": settings.tls_server_name or None}
        manager = urllib3.PoolManager(**options)
        if settings.proxy:
            proxy = urllib3.util.parse_url(settings.proxy)
            headers = urllib3.make_headers(proxy_basic_auth=parse.unquote(proxy.auth)) if proxy.auth else None
            manager = urllib3.ProxyManager(proxy._replace(auth=None).url, proxy_headers=headers, **options)
        pool = manager.connection_from_url("http://localhost" if path else settings.address)
        kind = connections.HTTPConnection if self._context is None else connections.HTTPSConnection
        pool.ConnectionCls = _bounded(kind, path)  # for this pool alone
        return pool

    def _exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        until = time.monotonic() + timeout_s
        response = self._pool.urlopen(
            call.method,
            self._front + target,
            body=content,
            headers=self._headers,
            timeout=urllib3.Timeout(connect=timeout_s, total=timeout_s),
            **{**_SEND, "pool_timeout": timeout_s},
        )
        try:
            received = self._read(call, response, until)
        except (urllib3.exceptions.ReadTimeoutError, TimeoutError) as error:
            raise self.lost(call, f"the answer was not complete after {timeout_s:g} s") from error
        finally:
            response.close()
            response.release_conn()  # `close` alone keeps one of the pool's `AT_ONCE`
        return Answer(status=response.status, headers=response.headers, content=received)

    def _read(self, call: classify.Call, response: urllib3.BaseHTTPResponse, until: float) -> bytes:
        """Return the body; of an error the first `ERROR_BYTES`, and then the connection is not used again."""
        is_error = response.status >= http.HTTPStatus.MULTIPLE_CHOICES
        parts, size = [], 0
        while part := _part(response, until):
            parts.append(part)
            size += len(part)
            if is_error and size > ERROR_BYTES:
                return b"".join(parts)[:ERROR_BYTES]
            if size > MAX_BYTES:
                raise self.lost(call, f"the answer is longer than {MAX_BYTES} bytes", "ask for less at a time")
        response.release_conn()
        return b"".join(parts)

    def _error(
        self, call: classify.Call, error: urllib3.exceptions.HTTPError, timeout_s: float
    ) -> errors.NomadApiError:
        address = self._settings.address
        advice = f"check NOMAD_ADDR ({address}) and whether an agent listens there"
        if self._settings.is_default:
            advice = "that is the default: NOMAD_ADDR is not set, and no --address is given"
        unsent = functools.partial(self.lost, call, is_sent=False)
        match error:
            case urllib3.exceptions.ProxyError():
                return unsent("the proxy does not let it through: " + _cause(error), "check HTTP_PROXY and HTTPS_PROXY")
            case urllib3.exceptions.EmptyPoolError():
                return unsent(f"{AT_ONCE} calls were under way for {timeout_s:g} s")
            case urllib3.exceptions.NameResolutionError():
                return unsent("the host name is not known", advice)
            case urllib3.exceptions.LocationParseError():
                return unsent("the host name cannot be looked up", advice)
            case urllib3.exceptions.NewConnectionError():
                return unsent("no connection: " + _cause(error), advice)
            case urllib3.exceptions.ConnectTimeoutError():
                return unsent(f"no connection within {min(CONNECT_S, timeout_s):g} s", advice)
            case urllib3.exceptions.SSLError():
                return self._tls_error(call, error)
            case _ if isinstance(_innermost(error), TimeoutError | urllib3.exceptions.ReadTimeoutError):
                return self.lost(call, f"no answer within {timeout_s:g} s")
            case _:
                return self.lost(call, "the connection broke: " + _cause(error))

    def lost(
        self, call: classify.Call, message: str, advice: str = "", *, is_sent: bool = True
    ) -> errors.NomadApiError:
        """Return the error of a *call* that has no usable reply, or that was not sent."""
        return errors.NomadApiError(
            call.method,
            call.path,
            f"{self._settings.address}: {message}",
            kind=classify.unanswered(call).kind if is_sent else "retry",
            advice=advice,
            is_connected=is_sent,
            secrets=self._settings.secrets,
        )

    def _tls_error(self, call: classify.Call, error: urllib3.exceptions.SSLError) -> errors.NomadApiError:
        inner, address = error.args[0], self._settings.address
        advice = f"check whether NOMAD_ADDR ({address}) is http or https, and check NOMAD_CLIENT_CERT"
        if isinstance(inner, ssl.SSLCertVerificationError):
            advice = "check NOMAD_CACERT, and NOMAD_TLS_SERVER_NAME where the certificate has another name"
        # The error of a server that requires a client certificate depends on timing.
        is_sent = isinstance(inner, ssl.SSLEOFError)
        message = "the TLS connection broke: " if is_sent else "no TLS connection: "
        return self.lost(call, message + _cause(error), advice, is_sent=is_sent)


def _headers(settings: connection.Connection) -> dict[str, str]:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "nomad-csi",
    }
    if settings.token:
        headers["X-Nomad-Token"] = settings.token
    if settings.http_auth:
        user_password = settings.http_auth if ":" in settings.http_auth else f"{settings.http_auth}:"
        headers["Authorization"] = "Basic " + base64.b64encode(user_password.encode()).decode()
    return headers


def _bounded(kind: type[connections.HTTPConnection], path: str) -> type[connections.HTTPConnection]:
    """
    Return *kind* with its timeout, the call's, for sending, and `CONNECT_S` for each address that it tries.

    *path*: connect to that socket, as a task does to the agent of its client. Source: HashiCorp,
    https://developer.hashicorp.com/nomad/api-docs/task-api, 2026-08: ``NOMAD_SECRETS_DIR/api.sock``, the whole API.
    """

    class Bounded(kind):  # type: ignore[valid-type, misc]
        timeout: float

        def _new_conn(self) -> socket.socket:
            whole_s, self.timeout = self.timeout, min(self.timeout, CONNECT_S)
            try:
                opened: socket.socket = self._unix() if path else super()._new_conn()
            finally:
                self.timeout = whole_s
            opened.settimeout(whole_s)
            return opened

        def _unix(self) -> socket.socket:
            opened = socket.socket(socket.AF_UNIX)
            opened.settimeout(self.timeout)
            try:
                opened.connect(path)
            except OSError as error:
                opened.close()
                raise urllib3.exceptions.NewConnectionError(self, str(error)) from error
            return opened

        def request(self, *arguments: Any, **more: Any) -> None:
            if self.sock is not None:  # an open one has what was left to the call before
                self.sock.settimeout(self.timeout)
            super().request(*arguments, **more)

    return Bounded


def _part(response: urllib3.BaseHTTPResponse, until: float) -> bytes:
    """Return the next bytes; empty at the end. Raises `TimeoutError` after *until*, a time of `time.monotonic`."""
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    _wait_at_most(response, left_s)
    return response.read1(_PART_BYTES)


def _wait_at_most(response: urllib3.BaseHTTPResponse, seconds: float) -> None:
    own = response.connection
    if isinstance(own, connections.HTTPConnection) and own.sock:
        own.sock.settimeout(seconds)


def _cause(error: Exception) -> str:
    """Return the innermost reason of *error*, without urllib3's wrapping."""
    inner = _innermost(error)
    if isinstance(inner, ssl.SSLError):
        return str(inner).split("] ", 1)[-1].split(" (_ssl", 1)[0]
    return (inner.strerror or str(inner)) if isinstance(inner, OSError) else str(inner)


def _innermost(error: BaseException) -> BaseException:
    while nested := error.__cause__ or next((part for part in error.args if isinstance(part, BaseException)), None):
        error = nested
    return error


# Streams of lines.


class Stream:
    """
    One streaming response. Iterate over its lines in one thread; `close` it from any.

    Args:
        send: sends the request.
        secrets: are removed from errors.

    """

    def __init__(self, send: Callable[[], urllib3.BaseHTTPResponse], secrets: Iterable[str] = ()) -> None:
        self._send = send
        self._secrets = tuple(secrets)
        self._lock = threading.Lock()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        """
        Yield each line as it arrives, without its line end; stop after `close`.

        Raises `NoStreamError` if Nomad refuses, `BrokenError` if there is no response, or it ends.
        """
        try:
            with contextlib.closing(self._send()) as response:
                yield from self._lines(response)
        except BrokenError:
            if not self._is_closed:
                raise
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
            if not self._is_closed:
                raise BrokenError(self._shown(str(error)) or type(error).__name__) from error

    def close(self) -> None:
        """End the stream, also during a wait for a line."""
        with self._lock:
            self._is_closed = True
            if self._response is not None:
                with contextlib.suppress(OSError, ValueError, RuntimeError):  # it may have ended by itself
                    self._response.shutdown()

    def _shown(self, text: str) -> str:
        return foreign.cut(redaction.redact(text, self._secrets).strip(), _SHOWN)

    def _lines(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        with self._lock:
            if self._is_closed:
                return
            self._response = response
        _wait_at_most(response, FIRST_S)
        rest = b""
        with contextlib.suppress(urllib3.exceptions.ReadTimeoutError):
            rest = response.read1(_PART_BYTES)
        if response.status != http.HTTPStatus.OK or not rest:
            reason = "nothing came, as for a token that lacks a capability"
            if response.status != http.HTTPStatus.OK:
                reason = f"status {response.status}: {self._shown(rest.decode(errors='replace'))}"
            raise NoStreamError(f"{reason}; {permissions.watch_permissions()}")
        _wait_at_most(response, SILENCE_S)
        while True:
            *lines, rest = rest.split(b"\n")
            yield from (line.strip() for line in lines)
            if len(rest) > MAX_LINE_BYTES:
                raise BrokenError(f"a line is longer than {MAX_LINE_BYTES} bytes")
            part = response.read1(_PART_BYTES)
            if not part:
                raise BrokenError("the stream ended")
            rest += part
