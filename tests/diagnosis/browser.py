"""
Chromium without a window, asked over a pipe: the DevTools protocol, as JSON that ends in NUL.

Source: Chromium, ``content/browser/devtools/devtools_pipe_handler.cc``: it reads descriptor 3 and writes descriptor 4.
"""

import base64
import json
import os
import select
import subprocess
import tempfile
import time

WAIT_S = 120.0
END_S = 10.0


class Browser:
    """One page in one browser; a context. Everything that the page logs or asks for is kept."""

    def __init__(self, command):
        self._command = command
        self._number = 0
        self._buffer = b""
        self._session = None
        self.events = []

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        (its_in, self._out), (self._in, its_out) = os.pipe(), os.pipe()
        # The numbers 3 and 4 may be taken by what this process has open, so the shell puts the pipes there.
        moved = f'exec "$@" 3<&{its_in} 4>&{its_out}'
        words = [*self._command, f"--user-data-dir={self._folder.name}", "--remote-debugging-pipe", "about:blank"]
        # Besides its profile it writes below HOME, or where XDG_CONFIG_HOME and its like say.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        self._process = subprocess.Popen(
            ["bash", "-c", moved, "bash", *words],
            env=environment | {"HOME": self._folder.name, "TMPDIR": self._folder.name},
            pass_fds=(its_in, its_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(its_in)
        os.close(its_out)
        [target] = [item for item in self.ask("Target.getTargets")["targetInfos"] if item["type"] == "page"]
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self._out)
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(END_S)
        os.close(self._in)
        self._folder.cleanup()

    def ask(self, method, **parameters):
        """Return the result of a call. Fails where the browser refuses, or does not answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        os.write(
            self._out, json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        number = self._number
        reply = self._until(lambda found: found.get("id") == number)
        assert "error" not in reply, f"{method}: {reply['error']}"
        return reply["result"]

    def open(self, path):
        """Show the file at *path*; forget what was seen before."""
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        if not self._seen("Page.loadEventFired"):
            self._until(lambda found: found.get("method") == "Page.loadEventFired")

    def value(self, expression):
        """Return the value of a JavaScript *expression*; the debugger's, which the page's policy does not forbid."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def resize(self, width, height=800):
        """Make the window so large, in CSS pixels."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        """Prefer ``light`` or ``dark``."""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self):
        """Return the picture, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def complaints(self):
        """Return what stands in the console."""
        logged = [item["params"]["entry"]["text"] for item in self._seen("Log.entryAdded")]
        thrown = [item["params"]["exceptionDetails"]["text"] for item in self._seen("Runtime.exceptionThrown")]
        return [*logged, *thrown, *self._seen("Runtime.consoleAPICalled")]

    def _seen(self, method):
        return [item for item in self.events if item.get("method") == method]

    def _until(self, is_wanted):
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            while b"\0" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\0")
                found = json.loads(line)
                self.events.append(found)
                if is_wanted(found):
                    return found
            ready, _, _ = select.select([self._in], [], [], 1.0)
            if ready:
                chunk = os.read(self._in, 1 << 20)
                assert chunk, "the browser ended"
                self._buffer += chunk
        raise AssertionError(f"no answer of the browser within {WAIT_S:g} s")
