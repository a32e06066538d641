"""
Replies of Nomad that were changed on the way, as `pulumi refresh`, `preview` and `up` meet them.

The same changes as in tests/faults, chosen by chance from a run's number; MUTATIONS sets how many runs each step gets.
"""

import os

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from nomad_csi import nomad
from nomad_csi.frame import registry
from nomad_csi.nomad import jobs, volumes
from nomad_csi.provider import wire
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests.faults import conftest as faults
from tests.faults.test_mutated_replies import Mutator

RUNS = int(os.environ.get("MUTATIONS", "12"))
INSTANCE = {"AllocID": "alloc-1", "Healthy": True, "HealthDescription": "healthy", "UpdateTime": "2026-11-22T08:00:00Z"}
INSTANCE |= {"Provider": "nfs.csi.k8s.io", "ProviderVersion": "v4", "NodeInfo": {"ID": "one"}}
MODES = [{"accessMode": "multi-node-multi-writer", "attachmentMode": "file-system"}]
OTHER_MODES = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
OWN = {"owner": "lab/dev", "ownerId": "0123456789abcdef"}
JOB = """job "plugin" {{
  type = "system"
  meta = {{
    "nomad-csi.owner" = "lab/dev"
  }}
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      csi_plugin {{
        id   = "other"
        type = "node"
      }}
      config {{
        command = "sleep"
        args    = ["{seconds}"]
      }}
    }}
  }}
}}
"""
VOLUME = {
    "volumeId": "shared",
    "name": "shared",
    "externalId": "nas#pool#shared##",
    "pluginId": "nfs",
    "capabilities": MODES,
}
DECLARED = {
    "VolumeRegistration": VOLUME | OWN,
    "PluginJob": {"jobId": "plugin", "hcl": JOB.format(seconds=600)} | OWN,
}


@pytest.fixture
def world(tmp_path, serve, engine):
    """A Nomad with a healthy plugin, a proxy in front of it, and a provider behind that."""
    node = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
    settings = cluster.Settings(data_dir=tmp_path / "nomad", nodes=[node], environment={"PATH": "/usr/bin:/bin"})
    with server.Server(cluster.Cluster(settings)) as serving, faults.proxied(serving.url) as proxy:
        record = state.PluginRecord(plugin_id="nfs", create_index=1, modify_index=1, nodes={"one": INSTANCE})
        serving.cluster.state.plugins["nfs"] = record
        plugin = serve({"NOMAD_ADDR": proxy.address})
        plugin.Configure(provider_pb2.ConfigureRequest(args=wire.dump({})))
        with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
            yield World(plugin, proxy, client, engine)


class World:
    """One object of a stack, made and read by a provider whose replies may be changed."""

    def __init__(self, plugin, proxy, client, engine):
        self.plugin, self.proxy, self.client, self.engine = plugin, proxy, client, engine

    def mutate(self, mutator):
        """Have *mutator* see every reply; ``None``: no more."""
        found = [[method, "", mutator, 10**9] for method in ("GET", "POST", "PUT", "DELETE")] if mutator else []
        self.proxy.faults[:] = found

    def urn(self, name):
        return f"urn:pulumi:dev::lab::nomad-csi:index:{name}::thing"

    def news(self, name):
        news, failures = registry.RESOURCES[f"nomad-csi:index:{name}"].check(DECLARED[name])
        assert not failures
        return news

    def create(self, name):
        return self.plugin.Create(provider_pb2.CreateRequest(urn=self.urn(name), properties=wire.dump(self.news(name))))

    def read(self, name, made):
        """Read as before a preview does, and return whether the difference that follows is a change."""
        inputs = wire.dump(self.news(name))
        request = provider_pb2.ReadRequest(id=made.id, urn=self.urn(name), inputs=inputs, properties=made.properties)
        found = self.plugin.Read(request)
        if not found.id:
            return True
        values = {"old_inputs": found.inputs, "olds": found.properties, "news": inputs}
        answer = self.plugin.Diff(provider_pb2.DiffRequest(id=found.id, urn=self.urn(name), **values))
        return answer.changes == provider_pb2.DiffResponse.DIFF_SOME

    def drift(self, name):
        """Have the object differ from what is recorded."""
        if name == "PluginJob":
            hcl = JOB.format(seconds=7)
            jobs.register(self.client, jobs.parse(self.client, hcl), source=hcl, enforce_index=None)
        else:
            body = {"Volumes": [self.held() | {"RequestedCapabilities": OTHER_MODES}]}
            self.client.request("PUT", volumes.path_of("shared"), body=body)

    def held(self):
        """Return what Nomad holds of the volume."""
        return self.client.request("GET", volumes.path_of("shared")).data

    def remove(self, name):
        """Have Nomad not know the object."""
        if name == "PluginJob":
            jobs.stop(self.client, "default", "plugin", purge=True)
        elif volumes.get(self.client, "default", "shared"):
            volumes.deregister(self.client, "default", "shared")


def failed(error, mutator):
    """Return what is wrong with how a step ended; empty where it is an error that is reported as one."""
    is_bug = error.code() == grpc.StatusCode.INTERNAL
    return f"{error.details()} after {mutator.done}" if is_bug else ""


@pytest.mark.parametrize("name", DECLARED)
def test_changed_reply_hides_no_drift(world, name):
    """Given an object that was changed: a read fails, or the difference that follows shows a change."""
    made = world.create(name)
    world.drift(name)
    found, replies = {}, 10**9

    for seed in range(RUNS + 1):
        mutator = Mutator(seed, replies)
        world.mutate(mutator)
        del world.engine.lines[:]
        try:
            is_change = world.read(name, made)
        except grpc.RpcError as error:
            found[seed] = failed(error, mutator)
        else:
            warned = [line for _, line, is_status in world.engine.lines if not is_status]
            found[seed] = "" if is_change or warned else f"unchanged without a warning, after {mutator.done}"
        replies = mutator.seen if seed == 0 else replies

    assert {seed: said for seed, said in found.items() if said} == {}


@pytest.mark.parametrize("name", DECLARED)
def test_changed_reply_makes_nothing_wrong(world, name):
    """Given an object that is not there: it is made as declared, or the creation fails with an error."""
    made = world.create(name)
    wanted = world.held() if name == "VolumeRegistration" else jobs.get(world.client, "default", "plugin")
    found, replies = {}, 10**9

    for seed in range(RUNS + 1):
        world.mutate(None)
        world.remove(name)
        mutator = Mutator(seed, replies)
        world.mutate(mutator)
        try:
            answer = world.create(name)
        except grpc.RpcError as error:
            found[seed] = failed(error, mutator)
        else:
            found[seed] = "" if answer.id == made.id and same(world, name, wanted) else f"other after {mutator.done}"
        replies = mutator.seen if seed == 0 else replies

    assert {seed: said for seed, said in found.items() if said} == {}


def same(world, name, wanted):
    """Return whether Nomad holds what a creation without a changed reply made."""
    if name == "PluginJob":
        found = jobs.get(world.client, "default", "plugin")
        return found is not None and not found.stopped and found.meta == wanted.meta
    of_nomad = {"CreateIndex", "ModifyIndex", "CreateTime", "ModifyTime"}
    held = world.held()
    return {key: held[key] for key in held.keys() - of_nomad} == {key: wanted[key] for key in wanted.keys() - of_nomad}
