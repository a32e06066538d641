"""
Send a request and read its reply: one attempt, one deadline, one size limit.

urllib3's exceptions do not leave this module.
"""

import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib import parse

import urllib3
from urllib3 import connection as connections
from urllib3 import exceptions

from nomad_csi import errors
from nomad_csi.nomad import classify, connection

AT_ONCE = 48
"""
Concurrent calls; more wait. A Nomad agent accepts 100 connections of one address and returns 429 to the next
(``http_max_conns_per_client``), and this client is seldom the only one.
"""

CONNECT_S = 10.0
"""Longest wait for a connection to one address of a host, and for a request to be sent."""

MAX_BYTES = 2**26
"""Longest reply. Nomad's list of 20,000 volumes has 18 MB."""

_PART_BYTES = 2**16

_SEND: Mapping[str, Any] = {
    "retries": False,
    "redirect": False,
    "assert_same_host": False,
    "preload_content": False,
    "decode_content": False,
}
"""Options of every request: sent once, and read as it arrives."""

_UNSENT = (
    exceptions.ProxyError,
    exceptions.EmptyPoolError,
    exceptions.LocationParseError,
    exceptions.NewConnectionError,
    exceptions.ConnectTimeoutError,
    exceptions.SSLError,
)
"""Errors before anything was sent."""


# Certificates: read once when a client is made, so that an error names the invalid file.


def ssl_context(settings: connection.Connection) -> ssl.SSLContext | None:
    """
    Return the TLS context of connections; ``None``: the address is plain HTTP.

    Raises `errors.SpecError` naming the file that cannot be used.
    """
    if parse.urlsplit(settings.address).scheme != "https":
        return None
    trusts_own = bool(settings.ca_cert or settings.ca_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if trusts_own else ssl.create_default_context()
    if settings.ca_cert:
        _load("ca_cert", settings.ca_cert, context.load_verify_locations)
    elif settings.ca_path:
        # Every file, as Nomad does; OpenSSL itself reads only hashed names.
        files = [path for path in Path(settings.ca_path).glob("*") if path.is_file()]
        for file in files or [Path(settings.ca_path)]:
            _load("ca_path", str(file), context.load_verify_locations)
    if settings.client_cert:
        # An empty password: a key that needs one is an error, never a prompt on the terminal.
        _load("client_cert", settings.client_cert, lambda file: context.load_cert_chain(file, settings.client_key, ""))
    if settings.tls_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load(name: str, file: str, load: Callable[[str], None]) -> None:
    try:
        load(file)
    except OSError as error:
        allowed = f"a readable PEM file ({error.strerror or error})"
        raise errors.SpecError((connection.problem(name, repr(file), allowed),), source=connection.SOURCE) from error


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
        self._pool = self._connected()

    def exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        """
        Send one request and return its reply, of any status, within *timeout_s*.

        *target* is path and query as sent. Raises `errors.NomadApiError`: ``retry`` if the request cannot have
        arrived, else by `classify.unanswered`.
        """
        try:
            return self._exchange(call, target, content, timeout_s)
        except (exceptions.HTTPError, TimeoutError) as error:
            raise self._error(call, error, timeout_s) from error

    def close(self) -> None:
        """Close all connections. No call may follow."""
        self._pool.close()

    def _connected(self) -> urllib3.HTTPConnectionPool:
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
        if path:
            pool.ConnectionCls = _to_socket(path)  # for this pool alone
        return pool

    def _exchange(self, call: classify.Call, target: str, content: bytes | None, timeout_s: float) -> Answer:
        until = time.monotonic() + timeout_s
        response = self._pool.urlopen(
            call.method,
            self._front + target,
            body=content,
            headers=self._headers,
            timeout=urllib3.Timeout(connect=min(CONNECT_S, timeout_s), read=timeout_s),
            **{**_SEND, "pool_timeout": timeout_s},
        )
        received = bytearray()
        try:
            while part := _part(response, until):
                received += part
                if len(received) > MAX_BYTES:
                    raise exceptions.ProtocolError(f"it is longer than {MAX_BYTES} bytes")
            response.release_conn()
        finally:
            response.close()
            response.release_conn()  # `close` alone keeps one of the pool's `AT_ONCE`
        return Answer(status=response.status, headers=response.headers, content=bytes(received))

    def _error(self, call: classify.Call, error: Exception, timeout_s: float) -> errors.NomadApiError:
        """Return the error of a *call* that has no usable reply, or that was not sent."""
        inner, address, advice = _innermost(error), self._settings.address, ""
        # The error of a server that requires a client certificate depends on timing.
        is_sent = not isinstance(error, _UNSENT) or isinstance(inner, ssl.SSLEOFError)
        message = f"{'no answer' if is_sent else 'no connection'}: {_cause(inner)}"
        if isinstance(inner, TimeoutError):
            message = f"{message.partition(':')[0]} within {timeout_s:g} s"
        if isinstance(error, exceptions.ProxyError):
            advice = "check HTTP_PROXY and HTTPS_PROXY"
        elif isinstance(error, exceptions.SSLError):
            advice = f"check NOMAD_ADDR ({address}), NOMAD_CACERT, NOMAD_TLS_SERVER_NAME and NOMAD_CLIENT_CERT"
        elif not is_sent:
            advice = f"check NOMAD_ADDR ({address}) and whether an agent listens there"
            if self._settings.is_default:
                advice = "that is the default: NOMAD_ADDR is not set, and no --address is given"
        return errors.NomadApiError(
            call.method,
            call.path,
            f"{address}: {message}",
            kind=classify.unanswered(call).kind if is_sent else "retry",
            advice=advice,
            is_connected=is_sent,
            secrets=self._settings.secrets,
        )


def _headers(settings: connection.Connection) -> dict[str, str]:
    auth = settings.http_auth
    basic = urllib3.make_headers(basic_auth=auth if ":" in auth else f"{auth}:") if auth else {}
    token = {"X-Nomad-Token": settings.token} if settings.token else {}
    return {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "nomad-csi",
        **token,
        **basic,
    }


def _to_socket(path: str) -> type[connections.HTTPConnection]:
    """
    Return a connection to the socket at *path*, as a task connects to the agent of its client.

    Source: HashiCorp, https://developer.hashicorp.com/nomad/api-docs/task-api, 2026-08: ``NOMAD_SECRETS_DIR/api.sock``.
    """

    class ToSocket(connections.HTTPConnection):
        timeout: float

        def _new_conn(self) -> socket.socket:
            opened = socket.socket(socket.AF_UNIX)
            opened.settimeout(self.timeout)
            try:
                opened.connect(path)
            except OSError as error:
                opened.close()
                raise exceptions.NewConnectionError(self, str(error)) from error
            return opened

    return ToSocket


def _part(response: urllib3.BaseHTTPResponse, until: float) -> bytes:
    """Return the next bytes; empty at the end. Raises `TimeoutError` after *until*, a time of `time.monotonic`."""
    left_s = until - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    own = response.connection
    if isinstance(own, connections.HTTPConnection) and own.sock:
        own.sock.settimeout(left_s)
    return response.read1(_PART_BYTES)


def _innermost(error: BaseException) -> BaseException:
    """Return the innermost reason of *error*, without urllib3's wrapping."""
    while nested := error.__cause__ or next((part for part in error.args if isinstance(part, BaseException)), None):
        error = nested
    return error


def _cause(inner: BaseException) -> str:
    if isinstance(inner, ssl.SSLError):
        return str(inner).split("] ", 1)[-1].split(" (_ssl", 1)[0]
    return (inner.strerror or str(inner)) if isinstance(inner, OSError) else str(inner)
