"""A streaming response, line by line, such as Nomad's event stream."""

import contextlib
import http
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import urllib3

from nomad_csi.nomad import permissions
from nomad_csi.text import foreign, redaction

SEND: Mapping[str, Any] = {
    "retries": False,
    "redirect": False,
    "assert_same_host": False,
    "preload_content": False,
    "decode_content": False,
}
"""Options of `urllib3` for every request: sent once, and read as it arrives."""

OPEN_S = 10.0
"""Timeout for the connection."""

SILENCE_S = 45.0
"""
Idle timeout, after which the connection counts as dead. Nomad sends a line at once, and then at least every 30 s.
Source: hashicorp/nomad, ``nomad/event_endpoint.go`` (``NewJsonStream``), 2026-08-21.
"""

MAX_LINE_BYTES = 2**24
"""Maximum length of a line. An event contains one object, such as a job with its templates."""

_PART_BYTES = 2**16
_SHOWN = 200


class BrokenError(Exception):
    """The connection ended, or the response is no stream of lines."""


class NoStreamError(BrokenError):
    """Nomad refused the stream."""


class Stream:
    """One streaming response. Iterate over its lines in one thread; `close` it from any."""

    def __init__(
        self,
        open_pool: Callable[[], urllib3.HTTPConnectionPool],
        headers: Mapping[str, str],
        target: str,
        *,
        secrets: Iterable[str] = (),
    ) -> None:
        self._secrets = tuple(secrets)
        self._open_pool = open_pool
        self._headers = headers
        self._target = target
        self._lock = threading.Lock()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        """
        Yield each line as it arrives, without its line end; stop after `close`.

        Raises `NoStreamError` if Nomad refuses, `BrokenError` if there is no response, or it ends.
        """
        timeout = urllib3.Timeout(connect=OPEN_S, read=SILENCE_S)
        try:
            with (
                contextlib.closing(self._open_pool()) as pool,
                contextlib.closing(
                    pool.urlopen("GET", self._target, headers=self._headers, timeout=timeout, **SEND)
                ) as response,
            ):
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
        rest = self._first(response)
        while True:
            *lines, rest = rest.split(b"\n")
            yield from (line.strip() for line in lines)
            if len(rest) > MAX_LINE_BYTES:
                raise BrokenError(f"a line is longer than {MAX_LINE_BYTES} bytes")
            part = response.read1(_PART_BYTES)
            if not part:
                raise BrokenError("the stream ended")
            rest += part

    def _first(self, response: urllib3.BaseHTTPResponse) -> bytes:
        """Return the first bytes. Nomad 2.0.6-dev sends headers before it checks the token, and then stays silent."""
        part = b""
        with contextlib.suppress(urllib3.exceptions.ReadTimeoutError):
            part = response.read1(_PART_BYTES)
        if response.status != http.HTTPStatus.OK:
            reply = self._shown(part.decode(errors="replace"))
            raise NoStreamError(f"status {response.status}: {reply}; {permissions.watch_permissions()}")
        if not part:
            raise NoStreamError(
                f"nothing came, as for a token that lacks a capability; {permissions.watch_permissions()}"
            )
        return part
