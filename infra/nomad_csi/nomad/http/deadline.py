"""
Deadlines of calls, kept by their sockets whatever the peer sends.

The timeouts of sockets, and so those of HTTP libraries, begin again with each byte: a peer that sends one byte a second
never meets them. Here every operation of a socket gets the time that is left of the call, and none is begun after it.
"""

import contextlib
import contextvars
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Any

_DEADLINE: contextvars.ContextVar[float] = contextvars.ContextVar("_DEADLINE")


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let every operation on a `Socket` or `TlsSocket` in here end at *deadline*, a time of `time.monotonic`."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def left_s() -> float:
    """Return the seconds that are left. Raises `TimeoutError` where none are, `LookupError` outside of `until`."""
    left = _DEADLINE.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class Socket(socket.socket):
    """A socket that can only be used within `until`."""

    def connect(self, address: Any) -> None:
        """Connect in the time that is left."""
        self.settimeout(left_s())
        super().connect(address)

    def recv(self, *arguments: Any) -> bytes:
        """Receive in the time that is left."""
        self.settimeout(left_s())
        return super().recv(*arguments)

    def recv_into(self, *arguments: Any) -> int:
        """Receive in the time that is left."""
        self.settimeout(left_s())
        return super().recv_into(*arguments)

    def send(self, *arguments: Any) -> int:
        """Send in the time that is left."""
        self.settimeout(left_s())
        return super().send(*arguments)

    def sendall(self, *arguments: Any) -> None:
        """Send all of it in the time that is left."""
        self.settimeout(left_s())
        super().sendall(*arguments)


class TlsSocket(Socket, ssl.SSLSocket):
    """The same over TLS, where `ssl.SSLContext.sslsocket_class` names it."""

    def do_handshake(self, block: bool = False) -> None:  # the signature of ssl
        """Shake hands in the time that is left."""
        self.settimeout(left_s())
        super().do_handshake(block)


def connected(host: str, port: int) -> Socket:
    """
    Return a TCP connection to *host*. Raises `OSError`.

    Each of its addresses gets an equal share of the time that is left, so that one that does not answer leaves time for
    the next, as with Go's ``net.Dialer`` (``partialDeadline`` in ``net/dial.go``, Go 1.24).
    """
    failure = OSError("the host name has no address")
    addresses = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        made = Socket(family, kind, protocol)
        try:
            with until(time.monotonic() + left_s() / (len(addresses) - number)):
                made.connect(address)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            made.close()
            failure = error
        else:
            return made
    raise failure


# HTTP over a Unix socket: how a task reaches the agent of its own client.
#
# Source: HashiCorp, https://developer.hashicorp.com/nomad/api-docs/task-api, 2026-08: ``NOMAD_SECRETS_DIR/api.sock``,
# the whole HTTP API, always with a token.


HOST = "localhost"
"""What the header ``Host`` says; nobody checks it."""


def connected_unix(path: str) -> Socket:
    """Return a connection to the socket at *path*. Raises `OSError`."""
    made = Socket(socket.AF_UNIX)
    try:
        made.connect(path)
    except BaseException:
        made.close()
        raise
    return made
