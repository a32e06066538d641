"""
What is fuzzed: for each target how an input is made from seeds, and what must hold for it.

`check` of a target returns what is wrong, in a line; empty: nothing. Any exception that is no error of this package is
a traceback, and the runner's finding.
"""

import contextlib
import copy
import json
import logging
import tempfile
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import grpc

from nomad_csi import errors, nomad
from nomad_csi.csi import probe, records, validation
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.hcl import documents, read
from nomad_csi.health import gather
from nomad_csi.health import plugins as plugin_health
from nomad_csi.nomad import jobs, namespaces, nodes, token_rights, transport, variables, volumes
from nomad_csi.nomad import plugins as nomad_plugins
from nomad_csi.plan import storage
from tests import hostile, hostile_specs, plugin_samples, scripted
from tests.fuzz import mutating

TESTS = Path(__file__).parents[1]
RECORDINGS = TESTS / "nomad/recordings"


def _silence(stack, name):
    """Have the logger *name* log nothing until *stack* ends."""
    logger = logging.getLogger(name)
    stack.callback(logger.setLevel, logger.level)
    logger.setLevel(logging.CRITICAL + 1)


class Hcl:
    """Job files and volume files, as hand-written ones are read."""

    def __init__(self, _stack):
        self.seeds = [path.read_text(encoding="utf-8") for path in sorted((TESTS / "catalogue").rglob("*.hcl"))]

    def make(self, chance):
        """Return a changed file."""
        return mutating.text(chance.choice(self.seeds), chance)

    def check(self, given):
        """Read it in each dialect: a document, or an error."""
        for reader in (read.read_job, read.read_volume):
            with contextlib.suppress(errors.SpecError):
                reader(given)
        return ""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A read of Nomad's API, its path, and a recorded reply of a real agent."""

    call: object
    path: str
    file: str = ""
    value: object = None

    def document(self):
        """Return the reply, decoded."""
        return json.loads((RECORDINGS / self.file).read_text()) if self.file else copy.deepcopy(self.value)


_TOKEN = {"AccessorID": "a", "Name": "n", "Type": "client", "Policies": ["p"], "Roles": [], "ExpirationTime": None}
READS = (
    Recording(call=lambda client: volumes.list_volumes(client, "*"), path="/v1/volumes", file="03-volumes-list.json"),
    Recording(
        call=lambda client: volumes.get(client, "default", "v1"),
        path="/v1/volume/csi/v1",
        file="03-volume-get-claimed.json",
    ),
    Recording(call=nomad_plugins.list_ids, path="/v1/plugins", file="02-plugins-healthy.json"),
    Recording(
        call=lambda client: nomad_plugins.get(client, "p"), path="/v1/plugin/csi/p", file="07-ebs-plugin-full.json"
    ),
    Recording(call=nodes.list_nodes, path="/v1/nodes", file="00-nodes.json"),
    Recording(call=nodes.list_servers, path="/v1/agent/members", file="00-agent-members.json"),
    Recording(call=lambda client: jobs.get(client, "default", "j"), path="/v1/job/j", file="02-job.json"),
    Recording(
        call=lambda client: jobs.allocations(client, "default", "j"),
        path="/v1/job/j/allocations",
        file="02-job-allocations.json",
    ),
    Recording(call=lambda client: namespaces.missing(client, ["two"]), path="/v1/namespace/two", value={"Name": "two"}),
    Recording(
        call=lambda client: variables.get(client, "default", "nomad-csi/volumes/data"),
        path="/v1/var/nomad-csi%2Fvolumes%2F00",
        value={"Namespace": "default", "Path": "p", "ModifyIndex": 3, "Items": {"a": "b"}},
    ),
    Recording(call=token_rights.own, path="/v1/acl/token/self", value=_TOKEN),
)
_JOB = {"ID": scripted.PLUGIN_JOB, "Namespace": "default", "Type": "system", "Stop": False, "Version": 2}
_SICK = scripted.PLUGIN | {
    "Nodes": {"id-a": scripted.PLUGIN["Nodes"]["id-a"] | {"Healthy": False, "HealthDescription": ""}}
}
CLUSTER = {
    "/v1/nodes": [scripted.PLUGIN_NODE],
    f"/v1/job/{scripted.PLUGIN_JOB}": _JOB,
    f"/v1/job/{scripted.PLUGIN_JOB}/allocations": [scripted.PLUGIN_ALLOCATION],
    "/v1/plugin/csi/aws-ebs0": _SICK,
}
"""A cluster whose only instance of a plugin is unhealthy."""

STATUSES = (100, 200, 200, 200, 200, 200, 201, 204, 206, 301, 304, 400, 403, 404, 404, 429, 500, 500, 503, 999)


class Replies:
    """Replies of Nomad, with their status and headers, to each read of it and to a health check."""

    def __init__(self, stack):
        _silence(stack, "nomad_csi.nomad")
        self.replies = {}
        stack.enter_context(mock.patch.object(transport.Transport, "_exchange", self._exchange))
        self.client = stack.enter_context(nomad.Nomad(nomad.Connection(address="http://127.0.0.1:9")))

    def make(self, chance):
        """Return status, headers and text of one reply, and which read it is for; -1: for the health check."""
        which = chance.randrange(-4, len(READS))
        status = chance.choice(STATUSES)
        headers = {"X-Nomad-Index": str(chance.choice((7, -1, 10**30, "x")))}
        path = chance.choice([path for path in CLUSTER if "plugin/csi" not in path]) if which < 0 else READS[which].path
        value = copy.deepcopy(CLUSTER[path]) if which < 0 else READS[which].document()
        text = mutating.json_text(value, chance)
        if status >= 400 and chance.random() < 0.5:
            text = mutating.text("rpc error: No cluster leader, code = Unavailable desc = x", chance)
        return {"which": max(which, -1), "path": path, "status": status, "headers": headers, "text": text}

    def check(self, given):
        """Read: a record or an error; an unhealthy plugin never becomes healthy by another reply."""
        content = given["text"].encode(errors="surrogatepass")
        self.replies = {path: _answer(json.dumps(value).encode()) for path, value in CLUSTER.items()}
        self.replies[given["path"]] = _answer(content, given["status"], given["headers"])
        with contextlib.suppress(errors.NomadCsiError):
            if given["which"] >= 0:
                READS[given["which"]].call(self.client)
                return ""
            observed = gather.ask_nomad(self.client, EXPECTATION, [scripted.PLUGIN_JOB])
            found = plugin_health.compare_plugin(EXPECTATION, observed, nodes.list_nodes(self.client))
            return f"false healthy: {found.status}" if found.status == "healthy" or found.ok else ""
        return ""

    def _exchange(self, call, *_):
        absent = _answer(b"not found", 404)
        return self.replies.get(call.path, absent)


def _answer(content, status=200, headers=None):
    return transport.Answer(status=status, headers=headers or {}, content=content)


EXPECTATION = plugin_samples.EXPECTATION.__class__(**(vars(plugin_samples.EXPECTATION) | {"controllers": 0}))


PLUGIN_REPLIES = {
    "Probe": csi_pb2.ProbeResponse(ready={"value": True}),
    "GetPluginInfo": csi_pb2.GetPluginInfoResponse(name="other.example.com", vendor_version="1", manifest={"a": "b"}),
    "GetPluginCapabilities": csi_pb2.GetPluginCapabilitiesResponse(
        capabilities=[
            csi_pb2.PluginCapability(service=csi_pb2.PluginCapability.Service(type=1)),
            csi_pb2.PluginCapability(volume_expansion=csi_pb2.PluginCapability.VolumeExpansion(type=1)),
        ]
    ),
    "ControllerGetCapabilities": csi_pb2.ControllerGetCapabilitiesResponse(
        capabilities=[
            csi_pb2.ControllerServiceCapability(rpc=csi_pb2.ControllerServiceCapability.RPC(type=kind))
            for kind in (1, 2)
        ]
    ),
    "NodeGetInfo": csi_pb2.NodeGetInfoResponse(
        node_id="i-1", max_volumes_per_node=26, accessible_topology=csi_pb2.Topology(segments={"zone": "a"})
    ),
    "NodeGetCapabilities": csi_pb2.NodeGetCapabilitiesResponse(
        capabilities=[csi_pb2.NodeServiceCapability(rpc=csi_pb2.NodeServiceCapability.RPC(type=1))]
    ),
    "ValidateVolumeCapabilities": csi_pb2.ValidateVolumeCapabilitiesResponse(message="no"),
}
_HUGE = 3 * 2**20


class Csi(grpc.GenericRpcHandler):
    """Responses of a CSI plugin, on the wire; the plugin is another one than is expected."""

    def __init__(self, stack):
        self.given = {}
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="csi-"))
        self.socket = f"{folder}/csi.sock"
        _silence(stack, "grpc")
        server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[self])
        server.add_insecure_port(f"unix:{self.socket}")
        server.start()
        stack.callback(lambda: server.stop(None).wait())

    def make(self, chance):
        """Return changed responses by RPC, as Latin-1 text of their bytes, or the name of a gRPC status."""
        given = {}
        for name in chance.sample(sorted(PLUGIN_REPLIES), 1 + chance.randrange(3)):
            kind = chance.random()
            plain = PLUGIN_REPLIES[name].SerializeToString()
            if kind < 0.1:
                given[name] = {"code": chance.choice([code.name for code in grpc.StatusCode if code.value[0]])}
                given[name]["text"] = mutating.text("no such thing: token=hunter2", chance)
            elif kind < 0.15:
                given[name] = {"fill": chance.choice((300, 2000, 300_000, _HUGE))}
            else:
                given[name] = {"bytes": mutating.content(plain, chance).decode("latin-1")}
        return given

    def check(self, given):
        """Probe it: a report that is not ready, and in time."""
        self.given = given
        report = probe.probe(self.socket, timeout_s=20.0, expect_name="ebs.csi.aws.com")
        validation.ask(self.socket, [_QUESTION], timeout_s=20.0)
        if report.ready:
            return f"false healthy: {report}"
        if report.latency_ms > 30_000:
            return f"overrun: {report.latency_ms} ms"
        return ""

    def service(self, handler_call_details):
        """Return the handler of a call."""
        name = handler_call_details.method.rpartition("/")[2]
        return grpc.unary_unary_rpc_method_handler(lambda _, context: self._reply(name, context))

    def _reply(self, name, context):
        given = self.given.get(name, {})
        if "code" in given:
            context.abort(grpc.StatusCode[given["code"]], given["text"].encode("ascii", "replace").decode())
        if "fill" in given:
            return csi_pb2.GetPluginInfoResponse(name="n" * given["fill"]).SerializeToString()
        if "bytes" in given:
            return given["bytes"].encode("latin-1")
        return PLUGIN_REPLIES[name].SerializeToString() if name in PLUGIN_REPLIES else b""


_QUESTION = records.ValidationQuestion(
    key=("default", "v"), external_id="vol-1", uses=(("single-node-writer", "file-system"),)
)


class Spec:
    """Whole specs."""

    def __init__(self, _stack):
        """Nothing is needed."""

    def make(self, chance):
        """Return a changed spec."""
        found = copy.deepcopy(hostile_specs.SPEC)
        for _ in range(1 + chance.randrange(3)):
            if chance.random() < 0.6:
                *way, last = chance.choice(hostile_specs.PLACES)
                inside = found
                with contextlib.suppress(LookupError, TypeError):
                    for step in way:
                        inside = inside[step]
                    inside[last] = f"{inside[last]}{''.join(hostile.texts(1, chance.randrange(2**32)))}"
            else:
                found = mutating.document(found, chance)
            if not isinstance(found, dict):
                break
        return found

    def check(self, given):
        """Plan and render it, as `check` does: problems with their paths, or a text that no file can hold."""
        try:
            plan = storage.plan_document(given)
        except errors.SpecError as error:
            nameless = [text for each in error.problems if not each.path and "Invalid JSON" not in (text := str(each))]
            return f"a problem without a path: {nameless[0]}" if nameless and isinstance(given, dict) else ""
        with contextlib.suppress(errors.SpecError):
            documents.render_plan(plan, {})
        return ""


TARGETS = {"hcl": Hcl, "nomad": Replies, "csi": Csi, "spec": Spec}
"""Classes of the targets, by name; each is made with an `contextlib.ExitStack` that ends what it starts."""
