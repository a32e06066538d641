"""
Wait for changes in Nomad: by a blocking query of one object, or by the event stream for many.

Neither replaces polling: changes of a plugin by job summaries end no blocking query (measured on Nomad 2.0.6-dev,
2026-08), so every wait here is short, and the caller checks again.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Self

from nomad_csi import errors
from nomad_csi.nomad.http import request, streaming

WAIT_S = 5.0
"""Timeout of a blocking query: short, for changes that do not end it."""

PAUSE_S = 1.0
"""Minimum pause between two checks, if a reply shows no change."""

_CANCEL_POLL_S = 0.1
_END_S = 0.5
_GRACE_S = 10.0
"""Extra time beyond ``wait``, to which Nomad adds up to a sixteenth."""

AGAIN_S = 15.0
"""Until a broken event stream is opened again: a leader is elected within seconds."""

HEARTBEAT = frozenset({b"", b"{}"})
"""Lines without events. Source: hashicorp/nomad, ``nomad/stream/ndjson.go``, 2026-08-21."""


class Watched:
    """One object whose changes are waited for."""

    def __init__(self, nomad: request.Nomad, namespace: str, path: str) -> None:
        self._nomad = nomad
        self._namespace = namespace
        self._path = path
        self._index = 1  # with 0, Nomad would always return at once
        self._is_changed = False

    def wait(self, timeout_s: float, cancelled: threading.Event) -> None:
        """
        Return when the object may have changed since the last call, after *timeout_s*, or when *cancelled* is set.

        The first call returns at once: it records the current index. If Nomad does not respond, it waits for the full
        time; the next check reports why.
        """
        clock, wait_s, ended = self._nomad.clock, min(timeout_s, WAIT_S), threading.Event()
        began, self._is_changed = clock.now(), False
        threading.Thread(target=self._ask, args=(wait_s, ended), name="nomad-csi-watch", daemon=True).start()
        while not ended.wait(_CANCEL_POLL_S):
            if cancelled.is_set():
                return  # the query ends by its own deadline, and blocks nothing
        if not self._is_changed:  # a proxy in front of Nomad may return at once
            clock.wait(cancelled, max(0.0, min(wait_s, PAUSE_S) - (clock.now() - began)))

    def _ask(self, wait_s: float, ended: threading.Event) -> None:
        query = {"index": str(self._index), "wait": f"{int(wait_s * 1000)}ms"}
        try:
            reply = self._nomad.request(
                "GET", self._path, query={"namespace": self._namespace, **query}, timeout_s=wait_s * 17 / 16 + _GRACE_S
            )
            self._is_changed = reply.index > self._index
            self._index = max(self._index, reply.index)
        except errors.NomadApiError:
            self._is_changed = False  # the next check of the caller reports the error
        finally:
            ended.set()


class Events:
    """
    Events of topics of the cluster's event stream, as one boolean. Ends with `close`; also a context manager.

    Args:
        nomad: the cluster.
        topics: returns them, such as ``CSIPlugin:ebs`` or ``Node``; called in a thread, and may call Nomad. Source:
            https://developer.hashicorp.com/nomad/api-docs/events, 2026-08; ``CSIPlugin`` and ``CSIVolume`` exist
            since Nomad 1.10.
        report: logs once why there is no stream, if the token may not have it or the servers do not support it.

    """

    def __init__(
        self, nomad: request.Nomad, topics: Callable[[], Iterable[str]], report: Callable[[str], None]
    ) -> None:
        self._nomad = nomad
        self._topics = topics
        self._report = report
        self._changed = threading.Event()
        self._closing = threading.Event()
        self._stream: streaming.Stream | None = None
        self._thread = threading.Thread(target=self._run, name="nomad-csi-events", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def clear(self) -> None:
        """Reset the events so far: the following check observes their changes."""
        self._changed.clear()

    def wait(self, seconds: float) -> bool:
        """Wait for a change since `clear`, for at most *seconds*; return whether there was one."""
        return self._changed.wait(seconds)

    def close(self) -> None:
        """End the stream. A running request to Nomad ends by its own deadline, and is not waited for."""
        self._closing.set()
        if (stream := self._stream) is not None:
            stream.close()
        self._thread.join(_END_S)

    def _open(self) -> streaming.Stream:
        return self._nomad.stream(
            request.path_of("event", "stream"), [("namespace", "*"), *(("topic", topic) for topic in self._topics())]
        )

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._stream = self._open()
                if self._closing.is_set():
                    return
                for line in self._stream:
                    if line not in HEARTBEAT:
                        self._changed.set()
            except streaming.NoStreamError as error:
                self._report(f"no event stream, so changes are seen at the next round only: {error}")
                return
            except streaming.BrokenError:
                self._changed.set()  # events may have been missed; the next check reports what is wrong
            self._closing.wait(AGAIN_S)
