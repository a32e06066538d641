"""
A fake for OpenSSH's client, as far as forwarding of sockets goes: `-L near:far`, both on this machine.

Source of its words: OpenSSH 9.2, tried with a server on 127.0.0.1, 2026-11.
"""

import os
import socket
import sys
import threading
from pathlib import Path


def _say(text):
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _copy(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def _serve(near, far):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{near}.new")
        server.listen()
        Path(f"{near}.new").rename(near)  # who sees it may connect
        while True:
            client, _ = server.accept()
            upstream = socket.socket(socket.AF_UNIX)
            try:
                upstream.connect(far)
            except OSError:
                _say("channel 2: open failed: connect failed: open failed")
                client.close()
                continue
            for pair in ((client, upstream), (upstream, client)):
                threading.Thread(target=_copy, args=pair, daemon=True).start()


def main():
    words = sys.argv[1:]
    with Path(os.environ["SSH_FAKE_LOG"]).open("a", encoding="utf-8") as log:
        log.write(f"{os.getpid()} {' '.join(words)}\n")
    host = words[words.index("--") + 1]
    if host.startswith("no-such-host"):
        _say(f"ssh: Could not resolve hostname {host}: Name or service not known")
        sys.exit(255)
    near, _, far = words[words.index("-L") + 1].partition(":")
    _serve(near, far)


main()
