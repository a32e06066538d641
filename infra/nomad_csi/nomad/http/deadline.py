"""
Deadlines of calls, enforced by their sockets.

The timeouts of sockets, and so of HTTP libraries, restart with each byte: a peer that sends one byte a second
never exceeds them. Here every operation of a socket gets the call's remaining time, and none begins after it.
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
    """End every operation on a `Socket` or `TlsSocket` in the block at *deadline*, a time of `time.monotonic`."""
    token = _DEADLINE.set(deadline)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def left_s() -> float:
    """Return the remaining seconds. Raises `TimeoutError` if there are none, `LookupError` outside of `until`."""
    left = _DEADLINE.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class Socket(socket.socket):
    """A socket that can only be used within `until`."""

    def connect(self, address: Any) -> None:
        """Connect within the remaining time."""
        self.settimeout(left_s())
        super().connect(address)

    def recv(self, *arguments: Any) -> bytes:
        """Receive within the remaining time."""
        self.settimeout(left_s())
        return super().recv(*arguments)

    def recv_into(self, *arguments: Any) -> int:
        """Receive within the remaining time."""
        self.settimeout(left_s())
        return super().recv_into(*arguments)

    def send(self, *arguments: Any) -> int:
        """Send within the remaining time."""
        self.settimeout(left_s())
        return super().send(*arguments)

    def sendall(self, *arguments: Any) -> None:
        """Send all of it within the remaining time."""
        self.settimeout(left_s())
        super().sendall(*arguments)


class TlsSocket(Socket, ssl.SSLSocket):
    """The same over TLS, if set as `ssl.SSLContext.sslsocket_class`."""

    def do_handshake(self, block: bool = False) -> None:  # the signature of ssl
        """Do the TLS handshake within the remaining time."""
        self.settimeout(left_s())
        super().do_handshake(block)


def connected(host: str, port: int) -> Socket:
    """
    Return a TCP connection to *host*. Raises `OSError`.

    Each of its addresses gets an equal share of the remaining time, so that an unresponsive one leaves time for
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


# HTTP over a Unix socket: a task's connection to the agent of its client.
#
# Source: HashiCorp, https://developer.hashicorp.com/nomad/api-docs/task-api, 2026-08: ``NOMAD_SECRETS_DIR/api.sock``,
# the whole HTTP API, always with a token.


HOST = "localhost"
"""Value of the header ``Host``; it is not checked."""


def connected_unix(path: str) -> Socket:
    """Return a connection to the socket at *path*. Raises `OSError`."""
    made = Socket(socket.AF_UNIX)
    try:
        made.connect(path)
    except BaseException:
        made.close()
        raise
    return made
