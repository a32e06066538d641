"""An emulator agent with two nodes, a client for it, and the jobs that its tests run."""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest
import urllib3

from nomad_csi_sandbox.nomad import cluster, server
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor

RECORDINGS = Path(__file__).parents[2] / "nomad" / "recordings"
TIMEOUT_S = 120.0


@pytest.fixture(scope="session")
def recording():
    """Read a recorded answer of a real agent by its name: ``recording("02-job")``."""
    return lambda name: json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def data_dir():
    """A folder with a short name: the path of a socket may have 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="nc"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def start(data_dir):
    """Start agents on two nodes in two zones: ``start(token="t")``; they end with the test."""
    started = []

    def start_one(**settings):
        specs = [
            nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="i-1"),
            nodes.NodeSpec(name="two", zone="us-east-1b", instance_id="i-2"),
        ]
        pace = csi_supervisor.Pace(start_s=0.1, watch_s=0.1, answer_s=60)
        own = {"data_dir": data_dir, "nodes": specs, "pace": pace} | settings
        serving = server.Server(cluster.Cluster(cluster.Settings(**own)))
        api = Api(serving.url, serving.cluster)
        started.append((serving, api))
        return api

    yield start_one
    for serving, api in started:
        api.pool.clear()
        serving.close()


@pytest.fixture
def api(start):
    """A client of a fresh agent."""
    return start()


class Api:
    """Calls an agent, and waits for what it will say."""

    def __init__(self, url, cluster):
        self.url = url
        self.cluster = cluster
        self.pool = urllib3.PoolManager(retries=False)

    def call(self, method, path, body=None, headers=None):
        """Return status, parsed body (or its text) and headers."""
        data = None if body is None else json.dumps(body)
        reply = self.pool.request(method, self.url + path, body=data, headers=headers)
        is_json = reply.headers.get("Content-Type", "").startswith("application/json")
        return reply.status, json.loads(reply.data) if is_json else reply.data.decode(), reply.headers

    def get(self, path):
        """Return the body of a query that must succeed."""
        status, body, _ = self.call("GET", path)
        assert status == 200, body
        return body

    def parse(self, source):
        """Return the canonical job of *source*."""
        status, body, _ = self.call("POST", "/v1/jobs/parse", {"JobHCL": source, "Canonicalize": True})
        assert status == 200, body
        return body

    def run(self, source, **more):
        """Register the job of *source*, and return the answer."""
        body = {"Job": self.parse(source), "Submission": {"Source": source, "Format": "hcl2"}}
        return self.call("POST", "/v1/jobs", body | more)

    def allocs(self, job_id):
        """Return the allocations of a job."""
        return self.get(f"/v1/job/{job_id}/allocations")

    def until(self, look, is_done):
        """Call *look* until *is_done* accepts its value, and return that."""
        deadline = time.monotonic() + TIMEOUT_S
        while not is_done(value := look()):
            assert time.monotonic() < deadline, f"last seen: {value}"
            time.sleep(0.02)
        return value

    def until_status(self, job_id, *statuses):
        """Wait until the allocations of a job have these client statuses, and return them."""
        return self.until(
            lambda: self.allocs(job_id),
            lambda found: sorted(alloc["ClientStatus"] for alloc in found) == sorted(statuses),
        )

    def until_healthy(self, on_nodes):
        """Wait until plugin ``p`` is healthy on so many nodes."""
        self.until(lambda: self.get("/v1/plugin/csi/p")["NodesHealthy"], lambda found: found == on_nodes)


@pytest.fixture
def job():
    """Write a job of one raw_exec task: ``job("j", command="sleep", args=["60"])``."""

    def write(job_id, *, kind="service", group="", task="", command="sleep", args=("60",), driver="raw_exec"):
        return f"""job "{job_id}" {{
  type = "{kind}"
  group "g" {{
    {group}
    task "t" {{
      driver = "{driver}"
      {task}
      config {{
        command = "{command}"
        args    = {json.dumps(list(args))}
      }}
    }}
  }}
}}"""

    return write


@pytest.fixture
def plugin_job(job):
    """Write the system job of a node plugin ``p``, the emulator of the EFS driver: ``plugin_job("nodes")``."""
    words = ["-m", "nomad_csi_sandbox.csi_plugin", "--driver", "aws-efs", "--endpoint=${CSI_ENDPOINT}"]
    block = 'csi_plugin {\n id = "p"\n type = "node"\n}'
    return lambda job_id: job(job_id, kind="system", task=block, command=sys.executable, args=words)
