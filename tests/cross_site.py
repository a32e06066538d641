"""The request that a web page can send to a server of this machine without being asked: what must not run a job."""

import http.client
import json

from tests import deadlines

HEADERS = {
    "Host": "evil.example.com",
    "Origin": "https://evil.example.com",
    "Content-Type": "text/plain;charset=UTF-8",
    "Sec-Fetch-Site": "cross-site",
}
"""Of ``fetch(..., {method: "POST", mode: "no-cors", body})`` after DNS rebinding."""


def send(port, method, path, body="", headers=None, tls=None):
    """Send a request to 127.0.0.1 with these headers alone, over TLS where *tls* says how; return status and body."""
    if tls:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=deadlines.PATIENT_S, context=tls)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=deadlines.PATIENT_S)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        content = body.encode()
        for name, value in (headers or HEADERS).items():
            connection.putheader(name, value)
        if content:
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content or None)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def job(job_id, file):
    """Return the body that registers a job which writes who it is into *file*."""
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sh", "args": ["-c", f"id > {file}"]}}
    group = {"Name": "g", "Count": 1, "Tasks": [task]}
    return json.dumps(
        {"Job": {"ID": job_id, "Name": job_id, "Type": "batch", "Datacenters": ["*"], "TaskGroups": [group]}}
    )
