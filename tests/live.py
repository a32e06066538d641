"""An emulator of Nomad with two clients in this process, and CSI plugins that a test brings to where it wants them."""

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from nomad_csi import nomad
from nomad_csi.health import observation
from nomad_csi.nomad import jobs
from nomad_csi.plan import model
from nomad_csi_sandbox.csi_plugin.server import FAULT_FILE
from nomad_csi_sandbox.nomad import cluster, server
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor
from tests import clocks, deadlines

ZONES = {"one": "us-east-1a", "two": "us-east-1b"}

JOB = """job "{job_id}" {{
  type = "system"
  {constraint}
  group "g" {{
    task "plugin" {{
      driver       = "raw_exec"
      kill_timeout = "200ms"
      restart {{
        attempts = 20
        interval = "1h"
        delay    = "50ms"
        mode     = "delay"
      }}
      csi_plugin {{
        id                     = "{plugin_id}"
        type                   = "node"
        health_timeout         = "30s"
        stage_publish_base_dir = "{client_dir}/csi/node/{plugin_id}"
      }}
      env {{
        {fault_file} = "{folder}/${{node.unique.name}}.json"
      }}
      config {{
        command = "nomad-csi-sandbox-csi-plugin"
        args    = {arguments}
      }}
    }}
  }}
}}
"""


class Live:
    """A cluster, its client, and plugins by id."""

    def __init__(self, data_dir, pace):
        specs = [nodes.NodeSpec(name=name, zone=zone, instance_id=f"i-{name}") for name, zone in ZONES.items()]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {
            "PATH": path,
            "HOME": str(data_dir),
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        made = cluster.Cluster(cluster.Settings(data_dir=data_dir, nodes=specs, environment=environment, pace=pace))
        self.server = server.Server(made)
        self.cluster = made
        self.client = nomad.Nomad(
            nomad.Connection(address=self.server.url), timeout_s=deadlines.PATIENT_S, clock=clocks.Brisk()
        )
        self.data_dir = data_dir
        self.job_ids = []

    def close(self):
        self.client.close()
        self.server.close()

    def run(self, plugin_id, *, job_id="", words=(), constraint=""):
        """Run a node plugin of the EFS emulator as a system job that reads orders of faults from files; return it."""
        folder = self.data_dir / f"faults-{plugin_id}"
        folder.mkdir(exist_ok=True)
        job_id = job_id or f"plugin-{plugin_id}-nodes"
        source = JOB.format(
            job_id=job_id,
            plugin_id=plugin_id,
            constraint=constraint,
            client_dir=self.data_dir / "client",
            fault_file=FAULT_FILE,
            folder=folder,
            arguments=json.dumps(["--driver", "aws-efs", *words, "--endpoint=${CSI_ENDPOINT}"]),
        )
        jobs.register(self.client, jobs.parse(self.client, source), source=source, enforce_index=None)
        self.job_ids.append(job_id)
        return Plugin(self, plugin_id, job_id, folder)

    def hold_volume(self, volume_id, plugin_id):
        """Register a volume of a plugin for one writer."""
        use = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
        document = {
            "ID": volume_id,
            "Name": volume_id,
            "Namespace": "default",
            "ExternalID": f"fs-0123456789abcdef0:/{volume_id}",
            "PluginID": plugin_id,
            "RequestedCapabilities": [use],
        }
        self.client.request("PUT", f"/v1/volume/csi/{volume_id}", body={"Volumes": [document]})

    def stop_all(self):
        """Stop what runs, and forget it."""
        while self.job_ids:
            jobs.stop(self.client, "default", self.job_ids.pop(), purge=True)


class Plugin:
    """A plugin on the cluster: faults are ordered, processes are signalled, and it is checked."""

    def __init__(self, live, plugin_id, job_id, folder):
        self.live, self.plugin_id, self.job_id, self.folder = live, plugin_id, job_id, folder

    def expectation(self, **changes):
        known = {
            "plugin_id": self.plugin_id,
            "provider": "efs.csi.aws.com",
            "version": "v3.4.1",
            "namespace": "default",
            "controllers": 0,
            "datacenters": ("*",),
            "node_pool": "default",
            "task_driver": "raw_exec",
            "client_data_dir": "",
            "evidence": "nomad",
            "timeout_s": 30.0,
            "stable_s": 0.2,
            "driver": "aws-efs",
        }
        return model.PluginExpectation(**known | changes)

    def wanted(self, **changes):
        return observation.WatchedPlugin(expectation=self.expectation(**changes), job_ids=(self.job_id,))

    def looker(self, *, probe_timeout_s=2.0, **changes):
        return observation.Observer(self.live.client, [self.wanted(**changes)], probe_timeout_s=probe_timeout_s)

    def until(self, *statuses, **changes):
        """Look until the plugin is the first of *statuses*, and its instances the others; return what was seen."""
        looker = self.looker(**changes)
        deadline = time.monotonic() + deadlines.PATIENT_S
        while True:
            [seen] = looker.observe()
            found = (seen.status.status, *(row.status for row in seen.status.instances))
            if found[: len(statuses)] == statuses:
                return seen
            assert time.monotonic() < deadline, [seen.status.status, *map(str, seen.status.findings)]
            time.sleep(0.02)

    def fault(self, client, **fault):
        """Order a fault of the instance on a client; none ends it."""
        path = self.folder / f"{client}.json"
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(fault))
        fresh.replace(path)

    def allocation(self, name):
        found = jobs.allocations(self.live.client, "default", self.job_id)
        [wanted] = [item for item in found if item.node_name == name and item.desired_status == "run"]
        return wanted

    def signal(self, name, number):
        """Send a signal to the process of the instance on a client."""
        alloc_id = self.allocation(name).alloc_id
        found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _names(path, alloc_id)]
        assert found
        for path in found:
            os.kill(int(path.parent.name), number)

    def kill(self, name):
        """Kill the process on a client, and wait until it runs again."""
        before = self.allocation(name).restarts
        self.signal(name, signal.SIGKILL)
        deadline = time.monotonic() + deadlines.PATIENT_S
        while not (self.allocation(name).restarts > before and _last(self.allocation(name)) == "Started"):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def _last(allocation):
    return allocation.task_events[-1].type


def _names(path, alloc_id):
    """Return whether a process is that of an allocation of a plugin."""
    with contextlib.suppress(OSError):
        words = path.read_bytes().split(b"\0")
        return any(word.endswith(f"/{alloc_id}/csi.sock".encode()) for word in words)
    return False


@contextlib.contextmanager
def started(*, watch_s=2.0, answer_s=60.0):
    """Run a cluster that asks its plugins so often and waits so long for an answer, and remove its folder after it."""
    data_dir = Path(tempfile.mkdtemp(prefix="nv"))
    live = Live(data_dir, csi_supervisor.Pace(start_s=0.05, watch_s=watch_s, answer_s=answer_s))
    try:
        yield live
    finally:
        live.close()
        shutil.rmtree(data_dir)
