"""The two sides of the contract: the Nomad emulator, and a real agent in dev mode. Both have one client, ``one``."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import urllib3

from nomad_csi import nomad
from nomad_csi_sandbox.nomad import cluster, server
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor
from nomad_csi_sandbox.session import agent as session_agent
from nomad_csi_sandbox.session import mounts, tasks
from tests import deadlines, releases, servers

NODE = "one"
ZONE = "us-east-1a"
REGION = "us-east-1"
ROOT = "right"
"""The token of an emulator with access control that may do anything; a real agent gives one, once."""

NO_DOCKER = {"endpoint": "unix:///dev/null"}
"""No engine, as the emulator has none, whatever this machine happens to have."""

DATA_DIR_LENGTH = 40
"""Characters that a data directory may have at most, because the path of a socket below it may have 107 bytes."""


def obstacle():
    """Return why no real agent can run here; empty when one can."""
    if shutil.which("nomad") is None:
        return "no `nomad` on PATH"
    if os.geteuid() != 0:
        return "a Nomad client needs root to isolate and mount for its tasks"
    groups = Path("/sys/fs/cgroup")
    folders = [groups] if (groups / "cgroup.controllers").exists() else [groups / "freezer", groups / "cpuset"]
    locked = [str(folder) for folder in folders if not os.access(folder, os.W_OK)]
    return f"a Nomad client must be able to write to {', '.join(locked)}" if locked else ""


def release():
    """Return the version of the `nomad` on PATH, such as ``1.10.5`` or ``2.0.6-dev``."""
    printed = subprocess.run(
        ["nomad", "version"], capture_output=True, text=True, check=True, timeout=deadlines.PATIENT_S
    ).stdout
    return printed.split()[1].removeprefix("v")


def short_folder():
    """Return a new folder whose name leaves room for the path of a socket."""
    return Path(tempfile.mkdtemp(prefix="nc"))


def task_environment(aws_url, instance_id):
    """Return what plugin tasks inherit: AWS is moto, and the machine is one of its instances."""
    return {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": aws_url,
        "AWS_REGION": REGION,
        "HOME": tempfile.gettempdir(),
        "NOMAD_CSI_SANDBOX_INSTANCE_ID": instance_id,
        "NOMAD_CSI_SANDBOX_ZONE": ZONE,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


class Agent:
    """Calls an agent, and waits for what it will say."""

    kind = ""
    headers = None
    """Of each call that has none of its own."""

    def __init__(self, url, data_dir, version):
        self.url = url
        self.version = version
        self.data_dir = data_dir
        self.pool = urllib3.PoolManager(retries=False, maxsize=4)

    def has(self, difference):
        """Return whether this release does what the table of releases calls now, ``nomad_csi/nomad/releases.yaml``."""
        return releases.has(difference, self.version)

    def call(self, method, path, body=None, headers=None):
        """Return status, body (parsed where it is JSON) and headers."""
        data = body if isinstance(body, str | None) else json.dumps(body)
        reply = self.pool.request(
            method, self.url + path, body=data, headers=headers or self.headers, timeout=deadlines.PATIENT_S
        )
        is_json = reply.headers.get("Content-Type", "").startswith("application/json")
        return reply.status, json.loads(reply.data) if is_json else reply.data.decode(), reply.headers

    def get(self, path):
        """Return the body of a query that must succeed."""
        status, body, _ = self.call("GET", path)
        assert status == 200, body
        return body

    def refused(self, method, path, body=None):
        """Return status and sentence of a call that must be refused in plain text."""
        status, text, headers = self.call(method, path, body)
        assert status >= 400, text
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        return status, text

    def parse(self, source):
        """Return the canonical job of *source*."""
        status, body, _ = self.call("POST", "/v1/jobs/parse", {"JobHCL": source, "Canonicalize": True})
        assert status == 200, body
        return body

    def run(self, source, **more):
        """Register the job of *source*, and return the reply."""
        body = {"Job": self.parse(source), "Submission": {"Source": source, "Format": "hcl2"}} | more
        status, reply, _ = self.call("POST", "/v1/jobs", body)
        assert status == 200, reply
        return reply

    def register(self, *volumes, namespace="default"):
        """Register volumes, and return the reply."""
        status, reply, _ = self.call("PUT", f"/v1/volumes?namespace={namespace}", {"Volumes": list(volumes)})
        assert status == 200, reply
        return reply

    def make_token(self, root, name, rules):
        """Return a new token with one policy, whose *rules* are given; *root* is a token that may do anything."""
        headers = {"X-Nomad-Token": root}
        status, text, _ = self.call("PUT", f"/v1/acl/policy/{name}", {"Name": name, "Rules": rules}, headers)
        assert status == 200, text
        wanted = {"Name": name, "Type": "client", "Policies": [name]}
        status, made, _ = self.call("PUT", "/v1/acl/token", wanted, headers)
        assert status == 200, made
        return made["SecretID"]

    def until(self, look, is_done):
        """Call *look* until *is_done* accepts its value, and return that."""
        deadline = time.monotonic() + deadlines.PATIENT_S
        while not is_done(value := look()):
            assert time.monotonic() < deadline, f"last seen: {value}"
            time.sleep(0.02)
        return value

    def until_status(self, job_id, *statuses):
        """Wait until the allocations of a job have these client statuses, and return them."""
        return self.until(
            lambda: self.get(f"/v1/job/{job_id}/allocations"),
            lambda found: sorted(alloc["ClientStatus"] for alloc in found) == sorted(statuses),
        )


class Emulator(Agent):
    """The emulator, served from this process."""

    kind = "emulator"

    def __init__(self, folder, environment, token="", tokens=None):
        spec = nodes.NodeSpec(name=NODE, zone=ZONE, instance_id=environment["NOMAD_CSI_SANDBOX_INSTANCE_ID"])
        pace = csi_supervisor.Pace(start_s=0.1, watch_s=1.0, answer_s=deadlines.PATIENT_S)
        settings = cluster.Settings(
            data_dir=folder,
            nodes=[spec],
            environment=environment,
            pace=pace,
            token=token,
            tokens=tokens or {},
        )
        self._server = server.Server(cluster.Cluster(settings))
        super().__init__(self._server.url, folder, nodes.VERSION)

    def close(self):
        """End every task, and the server."""
        self.pool.clear()
        self._server.close()


class Real(Agent):
    """A real agent: ``nomad agent -dev`` on free ports of 127.0.0.1."""

    kind = "real"

    def __init__(self, folder, environment, *, with_acl=False):
        data_dir = folder / "d"
        assert len(str(data_dir)) <= DATA_DIR_LENGTH
        data_dir.mkdir()
        ports = servers.free_ports(3)
        settings = session_agent.configuration(data_dir, http=ports[0], rpc=ports[1], serf=ports[2])
        config = folder / "agent.json"
        own = {"name": NODE, "acl": {"enabled": with_acl}, "plugin": {"docker": {"config": NO_DOCKER}}}
        config.write_text(json.dumps(settings | own), encoding="utf-8")
        self._with_acl = with_acl
        self._log = folder / "agent.log"
        command = ["nomad", "agent", "-dev", f"-config={config}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        super().__init__(f"http://127.0.0.1:{ports[0]}", data_dir, release())
        try:
            self._wait_until_ready()
        except BaseException:
            self._end()
            raise

    def _wait_until_ready(self):
        deadline = time.monotonic() + deadlines.PATIENT_S
        while not self._is_ready():
            tail = self._log.read_text(encoding="utf-8", errors="replace")[-2000:]
            assert self._process.poll() is None, f"the agent ended: {tail}"
            assert time.monotonic() < deadline, f"the agent is not ready: {tail}"
            time.sleep(0.05)

    def _is_ready(self):
        try:
            status, found, _ = self.call("GET", "/v1/agent/health" if self._with_acl else "/v1/nodes")
        except urllib3.exceptions.HTTPError:
            return False
        return status == 200 and (self._with_acl or [node["Status"] for node in found] == ["ready"])

    def close(self):
        """Stop all jobs, then the agent, then unmount what is left: what is mounted must not be removed as a file."""
        try:
            if not self._with_acl:  # there, no one may run anything
                with nomad.Nomad(nomad.Connection(address=self.url)) as client:
                    tasks.end_all(client)
        finally:
            self.pool.clear()
            self._end()
            mounts.unmount_below(self.data_dir)

    def _end(self):
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(deadlines.PATIENT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def started(kind, environment, **options):
    """Run an agent, and remove its folder after it."""
    folder = short_folder()
    try:
        agent = kind(folder, environment, **options)
        try:
            yield agent
        finally:
            agent.close()
    finally:
        assert not mounts.below(folder), "something is still mounted there: removing it would remove what is mounted"
        shutil.rmtree(folder)
