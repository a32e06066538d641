"""An answer that does not end, line by line, such as Nomad's event stream."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator

from nomad_csi.nomad import pipeline

CONNECT_S = 10.0

FIRST_S = 5.0
"""Until the first line, which Nomad sends at once."""

SILENCE_S = 90.0
"""
Without a byte, after which the connection counts as dead. Nomad sends a line every 30 s at least.
Source: hashicorp/nomad, ``nomad/event_endpoint.go`` (``NewJsonStream``), 2026-08-21.
"""


class NoStreamError(pipeline.BrokenError):
    """Nomad answered, and there is no stream for who asked."""


class Stream:
    """One answer. Iterate over its lines in one thread; `close` it from any."""

    def __init__(self, line: pipeline.Line, target: str) -> None:
        self._line = line
        self._target = target
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        """
        Yield each line as it comes, without its end; no more after `close`.

        Raises `NoStreamError` where Nomad refuses, `pipeline.BrokenError` where there is no answer, or it ends.
        """
        try:
            with contextlib.closing(pipeline.connected(self._line, time.monotonic() + CONNECT_S)) as connection:
                yield from self._lines(connection)
        except pipeline.BrokenError:
            if not self._is_closed:
                raise
        except (OSError, ValueError, http.client.HTTPException) as error:
            if not self._is_closed:
                raise pipeline.BrokenError(str(error) or type(error).__name__) from error

    def close(self) -> None:
        """End it, also while a line is waited for."""
        with self._lock:
            self._is_closed = True
            if self._socket is not None:
                with contextlib.suppress(OSError):  # it may have ended by itself
                    self._socket.shutdown(socket.SHUT_RDWR)

    def _lines(self, connection: socket.socket) -> Iterator[bytes]:
        with self._lock:
            if self._is_closed:
                return
            self._socket = connection
        connection.settimeout(FIRST_S)
        connection.sendall(f"GET {self._target}{pipeline.tail(self._line)}".encode("ascii"))
        with contextlib.closing(http.client.HTTPResponse(connection, method="GET")) as answer:
            answer.begin()
            if answer.status != http.HTTPStatus.OK:
                said = answer.read(200).decode(errors="replace").strip()
                raise NoStreamError(f"status {answer.status}: {said}")
            line = _first(answer)
            connection.settimeout(SILENCE_S)
            while line:
                yield line.strip()
                line = answer.readline()
        raise pipeline.BrokenError("the stream ended")


def _first(answer: http.client.HTTPResponse) -> bytes:
    """Return the first line. Nomad 2.0.6-dev begins its answer before it looks at the token, and then says nothing."""
    with contextlib.suppress(TimeoutError):
        if line := answer.readline():
            return line
    raise NoStreamError("nothing came, as for a token that lacks a capability")
