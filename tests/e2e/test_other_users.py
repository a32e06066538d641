"""Another user of the machine, who tries each port of a sandbox of emulators."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nomad_csi_sandbox.session import folder, processes

NOBODY = 65534
LISTENING = "0A"
"""Source: Linux, ``include/net/tcp_states.h``; proc_net_tcp.rst."""

EC2 = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=sandbox/20261101/us-east-1/ec2/aws4_request, SignedHeaders=host, "
    "Signature=0",
    "Content-Type": "application/x-www-form-urlencoded",
}
REQUESTS = (
    ("POST", "/v1/acl/bootstrap", '{"BootstrapSecret": "6e6f626f-6479-4000-8000-000000000000"}', {}),
    ("GET", "/v1/status/leader", "", {}),
    ("POST", "/", "Action=DescribeVolumes&Version=2016-11-15", EC2),
    ("GET", "/moto-api/", "", {}),
    ("PUT", "/nomad-csi-sandbox/throttle", '{"service": "ec2", "share": 0.0, "seed": 1}', {}),
)
INTRUDER = """
import encodings.idna, http.client, json, os, sys
uid, ports, requests = json.loads(sys.argv[1])
if uid != os.getuid():
    os.setgroups([]), os.setresgid(uid, uid, uid), os.setresuid(uid, uid, uid)
got = []
for port in ports:
    for method, path, body, headers in requests:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3)
            connection.request(method, path, body, {"Content-Type": "application/json", "X-Nomad-Token": ""} | headers)
            if connection.getresponse().status < 300:
                got.append([port, f"{method} {path}"])
        except (OSError, http.client.HTTPException):
            pass
print(json.dumps(got))
"""
"""Prints what was answered with success. It gives its rights up behind the imports, which its user may not read."""


def listening(place):
    """Return the ports of the sandbox's processes, with the command line of each."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {f"socket:[{row[9]}]": int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
    found = {}
    for pid in processes._marked(processes.MARK, str(place.project)):
        links = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
        words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        found |= {ports[link]: words for link in links & ports.keys()}
    return found


def got(uid, ports):
    """Return port and request of what is answered to the user *uid*."""
    command = [sys.executable, "-c", INTRUDER, json.dumps([uid, ports, REQUESTS])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_other_users_get_nothing(sandbox):
    """Neither of AWS nor of Nomad; its own user gets what was tried."""
    sandbox.up(check=True)
    found = listening(folder.Folder(sandbox.project))
    ports = sorted(found)

    assert got(NOBODY, ports) == []
    names = ("nomad_csi_sandbox.aws.moto", "nomad_csi_sandbox.nomad")
    served = {(name, what) for port, what in got(os.getuid(), ports) for name in names if name in found[port]}
    assert served == {
        ("nomad_csi_sandbox.aws.moto", "GET /moto-api/"),
        ("nomad_csi_sandbox.aws.moto", "POST /"),
        ("nomad_csi_sandbox.aws.moto", "PUT /nomad-csi-sandbox/throttle"),
        ("nomad_csi_sandbox.nomad", "GET /v1/status/leader"),
    }
