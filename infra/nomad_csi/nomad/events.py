"""
Nomad's event stream, as one boolean: something of the watched topics has changed.

It does not replace polling: changes of a plugin by job summaries are no events (measured on Nomad 2.0.6-dev, 2026-08).
"""

import threading
from collections.abc import Callable, Iterable
from typing import Self

from nomad_csi.nomad import request, transport

AGAIN_S = 15.0
"""Until a broken event stream is opened again: a leader is elected within seconds."""

HEARTBEAT = frozenset({b"", b"{}"})
"""Lines without events. Source: hashicorp/nomad, ``nomad/stream/ndjson.go``, 2026-08-21."""

_END_S = 0.5


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
        self._stream: transport.Stream | None = None
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

    def _run(self) -> None:
        path = request.path_of("event", "stream")
        while not self._closing.is_set():
            try:
                topics = [("topic", topic) for topic in self._topics()]
                self._stream = self._nomad.stream(path, [("namespace", "*"), *topics])
                if self._closing.is_set():
                    return
                for line in self._stream:
                    if line not in HEARTBEAT:
                        self._changed.set()
            except transport.NoStreamError as error:
                self._report(f"no event stream, so changes are seen at the next round only: {error}")
                return
            except transport.BrokenError:
                self._changed.set()  # events may have been missed; the next check reports what is wrong
            self._closing.wait(AGAIN_S)
