"""
Many reads over one connection: the next requests are sent before the answers of the last have come.

One call after the other costs a round trip and ten times the processor time each; ten thousand volumes are compared in
seconds this way. For reads only: what was not answered is asked again. HTTP/1.1 allows it, and answers come in the
order of the requests (RFC 9112, section 9.3.2). Nomad's agent does it; where something in front of it does not, the
caller asks one by one.
"""

import contextlib
import io
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib import parse

from nomad_csi.nomad import unix_socket

WINDOW = 64
"""Requests that are sent together. Two windows are under way, about 30 KB: less than what sockets hold."""

_LINE_BYTES = 2**16


class BrokenError(Exception):
    """The connection ended, or what came is no answer. Whatever was not answered can be asked again."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One answer."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""

    content: bytes


@dataclass(frozen=True, kw_only=True)
class Line:
    """Where requests go and what each says."""

    address: str
    headers: Mapping[str, str]
    context: ssl.SSLContext | None
    server_name: str
    max_bytes: int
    """Longest content of an answer that is read."""


def answers(line: Line, targets: Sequence[str], deadline: float) -> Iterator[Part]:
    """
    Yield the answer to a GET of each of *targets* (path and query), in their order.

    *deadline* is a time of `time.monotonic`. Raises `BrokenError` where no more answers come.
    """
    try:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(connected(line, deadline))
            reader = stack.enter_context(connection.makefile("rb"))
            yield from _exchange(line, connection, reader, targets, deadline)
    except (OSError, ValueError) as error:
        raise BrokenError(str(error)) from error


def connected(line: Line, deadline: float) -> socket.socket:
    """Return a connection of its own; *deadline* is a time of `time.monotonic`. Raises `OSError`, `BrokenError`."""
    if path := unix_socket.path_of(line.address):
        return unix_socket.connected(path, _left(deadline))
    parts = parse.urlsplit(line.address)
    place = (parts.hostname or "", parts.port or (443 if line.context else 80))
    plain = socket.create_connection(place, timeout=_left(deadline))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if line.context is None:
        return plain
    try:
        return line.context.wrap_socket(plain, server_hostname=line.server_name or place[0])
    except BaseException:
        plain.close()
        raise


def tail(line: Line) -> str:
    """Return what follows the target of a GET."""
    head = "".join(f"{name}: {value}\r\n" for name, value in line.headers.items())
    host = parse.urlsplit(line.address).netloc or unix_socket.HOST
    return f" HTTP/1.1\r\nHost: {host}\r\n{head}\r\n"


def _exchange(
    line: Line, connection: socket.socket, reader: io.BufferedReader, targets: Sequence[str], deadline: float
) -> Iterator[Part]:
    rest = tail(line)
    sent = 0
    for position in range(len(targets)):
        while sent < min(position + 2 * WINDOW, len(targets)) and position % WINDOW == 0:
            window = targets[sent : sent + WINDOW]
            connection.settimeout(_left(deadline))
            connection.sendall("".join(f"GET {target}{rest}" for target in window).encode("ascii"))
            sent += len(window)
        connection.settimeout(_left(deadline))
        part = _part(reader, line.max_bytes)
        yield part
        if part.headers.get("connection", "").lower() == "close" and position + 1 < len(targets):
            raise BrokenError("the connection was closed")


def _part(reader: io.BufferedReader, max_bytes: int) -> Part:
    first = reader.readline(_LINE_BYTES).split(None, 2)
    if len(first) < 2 or not first[0].startswith(b"HTTP/1.1"):  # noqa: PLR2004  # version and status
        raise BrokenError("no answer of HTTP/1.1 came")
    headers = dict(_headers(reader))
    if headers.get("transfer-encoding", "").lower() == "chunked":
        content = b"".join(_chunks(reader, max_bytes))
    elif "content-length" in headers:
        content = _exactly(reader, int(headers["content-length"]), max_bytes)
    else:
        raise BrokenError("an answer has no length")
    return Part(status=int(first[1]), headers=headers, content=content)


def _headers(reader: io.BufferedReader) -> Iterator[tuple[str, str]]:
    while (line := reader.readline(_LINE_BYTES)) not in {b"\r\n", b"\n"}:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon:
            raise BrokenError("the answer ended in its headers")
        yield name.strip().lower(), value.strip()


def _chunks(reader: io.BufferedReader, max_bytes: int) -> Iterator[bytes]:
    left = max_bytes
    while size := int(reader.readline(_LINE_BYTES).partition(b";")[0], 16):
        yield _exactly(reader, size, left)
        reader.readline(_LINE_BYTES)
        left -= size
    while reader.readline(_LINE_BYTES) not in {b"\r\n", b"\n", b""}:
        pass


def _exactly(reader: io.BufferedReader, size: int, max_bytes: int) -> bytes:
    if size > max_bytes:
        raise BrokenError(f"an answer is longer than {max_bytes} bytes")
    content = reader.read(size)
    if len(content) != size:
        raise BrokenError("the answer ended in its content")
    return content


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise BrokenError("the deadline has passed")
    return left
