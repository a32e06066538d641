"""A sandbox of emulators, while another user of the machine tries every port of it from the moment that it is open."""

import os
import threading
import time
from pathlib import Path

import pytest

from nomad_csi_sandbox.session import folder, processes
from tests import intruder

LISTENING = "0A"
"""Source: Linux, ``include/net/tcp_states.h``; proc_net_tcp.rst."""

AFTER_S = 2.0
"""How long it is tried on when the sandbox is up."""

SERVERS = {
    "nomad_csi_sandbox.aws.moto": {"http"},
    "nomad_csi_sandbox.nomad": {"http"},
}
"""Servers of HTTP in the sandbox, by a word of their command line, and the ways that they understand."""


def listening(place):
    """Return the ports of the sandbox's processes, and of all that they started, with the command lines."""
    tables = [Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    ports = {f"socket:[{row[9]}]": int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
    found = {}
    for pid in processes._marked(processes.MARK, str(place.project)):
        try:
            links = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):  # it has ended, or closed a file, in between
            continue
        found |= {ports[link]: words for link in links & ports.keys()}
    return found


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_other_users_get_nothing(sandbox):
    """Neither of AWS nor of Nomad; its own user gets what was tried."""
    place, ended, seen = folder.Folder(sandbox.project), threading.Event(), {}
    with intruder.running() as other, intruder.running(os.getuid()) as owner:

        def watch():
            while not ended.is_set():
                found = listening(place)
                seen.update(found)
                other.attack(*found)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            sandbox.up(check=True)
            time.sleep(AFTER_S)
        finally:
            ended.set()
            watcher.join()
        got = other.end()
        owner.attack(*listening(place))
        time.sleep(AFTER_S)
        served = owner.end()

    names = {port: name for port, words in seen.items() for name in SERVERS if name in " ".join(words)}
    assert set(names.values()) == SERVERS.keys()
    assert {key: what for key, (_, what) in got.items() if what} == {}
    for port, name in names.items():
        assert all(got[port, way][0] > 0 for way in SERVERS[name]), (name, got)
    assert {(names[port], way): what for (port, way), (_, what) in served.items() if what} == {
        ("nomad_csi_sandbox.aws.moto", "http"): ["GET /moto-api/", "POST /", "PUT /nomad-csi-sandbox/throttle"],
        ("nomad_csi_sandbox.nomad", "http"): ["GET /v1/status/leader"],
    }
