"""
HTTP over a Unix socket: how a task reaches the agent of its own client.

Source: HashiCorp, https://developer.hashicorp.com/nomad/api-docs/task-api, 2026-08: ``NOMAD_SECRETS_DIR/api.sock``, the
whole HTTP API, always with a token.
"""

import socket

from nomad_csi.nomad.http import deadline

SCHEME = "unix://"

LIMIT_BYTES = 107
"""Longest path. Source: ``unix(7)``: 108 bytes with the end mark."""

HOST = "localhost"
"""What the header ``Host`` says; nobody checks it."""


def path_of(address: str) -> str:
    """Return the path of the socket that *address* names; empty where it names none."""
    return address.removeprefix(SCHEME) if address.startswith(SCHEME) else ""


def connected(path: str) -> deadline.Socket:
    """Return a connection to the socket at *path*. Raises `OSError`."""
    made = deadline.Socket(socket.AF_UNIX)
    try:
        made.connect(path)
    except BaseException:
        made.close()
        raise
    return made
