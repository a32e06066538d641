"""
Each operation, cut short at each of its requests and run again, ends as one that nothing disturbed.

A request is refused, or it is done and its response is lost. What a failed step records is what the next one gets.
"""

import dataclasses
import re
from unittest import mock

import pytest

from nomad_csi import errors
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.frame import resource
from nomad_csi.jobs import plugin_job
from nomad_csi.nomad import cluster_identity
from nomad_csi.volumes import deleters, deregistration, ownership, volume_resource
from tests import emulated_agent, scripted_plugins
from tests.cli import option_world

CAPABILITIES = [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]
OWNER = {"owner": "shop/prod", "ownerId": "00112233aabbccdd"}
REGISTRATION = OWNER | {
    "volumeId": "mysql",
    "namespace": "prod",
    "externalId": "vol-7",
    "pluginId": "ebs",
    "capabilities": CAPABILITIES,
    "mountOptions": {"fsType": "ext4"},
    "context": {"partition": "1"},
}
CREATED = OWNER | {
    "volumeId": "scratch",
    "namespace": "prod",
    "pluginId": "ebs",
    "capabilities": CAPABILITIES,
    "mountOptions": {"fsType": "ext4"},
    "capacityMinBytes": 5 * emulated_agent.GIB,
    "onDestroy": "keep",
}
HCL = """job "ebs-nodes" {
  namespace = "storage"
  type      = "system"
  group "nodes" {
    task "plugin" {
      driver = "docker"
      config { image = "ebs:v1" }
      csi_plugin {
        id   = "ebs"
        type = "node"
      }
    }
  }
}
"""
JOB = OWNER | {
    "jobId": "ebs-nodes",
    "namespace": "storage",
    "hcl": HCL,
    "minimumNomad": "1.3.0",
    "pluginJobs": ["ebs-nodes"],
}


@dataclasses.dataclass(frozen=True)
class Resource:
    """A resource, and the steps that change what *given* says by *changes*."""

    of: object
    given: dict
    changes: dict

    def inputs(self, **changes):
        """Return checked inputs."""
        values, failures = self.of.check(self.given | changes)
        assert failures == ()
        return values

    @property
    def identity(self):
        """Namespace and id."""
        return f"{self.given['namespace']}/{self.given.get('volumeId') or self.given['jobId']}"

    def put(self, context, outputs, **changes):
        """Create it, or update what *outputs* recorded; return what the engine records."""
        if outputs is None:
            return self.of.create(context, self.inputs(**changes))[1]
        return self.of.update(context, self.identity, outputs, self.inputs(**changes))

    def operations(self, name):
        """Yield each operation: its name, the outputs before it, and its step."""
        yield f"{name}: create", lambda _: None, self.put
        for what, change in self.changes.items():
            yield f"{name}: {what}", self.there, lambda context, out, change=change: self.put(context, out, **change)
        yield f"{name}: delete", self.there, lambda context, out: self.of.delete(context, self.identity, out)

    def there(self, agent):
        """Create it, and return its outputs."""
        return self.put(agent.context(), None)


VOLUME = Resource(
    volume_resource.VolumeRegistrationResource(),
    REGISTRATION,
    {"mount options": {"mountOptions": {"fsType": "xfs"}}, "storage": {"externalId": "vol-8"}},
)
LARGER = {"capacityMinBytes": 7 * emulated_agent.GIB}
MADE = Resource(volume_resource.CreatedVolumeResource(), CREATED, {"larger": LARGER})
DELETING = dataclasses.replace(
    MADE,
    given=CREATED | {"onDestroy": "delete", "deletion": {"endpoint": "/run/csi.sock", "acceptUnguarded": True}},
    changes={},
)
PLUGIN_JOB = Resource(plugin_job.PluginJobResource(), JOB, {"newer": {"hcl": HCL.replace("v1", "v2")}})
WHO = ownership.Requester(owner="shop/prod")


def _remove(context, _outputs):
    options = deregistration.DeregistrationOptions(requester=WHO)
    [done] = deregistration.deregister(
        context.client, [("prod", "mysql")], options, report=context.warn, cancelled=context.cancelled
    )
    assert done.is_done, done


def command(*words):
    """Return the step of a command in a directory with files of volumes."""

    def run(context, _outputs):
        for name in FILES:
            (context.root / name).write_text(option_world.FILES[name])
        code, out, err = emulated_agent.typed(context.root, *words)
        context.warn(out + err)
        assert code == 0, f"{out}\n{err}"

    return run


FILES = ("web.volume.hcl", "logs.volume.hcl")
WHOSE = ("--owner", "shop/prod", "--yes")
APPLY = command("apply", *FILES, *WHOSE)
QUICKLY = ("--step-timeout", "1s")


def applied(agent):
    """Apply the files."""
    APPLY(agent.context(), None)


def claimed(agent):
    """Apply the files; one volume has a claim that Nomad does not release."""
    applied(agent)
    claim = {"Mode": "write", "AccessMode": "single-node-writer", "AttachmentMode": "file-system", "NodeID": "n"}
    agent.cluster.state.volumes["prod", "web"].claims["gone"] = claim


def _with_plugin(agent, step):
    """Return *step* with a plugin that has the agent's disks; its calls are among the requests, and fail as they do."""

    def answering(name, answer):
        def answered(request):
            transport = agent.transport
            fault = transport.fails.get(len(transport.requests))
            transport.requests.append(("CSI", name))
            if fault == "refused":
                return "INTERNAL", "no such luck"
            done = answer(request)
            return done if fault is None else ("UNAVAILABLE", "the connection broke")

        return answered

    def validate(request):
        is_there = request.volume_id in agent.disks.disks.values()
        return csi_pb2.ValidateVolumeCapabilitiesResponse(confirmed={}) if is_there else ("NOT_FOUND", "no")

    def delete(request):
        agent.disks.disks = {name: disk for name, disk in agent.disks.disks.items() if disk != request.volume_id}
        return csi_pb2.DeleteVolumeResponse()

    def snapshot(request):
        snapshot = {"snapshot_id": "snap-1", "source_volume_id": request.source_volume_id, "ready_to_use": True}
        agent.disks.names["last"] = snapshot
        return csi_pb2.CreateSnapshotResponse(snapshot=snapshot)

    answers = {
        "GetPluginInfo": lambda _: csi_pb2.GetPluginInfoResponse(name="ebs.csi.example"),
        "ControllerGetCapabilities": lambda _: scripted_plugins.controller_can(1, 5, 6),
        "ValidateVolumeCapabilities": validate,
        "DeleteVolume": delete,
        "CreateSnapshot": snapshot,
        "ListSnapshots": lambda _: csi_pb2.ListSnapshotsResponse(entries=[{"snapshot": agent.disks.names["last"]}]),
    }

    def run(context, outputs):
        known = {name: answering(name, answer) for name, answer in answers.items()}
        with scripted_plugins.running(known, lambda _: None), mock.patch.object(deleters.endpoint, "check"):
            return step(context, outputs)

    return run


OPERATIONS = {
    name: (before, step)
    for name, before, step in (
        *VOLUME.operations("registration"),
        *MADE.operations("created volume"),
        *DELETING.operations("created volume with its data"),
        *PLUGIN_JOB.operations("plugin job"),
        ("remove", VOLUME.there, _remove),
        ("apply files", lambda _: None, APPLY),
        ("remove a volume", applied, command("remove", "prod/web", *WHOSE)),
        ("remove a claimed volume", claimed, command("remove", "prod/web", "--force", *WHOSE)),
        ("repair a claim", claimed, command("claims", "repair", "prod/web", "--from", FILES[0], "--yes", *QUICKLY)),
    )
}


LEFT = re.compile(r"owner record of|note of the repair stays")
"""Where only the end failed: it is done, and what is left is named."""


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return an emulated agent."""
    with emulated_agent.running(tmp_path_factory.mktemp("agent")) as made:
        made.cluster.collect_garbage = lambda *_: None  # which would release a claim
        yield made


def attempt(agent, step, outputs):
    """Run a step; return what the engine records, and the error."""
    try:
        return step(agent.context(), outputs), None
    except resource.InitFailedError as error:
        return error.outputs, error
    except (errors.NomadCsiError, AssertionError) as error:
        return outputs, error


def left(agent):
    """Return what is in the cluster, and the owner records without what is drawn for each attempt."""
    volumes, jobs, variables, disks = agent.left()
    drawn = {"nonce", "created_name"}
    records = {key: {k: v for k, v in items.items() if k not in drawn} for key, items in variables.items()}
    return (volumes, jobs, sorted(disks.values())), records


def give_identity(agent):
    """Give the cluster the id that the first stack draws."""
    variable = {"Namespace": "default", "Path": cluster_identity.PATH, "CreateIndex": 5, "ModifyIndex": 5}
    agent.cluster.state.variables["default", cluster_identity.PATH] = variable | {"Items": {"id": "11111111-1111"}}


@pytest.mark.parametrize("name", OPERATIONS)
def test_cut_at_each_request_and_run_again_ends_alike(agent, name):
    """Nothing is lost, created twice or left behind."""
    before, step = OPERATIONS[name]
    step = _with_plugin(agent, step)
    agent.restart()
    give_identity(agent)
    outputs = before(agent)
    kept = agent.keep()
    agent.go_back(kept)
    assert attempt(agent, step, outputs)[1] is None
    requests, (whole, records) = agent.transport.requests, left(agent)
    for number, sent in enumerate(requests):
        for fault in ("refused",) if sent[0] == "GET" else ("refused", "lost"):
            agent.go_back(kept)
            agent.transport.fails = {number: fault}
            recorded, failed = attempt(agent, step, outputs)
            agent.transport.fails = {}
            if failed:
                agent.messages.clear()
                assert attempt(agent, step, recorded)[1] is None, (sent, fault, failed)
            found, owners = left(agent)
            assert found == whole, (sent, fault, failed)
            is_said = LEFT.search("\n".join(agent.messages))
            assert owners == records or is_said, (sent, fault, failed)
