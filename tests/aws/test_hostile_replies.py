"""An end point that is not AWS: replies of other shapes, and bytes that come one at a time."""

import contextlib
import functools
import http.server
import json
import re
import threading
import time

import pytest

from nomad_csi import errors
from nomad_csi.aws import calls, deletion, file_systems
from tests.fuzz.aws_calls import CALLS

REGION = "us-east-1"
VOLUME = "vol-0123456789abcdef0"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
SAID = re.compile("did not answer as AWS does|could not be asked")
TEXTS = {
    "nothing": "",
    "HTML": f"<html><body>{SECRET}</body></html>",
    "a cut reply": f"<AssumeRoleResponse><Credentials><SecretAccessKey>{SECRET}",
    "text": SECRET,
    "an empty object": "{}",
    "a list": f'["{SECRET}"]',
    "null": "null",
    "a number": "17",
    "lists that are numbers": json.dumps(dict.fromkeys(("FileSystems", "AccessPoints", "KeyMetadata"), 5)),
    "lists of numbers": json.dumps({"FileSystems": [5], "AccessPoints": [SECRET], "KeyMetadata": [1]}),
    "objects without members": json.dumps({"FileSystems": [{}], "AccessPoints": [{}], "KeyMetadata": {}}),
}


@pytest.fixture
def aws(monkeypatch):
    """Return a function that answers all calls with a status and a text, in pieces; it returns the sent requests."""
    with contextlib.ExitStack() as stack:
        monkeypatch.setattr(calls, "_SESSIONS", {})
        monkeypatch.setattr(calls, "client", functools.cache(calls.client))  # to make one takes longer than to ask
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
        over = threading.Event()

        def start(status, text, *, piece=2**16, pause_s=0.0):
            sent = []

            class Handler(http.server.BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"

                def _answer(self):
                    sent.append(self.path)
                    self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    content = (text() if callable(text) else text).encode()
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    with contextlib.suppress(OSError):
                        for at in range(0, len(content), piece):
                            self.wfile.write(content[at : at + piece])
                            if over.wait(pause_s):
                                return

                do_GET = do_POST = do_DELETE = _answer  # noqa: N815  # http.server's names

                def log_message(self, *_):
                    """Stay silent."""

            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            stack.callback(over.set)
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
            return sent

        yield start


@pytest.mark.parametrize("text", TEXTS)
def test_reply_of_another_shape_is_an_error_that_says_so(aws, text):
    """Never a traceback, never "there is none", and no part of the reply is quoted."""
    aws(200, TEXTS[text])
    said = {}

    for name, call in CALLS.items():
        with pytest.raises(errors.AwsError) as caught:
            call()
        said[name] = str(caught.value)

    assert {name: words for name, words in said.items() if SECRET[:12] in words} == {}
    assert {name: words for name, words in said.items() if not SAID.search(words)} == {}


def test_pages_without_an_end_stop_at_the_deadline_of_the_task(aws, monkeypatch):
    """Each page comes at once, with a token for another one."""
    monkeypatch.setattr(calls, "TASK_S", 3.0)
    tokens = iter(range(10**9))
    sent = aws(200, lambda: json.dumps({"FileSystems": [], "NextMarker": str(next(tokens))}))
    calls.client("efs", REGION)  # which takes a while on a busy machine
    began = time.monotonic()

    with pytest.raises(errors.AwsError, match=r"DescribeFileSystems.*too long"):
        file_systems.read_file_systems(REGION)

    assert len(sent) > 1
    assert time.monotonic() - began < 60


def test_call_that_begins_at_the_deadline_is_named_as_well(aws):
    """The deadline passed between two pages, or before the first: nothing is sent."""
    sent = aws(200, json.dumps({"FileSystems": []}))

    efs = calls.client("efs", REGION)

    with calls.within(0.0), calls.within(60.0), pytest.raises(errors.AwsError, match=r"DescribeFileSystems.*too long"):
        efs.describe_file_systems()

    assert sent == []


def test_abandoned_deletion_is_not_sent_later(aws, monkeypatch):
    """A call that waits when its deadline passes sends nothing afterwards: the caller has observed the storage again."""
    sent = aws(200, "<DeleteVolumeResponse/>")
    calls.client("ec2", REGION)  # which takes a while on a busy machine
    monkeypatch.setattr(calls, "TASK_S", 1.5)
    ended = threading.Event()

    def wait():
        time.sleep(2.0)
        ended.set()

    with pytest.raises(errors.AwsError, match=r"DeleteVolume.*too long"):
        deletion.delete(VOLUME, REGION, last_look=wait)
    ended.wait(10)
    time.sleep(0.3)

    assert sent == []
