"""Clusters of Nomad in this process, with the plugins of the AWS drivers: their controllers answer, nodes are records."""

import contextlib
import copy
import tempfile
from pathlib import Path

from nomad_csi import nomad
from nomad_csi.nomad import cluster_identity, variables
from nomad_csi_sandbox.csi_plugin import arguments
from nomad_csi_sandbox.csi_plugin import server as csi_server
from nomad_csi_sandbox.nomad import cluster, crowd, server
from nomad_csi_sandbox.nomad.storage import csi_client

EBS, EFS = "aws-ebs0", "aws-efs0"
NAMESPACES = ("default", "team", "batch")

JOB = """job "plugin-{plugin_id}-{role}" {{
  type = "{job_type}"
  group "g" {{
    task "plugin" {{
      driver = "raw_exec"
      csi_plugin {{
        id   = "{plugin_id}"
        type = "{role}"
      }}
      config {{
        command = "true"
      }}
    }}
  }}
}}
"""
PROVIDERS = {EBS: ("ebs.csi.aws.com", "v1.64.0"), EFS: ("efs.csi.aws.com", "v3.4.1")}


class Cluster:
    """One cluster with one client, on which the plugins of both drivers run; only the EBS controller is more than a record."""

    def __init__(self, environment):
        self._folder = tempfile.TemporaryDirectory(prefix="nw")
        folder = Path(self._folder.name)
        self._cluster = cluster.Cluster(cluster.Settings(data_dir=folder, nodes=[], environment={}))
        self._server = server.Server(self._cluster)
        self._ends = contextlib.ExitStack()
        self.url = self._server.url
        self._state = self._cluster.state
        for name in NAMESPACES[1:]:
            self._state.namespaces[name] = cluster.namespace({"Name": name}, index=1)
        self._clients = crowd.Crowd(self._cluster, 1)
        for plugin_id, (provider, version) in PROVIDERS.items():
            self._clients.run(JOB.format(plugin_id=plugin_id, role="node", job_type="system"), provider, version)
        self._control(folder / "ebs.sock", environment)
        self._own = {job_id for _, job_id in self._state.jobs}

    def _control(self, path, environment):
        """Run the controller of the EBS driver in this process, at a socket."""
        command = arguments.read(["--driver", "aws-ebs", "controller", f"--endpoint=unix://{path}"], environment)
        self._ends.enter_context(csi_server.served(command, environment))
        [node_id] = self._state.nodes
        source = JOB.format(plugin_id=EBS, role="controller", job_type="service")
        crowd.control(self._state, source, *PROVIDERS[EBS], [node_id])
        with csi_client.connected(str(path), 60.0) as client:
            capabilities = client.controller_info()
        record = self._state.plugins[EBS]
        record.sockets[node_id] = str(path)
        record.controllers[node_id] |= {"ControllerInfo": capabilities}

    def empty(self):
        """Forget all volumes and variables."""
        with self._state.lock:
            self._state.volumes.clear()
            self._state.variables.clear()
            for key in [key for key in self._state.jobs if key[1] not in self._own]:
                del self._state.jobs[key]
            self._state.commit("csi_volumes", "variables", "jobs")

    def jobs(self):
        """Return namespace and id of the jobs, without those of the plugins."""
        with self._state.lock:
            return {key for key in self._state.jobs if key[1] not in self._own}

    def registered(self):
        """Return the external id of every volume by namespace and id."""
        with self._state.lock:
            return {key: record.spec["ExternalID"] for key, record in self._state.volumes.items()}

    def identity(self):
        """Return the identity of the cluster; empty where it has none."""
        with self._state.lock:
            found = [item for item in self._state.variables.values() if item["Path"] == cluster_identity.PATH]
        return found[0]["Items"][cluster_identity.ITEM] if found else ""

    def purge(self, folder):
        """Remove the variables whose path begins with *folder*, behind the back of everybody."""
        with self._state.lock:
            for key in [key for key, item in self._state.variables.items() if item["Path"].startswith(folder)]:
                del self._state.variables[key]
            self._state.commit("variables")

    def write(self, path, items):
        """Write a variable as an operator does."""
        with nomad.Nomad(nomad.Connection(address=self.url)) as client:
            variables.put(client, "default", path, items, index=variables.NEW)

    def snapshot(self):
        """Return volumes and variables, without claims."""
        with self._state.lock:
            volumes = copy.deepcopy(self._state.volumes)
            found = volumes, copy.deepcopy(self._state.variables)
        for record in volumes.values():
            record.claims.clear()
        return found

    def restore(self, saved):
        """Have the volumes and variables of a snapshot again, and return it."""
        volumes, held = copy.deepcopy(saved)
        with self._state.lock:
            self._state.volumes.clear()
            self._state.volumes.update(volumes)
            self._state.variables.clear()
            self._state.variables.update(held)
            self._state.commit("csi_volumes", "variables")
        return saved

    def deregister(self, key):
        """Deregister a volume as another tool does."""
        with self._state.lock:
            del self._state.volumes[key]
            self._state.commit("csi_volumes")

    def claim(self, key, *, is_claimed):
        """Have an allocation claim a volume, or release it."""
        with self._state.lock:
            held = {"Mode": "write", "NodeID": "n", "AccessMode": "", "AttachmentMode": ""}
            claims = self._state.volumes[key].claims
            claims.clear()
            claims.update({"alloc": held} if is_claimed else {})

    def register(self, volume_id, external_id):
        """Register a volume as another hand does."""
        capability = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
        volume = {"ID": volume_id, "Name": volume_id, "Namespace": "default", "ExternalID": external_id}
        volume |= {"PluginID": EBS, "RequestedCapabilities": [capability]}
        with nomad.Nomad(nomad.Connection(address=self.url)) as client:
            client.request("PUT", f"/v1/volume/csi/{volume_id}", body={"Volumes": [volume]})

    def run_job(self, plugin_id):
        """Have a job of another hand run the node plugin *plugin_id* of EFS, as a record."""
        self._clients.run(JOB.format(plugin_id=plugin_id, role="node", job_type="system"), *PROVIDERS[EFS])

    def close(self):
        self._server.close()
        self._ends.close()
        self._folder.cleanup()
