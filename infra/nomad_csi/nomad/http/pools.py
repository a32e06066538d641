"""
Connections to one Nomad address: TCP, TLS, a Unix socket, or through a proxy.

They are urllib3's, with two differences: their sockets keep the deadline of the call (`deadline`), and a response with
an invalid length is refused.
"""

import functools
import http.client
import re
import socket
import ssl
from collections.abc import Callable
from typing import Any
from urllib import parse

import urllib3
from urllib3 import connection as connections

from nomad_csi.nomad.http import connection, deadline

_LENGTH = re.compile(r"[0-9]+")
"""``Content-Length`` (RFC 9110, section 8.6)."""


class Response(http.client.HTTPResponse):
    """A response with checked lengths. `http.client` treats a negative length as "until the end"."""

    def begin(self) -> None:
        """Read status and headers. Raises `http.client.HTTPException` for a ``Content-Length`` that is no number."""
        super().begin()
        length = self.headers.get("Content-Length")
        if length is not None and not _LENGTH.fullmatch(length.strip()):
            raise http.client.HTTPException(f"expected a number as Content-Length, got {length[:20]!r}")

    def _read_next_chunk_size(self) -> int:
        size = int(super()._read_next_chunk_size())  # type: ignore[misc]  # typeshed leaves it out
        if size < 0:
            raise ValueError(f"expected a chunk of a positive size, got {size}")
        return size


def foreign_coding(response: urllib3.BaseHTTPResponse) -> str:
    """Return the start of a ``Content-Encoding``, which no request asks for; empty: none."""
    coding = response.headers.get("Content-Encoding", "")
    return "" if coding.strip().lower() == "identity" else coding[:20]


class _Http(connections.HTTPConnection):
    response_class = Response

    def _new_conn(self) -> socket.socket:
        return _opened(self, lambda: deadline.connected(self._dns_host, self.port or 80))


class _Https(connections.HTTPSConnection):
    response_class = Response

    def _new_conn(self) -> socket.socket:
        return _opened(self, lambda: deadline.connected(self._dns_host, self.port or 443))


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https


def opener(
    settings: connection.Connection, context: ssl.SSLContext | None, size: int
) -> Callable[[], urllib3.HTTPConnectionPool]:
    """Return an opener of a pool of *size* connections to the address of *settings*, over TLS with *context*."""
    if context is not None:
        context.sslsocket_class = deadline.TlsSocket
    return functools.partial(_pool, settings, context, size)


def _pool(settings: connection.Connection, context: ssl.SSLContext | None, size: int) -> urllib3.HTTPConnectionPool:
    if path := connection.socket_path(settings.address):
        return _unix_pool(path, size)
    words: dict[str, Any] = {"maxsize": size, "retries": False}
    if context is not None:
        words |= {"ssl_context": context, "server_hostname": settings.tls_server_name or None}
    manager = _through(settings.proxy, words) if settings.proxy else urllib3.PoolManager(**words)
    manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return manager.connection_from_url(settings.address)


def _unix_pool(path: str, size: int) -> urllib3.HTTPConnectionPool:
    class UnixConnection(_Http):
        def _new_conn(self) -> socket.socket:
            return _opened(self, lambda: deadline.connected_unix(path))

    class Pool(urllib3.HTTPConnectionPool):
        ConnectionCls = UnixConnection

    return Pool(deadline.HOST, maxsize=size, retries=False)


def _through(proxy: str, words: dict[str, Any]) -> urllib3.ProxyManager:
    """Return the pool manager for *proxy*; user and password, if any, are sent in the proxy's own header."""
    parts = urllib3.util.parse_url(proxy)
    headers = urllib3.make_headers(proxy_basic_auth=parse.unquote(parts.auth)) if parts.auth else None
    context = None
    if parts.scheme == "https":
        context = ssl.create_default_context()
        context.sslsocket_class = deadline.TlsSocket
    return urllib3.ProxyManager(
        parts._replace(auth=None).url, proxy_headers=headers, proxy_ssl_context=context, **words
    )


def _opened(made: connections.HTTPConnection, connect: Callable[[], socket.socket]) -> socket.socket:
    """Return the result of *connect*; its errors are raised as urllib3's."""
    try:
        made.host.encode("idna")
        return connect()
    except UnicodeError as error:
        raise urllib3.exceptions.LocationParseError(f"{made.host!r}, label empty or too long") from error
    except socket.gaierror as error:
        raise urllib3.exceptions.NameResolutionError(made.host, made, error) from error
    except TimeoutError as error:
        raise urllib3.exceptions.ConnectTimeoutError(made, str(error)) from error
    except OSError as error:
        raise urllib3.exceptions.NewConnectionError(made, str(error)) from error
