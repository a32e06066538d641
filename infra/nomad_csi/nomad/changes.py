"""
Waiting that ends when Nomad reports a change: by a blocking query of one object, or by the event stream of many.

Neither replaces looking: of a plugin, changes that come from job summaries wake no query (measured on Nomad 2.0.6-dev,
2026-08), so every wait here is short, and whoever waits looks again.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Self

from nomad_csi import errors
from nomad_csi.nomad.http import request, streaming

WAIT_S = 5.0
"""Longest blocking query: short, for what wakes none."""

PAUSE_S = 1.0
"""Between two checks least, where an answer tells of no change."""

_CANCEL_POLL_S = 0.1
_END_S = 0.5
_GRACE_S = 10.0
"""Beyond ``wait``, to which Nomad adds up to a sixteenth."""

AGAIN_S = 15.0
"""Until an event stream that broke is opened again: a leader is elected within seconds."""

HEARTBEAT = frozenset({b"", b"{}"})
"""Lines that tell of nothing. Source: hashicorp/nomad, ``nomad/stream/ndjson.go``, 2026-08-21."""


class Watched:
    """One object that is waited for."""

    def __init__(self, nomad: request.Nomad, namespace: str, path: str) -> None:
        self._nomad = nomad
        self._namespace = namespace
        self._path = path
        self._index = 1  # of 0, Nomad would answer at once, for ever

    def wait(self, timeout_s: float, cancelled: threading.Event) -> None:
        """
        Return when the object may have changed since the last call, after *timeout_s*, or when *cancelled* is set.

        The first call returns at once: what it learns is from when on changes count. Where Nomad does not answer, the
        time is waited all the same; the next look will say why.
        """
        ended = threading.Event()
        threading.Thread(target=self._ask, args=(timeout_s, ended), name="nomad-csi-watch", daemon=True).start()
        while not ended.wait(_CANCEL_POLL_S):
            if cancelled.is_set():
                return  # the query ends by its own deadline, and holds up nothing

    def _ask(self, timeout_s: float, ended: threading.Event) -> None:
        wait_s = min(timeout_s, WAIT_S)
        began = time.monotonic()
        query = {"index": str(self._index), "wait": f"{int(wait_s * 1000)}ms"}
        try:
            reply = self._nomad.request(
                "GET", self._path, query={"namespace": self._namespace, **query}, timeout_s=wait_s * 17 / 16 + _GRACE_S
            )
            is_news = reply.index > self._index
            self._index = max(self._index, reply.index)
        except errors.NomadApiError:
            is_news = False
        try:
            if not is_news:  # somebody in front of Nomad may answer at once
                time.sleep(max(0.0, min(wait_s, PAUSE_S) - (time.monotonic() - began)))
        finally:
            ended.set()


class Events:
    """
    Events of topics of the cluster's event stream, as one flag. Ends with `close`; also a context manager.

    Args:
        nomad: the cluster.
        topics: returns them, such as ``CSIPlugin:ebs`` or ``Node``; called in a thread, and may ask Nomad. Source:
            https://developer.hashicorp.com/nomad/api-docs/events, 2026-08; ``CSIPlugin`` and ``CSIVolume`` are there
            since Nomad 1.10.
        tell: told once why there is no stream, where a token may not have it or the servers do not know it.

    """

    def __init__(self, nomad: request.Nomad, topics: Callable[[], Iterable[str]], tell: Callable[[str], None]) -> None:
        self._nomad = nomad
        self._topics = topics
        self._tell = tell
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
        """Forget what was told so far: the look that follows sees it."""
        self._changed.clear()

    def wait(self, seconds: float) -> bool:
        """Return whether something changed since `clear`, as soon as it did, at the latest after *seconds*."""
        return self._changed.wait(seconds)

    def close(self) -> None:
        """End the stream. A question to Nomad that is under way ends by its own deadline, and is not waited for."""
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
                self._tell(f"no event stream, so changes are seen at the next round only: {error}")
                return
            except streaming.BrokenError:
                self._changed.set()  # something may have been missed; the next round says what is wrong
            self._closing.wait(AGAIN_S)
