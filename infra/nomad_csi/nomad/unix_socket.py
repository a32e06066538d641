"""
HTTP over a Unix socket: how a task reaches the agent of its own client.

Source: HashiCorp, https://developer.hashicorp.com/nomad/api-docs/task-api, 2026-08: ``NOMAD_SECRETS_DIR/api.sock``, the
whole HTTP API, always with a token.
"""

import socket

import urllib3

SCHEME = "unix://"

LIMIT_BYTES = 107
"""Longest path. Source: ``unix(7)``: 108 bytes with the end mark."""

HOST = "localhost"
"""What the header ``Host`` says; nobody looks at it."""


def path_of(address: str) -> str:
    """Return the path of the socket that *address* names; empty where it names none."""
    return address.removeprefix(SCHEME) if address.startswith(SCHEME) else ""


def connected(path: str, timeout_s: float | None) -> socket.socket:
    """Return a connection to the socket at *path*. Raises `OSError`."""
    made = socket.socket(socket.AF_UNIX)
    try:
        made.settimeout(timeout_s)
        made.connect(path)
    except BaseException:
        made.close()
        raise
    return made


def pool(path: str, size: int) -> urllib3.HTTPConnectionPool:
    """Return a pool of connections to the socket at *path*."""

    class Connection(urllib3.connection.HTTPConnection):
        def _new_conn(self) -> socket.socket:
            timeout_s = self.timeout if isinstance(self.timeout, int | float) else None
            try:
                return connected(path, timeout_s)
            except TimeoutError as error:
                raise urllib3.exceptions.ConnectTimeoutError(self, str(error)) from error
            except OSError as error:
                raise urllib3.exceptions.NewConnectionError(self, str(error)) from error

    class Pool(urllib3.HTTPConnectionPool):
        ConnectionCls = Connection

    return Pool(HOST, maxsize=size, retries=False)
