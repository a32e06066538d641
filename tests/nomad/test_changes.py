"""The event stream: lines, and its ends."""

import pytest
import urllib3

from nomad_csi.nomad import events, transport


def test_event_stream_that_breaks_is_a_change(agent, client, monkeypatch):
    """What happened until the next one is open was not told: the caller looks again at once."""
    monkeypatch.setattr(events, "AGAIN_S", 60.0)
    agent.answer("GET", "/v1/event/stream", "{}\n")  # a heartbeat, and the end

    with events.Events(client, lambda: ["CSIPlugin:ebs"], pytest.fail) as stream:
        assert stream.wait(10)

    [asked] = agent.asked
    assert (asked.path, asked.query["topic"]) == ("/v1/event/stream", "CSIPlugin:ebs")


class Streaming:
    """A connection, and a response that sends *parts*; an error among them is raised."""

    def __init__(self, *parts, status=200):
        self.status, self.ended, self.timeouts = status, [], []
        self.connection = urllib3.connection.HTTPConnection("127.0.0.1")
        self.connection.sock = self
        self._parts = list(parts)

    def settimeout(self, seconds):
        self.timeouts.append(seconds)

    def read1(self, _):
        part = self._parts.pop(0) if self._parts and not self.ended else b""
        if isinstance(part, Exception):
            raise part
        return part

    def shutdown(self):
        self.ended.append("shut down")

    def close(self):
        self.ended.append("closed")


REFUSED, BROKEN = transport.NoStreamError, transport.BrokenError
STREAMS = {
    "ends": ([b"a\nb", b"c\n"], {}, ["a", "bc"], (BROKEN, "the stream ended")),
    "breaks": ([b"a\n", OSError("reset canary-3")], {}, ["a"], (BROKEN, r"reset \[secret\]")),
    "breaks without a reason": ([b"a\n", OSError()], {}, ["a"], (BROKEN, "OSError")),
    "too long": ([b"a\n" + b"x" * (transport.MAX_LINE_BYTES + 1)], {}, ["a"], (BROKEN, "longer than")),
    "refused": ([b"no canary-3"], {"status": 403}, [], (REFUSED, r"status 403: no \[secret\]; ")),
    "nothing": ([], {}, [], (REFUSED, "nothing came")),
    "silent": ([urllib3.exceptions.ReadTimeoutError(None, "", "")], {}, [], (REFUSED, "nothing came")),
}


@pytest.mark.parametrize("closed", ["never", "before", "at its first line"])
@pytest.mark.parametrize(("parts", "more", "lines", "error"), STREAMS.values(), ids=STREAMS)
def test_stream_ends_with_an_error_unless_it_is_closed(parts, more, lines, error, closed):
    """Closed before it is opened, it has no lines; closed later, it has no more."""
    sent = Streaming(*parts, **more)
    stream = transport.Stream(lambda: sent, ["canary-3"])
    found = []

    def read():
        for line in stream:
            found.append(line.decode())
            if closed == "at its first line":
                stream.close()
                assert sent.ended == ["shut down"]

    if closed == "before":
        stream.close()
    if closed == "never" or (closed == "at its first line" and not lines):
        with pytest.raises(error[0], match=error[1]):
            read()
    else:
        read()
    assert found == {"never": lines, "before": [], "at its first line": lines[:1]}[closed]
    assert sent.ended[-1] == "closed"
    waits = [transport.FIRST_S, transport.SILENCE_S] if lines else [transport.FIRST_S]
    assert sent.timeouts == ([] if closed == "before" else waits)
