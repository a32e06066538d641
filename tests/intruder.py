"""
Another user of the machine, who tries whatever speaks on a port of 127.0.0.1: a process that gives its rights away first.

``python -m tests.intruder UID`` prints ``ready``, then reads ports from standard input, one a line, perhaps before
anything listens there, and tries each again and again until the input ends. Then it prints as JSON, by port and way,
how many connections it had, and what it got.
"""

import contextlib
import encodings.idna  # noqa: F401  # before the rights are gone: Python's files may be for their owner alone
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor  # before the rights are gone, as above
from pathlib import Path

NOBODY = 65534
PROJECT = Path(__file__).parents[1]

TIMEOUT_S = 3.0
THREADS = 300
"""More than there are ways times ports."""

PAUSE_S, LATER_PAUSE_S = 0.005, 0.25
"""Between two tries of one way at one port: the first `FIRST`, and later ones, which leave the server time to work."""

FIRST = 20

OWN_TOKEN = "6e6f626f-6479-4000-8000-000000000000"

EC2 = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=sandbox/20261101/us-east-1/ec2/aws4_request, SignedHeaders=host, "
    "Signature=0",
    "Content-Type": "application/x-www-form-urlencoded",
}
JSON = {"Content-Type": "application/json", "X-Nomad-Token": ""}
REQUESTS = (
    ("POST", "/v1/acl/bootstrap", json.dumps({"BootstrapSecret": OWN_TOKEN}), JSON),
    ("GET", "/v1/agent/self", "", JSON),
    ("GET", "/v1/status/leader", "", {}),
    ("GET", "/v1/jobs", "", JSON | {"X-Nomad-Token": OWN_TOKEN}),
    ("POST", "/", "Action=DescribeVolumes&Version=2016-11-15", EC2),
    ("GET", "/moto-api/", "", {}),
    ("PUT", "/nomad-csi-sandbox/throttle", json.dumps({"service": "ec2", "share": 0.0, "seed": 1}), JSON),
)


def over_http(port):
    """Return the requests that a server answered with success; stop at what is no server of HTTP."""
    got = []
    for method, path, body, headers in REQUESTS:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as made:
            made.request(method, path, body, headers)
            reply = made.getresponse()
            reply.read()
            if reply.status < 300:
                got.append(f"{method} {path}")
    return got


WAYS = {"http": over_http}


def attack(port, way, ended, seen):
    """Try *way* at *port* until *ended*; *seen* takes the connections, and what was got."""
    while not ended.is_set():
        try:
            got = WAYS[way](port)
        except ConnectionRefusedError:  # nothing listens there yet, or any more
            time.sleep(PAUSE_S)
            continue
        except (OSError, http.client.HTTPException, ValueError):  # refused in the protocol's own way
            got = []
        seen["connections"] += 1
        seen["got"].update(got)
        time.sleep(PAUSE_S if seen["connections"] < FIRST else LATER_PAUSE_S)


def main(uid):
    if uid != os.getuid():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    ended, seen, tries = threading.Event(), defaultdict(lambda: {"connections": 0, "got": set()}), []
    with ThreadPoolExecutor(THREADS) as threads:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for line in sys.stdin:
            port = int(line)
            tries += [threads.submit(attack, port, way, ended, seen[f"{port} {way}"]) for way in WAYS]
        ended.set()
    for each in tries:
        each.result()  # a fault of this file is one of the test
    json.dump({key: value | {"got": sorted(value["got"])} for key, value in seen.items()}, sys.stdout)


class Intruder:
    """The process."""

    def __init__(self, uid):
        command = [sys.executable, "-m", "tests.intruder", str(uid)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, cwd=PROJECT, **pipes)
        assert self._process.stdout.readline() == "ready\n"
        self.ports = set()

    def attack(self, *ports):
        """Begin to try these ports, unless it has."""
        for port in sorted({*ports} - self.ports):
            self.ports.add(port)
            self._process.stdin.write(f"{port}\n")
            self._process.stdin.flush()

    def end(self):
        """Return ``{(port, way): (connections, what it got)}``."""
        text, _ = self._process.communicate(timeout=120)
        assert self._process.returncode == 0
        found = {(int(key.partition(" ")[0]), key.partition(" ")[2]): value for key, value in json.loads(text).items()}
        return {key: (value["connections"], value["got"]) for key, value in found.items()}


@contextlib.contextmanager
def running(uid=NOBODY):
    """Run an intruder as *uid*."""
    made = Intruder(uid)
    try:
        yield made
    finally:
        made._process.kill()
        made._process.wait()
        for pipe in (made._process.stdin, made._process.stdout):
            pipe.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
