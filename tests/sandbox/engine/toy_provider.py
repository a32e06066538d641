"""
A provider of things that are files, for the tests of the engine: started as a process, scripted from outside.

The folder in ``TOY_WORLD`` is its world: ``<id>.json`` for each thing, ``calls.jsonl`` for each call as it began,
``faults.json`` with what shall go wrong:
``{"<Method>:<name>": {"kind": "error" | "init" | "wait" | "die" | "kill", …}}``; ``kill`` ends the engine. An error
with ``after`` waits until a call of that method has begun.

A change of ``zone`` or of ``serialOf`` needs a new thing; every other change is made in place. The old thing is deleted
first when ``deleteFirst`` is set: with ``"changed"`` this is said only of a difference that replaces, as providers do,
else always. ``sameId`` gives all things of one name one id. ``refreshFirst`` asks for a read before each later run.
"""

# ruff: noqa: ARG002, N802, T201  # names and parameters are the protocol's; the port is printed

import contextlib
import json
import os
import signal
import sys
import threading
import time
from concurrent import futures
from pathlib import Path

import grpc
from google.protobuf import any_pb2, empty_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)

from nomad_csi.provider import wire

WORLD = Path(os.environ["TOY_WORLD"])
FORCES_NEW = ("zone", "serialOf")


class Toy(provider_pb2_grpc.ResourceProviderServicer):
    """The provider; one lock, since the order of the calls is part of what tests look at."""

    def __init__(self):
        self.lock = threading.Lock()
        self.cancelled = threading.Event()
        self.engine = None
        self.prefix = ""

    def connect(self, address):
        self.engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))
        self.cancelled.clear()

    def note(self, method, **facts):
        with self.lock, (WORLD / "calls.jsonl").open("a", encoding="utf-8") as calls:
            calls.write(json.dumps({"method": method, "pid": os.getpid(), "at": time.monotonic(), **facts}) + "\n")

    def fault(self, method, name, context, identity="", outputs=None):
        path = WORLD / "faults.json"
        faults = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        fault = faults.get(f"{method}:{name}")
        if not fault:
            return
        if fault["kind"] == "die":
            os._exit(3)
        if fault["kind"] == "kill":
            os.kill(os.getppid(), signal.SIGKILL)
            os._exit(3)  # what the engine started goes with it at once, whichever engine it is
        if fault["kind"] == "wait":
            self.wait(fault, context)
        if fault["kind"] == "meet":
            self.meet(method, fault["count"], context)
        if fault["kind"] == "error":
            if "after" in fault:
                self.meet(fault["after"], 1, context)
            context.abort(grpc.StatusCode.UNKNOWN, fault["message"])
        if fault["kind"] == "init":
            self.init_failure(fault, context, identity, outputs)

    def meet(self, method, count, context):
        """Go on when *count* calls of *method* have begun."""
        end = time.monotonic() + 60
        while sum(json.loads(line)["method"] == method for line in (WORLD / "calls.jsonl").open()) < count:
            if time.monotonic() > end:
                context.abort(grpc.StatusCode.UNKNOWN, "the others did not come")
            time.sleep(0.02)

    def wait(self, fault, context):
        end = time.monotonic() + fault["seconds"]
        while time.monotonic() < end:
            if fault.get("obeys", True) and self.cancelled.wait(0.02):
                context.abort(grpc.StatusCode.CANCELLED, "stopped waiting, as asked")
            time.sleep(0.02)

    def init_failure(self, fault, context, identity, outputs):
        detail = provider_pb2.ErrorResourceInitFailed(
            id=identity, properties=outputs, reasons=[fault["message"]], inputs=outputs
        )
        packed = any_pb2.Any()
        packed.Pack(detail)
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=fault["message"], details=[packed])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, fault["message"])

    def say(self, urn, values):
        for key, ephemeral in (("whisper", True), ("say", False)):
            if values.get(key):
                severity = engine_pb2.INFO
                self.engine.Log(
                    engine_pb2.LogRequest(severity=severity, message=values[key], urn=urn, ephemeral=ephemeral)
                )

    # --- provider protocol
    def Handshake(self, request, context):
        self.connect(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=False)

    def Attach(self, request, context):
        self.connect(request.address)
        return empty_pb2.Empty()

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="1.0.0")

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema='{"name": "toy", "version": "1.0.0"}')

    def CheckConfig(self, request, context):
        values, secrets = wire.load(request.news)
        self.note("CheckConfig", secrets=sorted(secrets))
        if values.get("prefix") == "refuse":
            failure = provider_pb2.CheckFailure(property="", reason="prefix: expected another word")
            return provider_pb2.CheckResponse(failures=[failure])
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request, context):
        values, _ = wire.load(request.args)
        self.prefix = values.get("prefix", "")
        self.note("Configure", prefix=self.prefix)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=False, supportsPreview=True
        )

    def Check(self, request, context):
        values, _ = wire.load(request.news)
        self.note("Check", name=request.name)
        if values.get("value") == "refuse":
            failures = [provider_pb2.CheckFailure(property="", reason="value: expected another word")]
            return provider_pb2.CheckResponse(failures=failures)
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request, context):
        olds, _ = wire.load(request.old_inputs)
        news, _ = wire.load(request.news)
        self.note("Diff", name=request.name, unknown=sorted(k for k, v in news.items() if v == wire.UNKNOWN))
        self.fault("Diff", request.name, context)
        ignored = set(request.ignoreChanges)
        changed = sorted(k for k in {*olds, *news} - ignored if olds.get(k) != news.get(k))
        replaces = [key for key in changed if key in FORCES_NEW]
        kinds = provider_pb2.PropertyDiff
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            replaces=replaces,
            diffs=changed,
            deleteBeforeReplace=news.get("deleteFirst") is True or bool(news.get("deleteFirst") and replaces),
            hasDetailedDiff=True,
            detailedDiff={
                key: kinds(kind=kinds.UPDATE_REPLACE if key in replaces else kinds.UPDATE, inputDiff=True)
                for key in changed
            },
        )

    def Create(self, request, context):
        values, secrets = wire.load(request.properties)
        self.note("Create", name=request.name, preview=request.preview)
        if request.preview:
            return self.preview_create(request, values, secrets)
        with self.lock:
            serial = len(list(WORLD.glob(f"*thing-{request.name}-*.json*"))) + 1
            identity = f"{self.prefix}thing-{request.name}-{1 if values.get('sameId') else serial}"
        self.say(request.urn, values)
        self.fault("Create", request.name, context)
        outputs = wire.dump({**values, "serial": serial, "echo": values.get("value")}, secrets)
        write(identity, values)
        self.note("Made", name=request.name)
        self.fault("Created", request.name, context, identity, outputs)
        return provider_pb2.CreateResponse(
            id=identity, properties=outputs, refresh_before_update=bool(values.get("refreshFirst"))
        )

    def preview_create(self, request, values, secrets):
        identity = f"thing-{request.name}-known" if values.get("knownId") else ""
        outputs = {**values, "serial": wire.UNKNOWN, "echo": values.get("value")}
        return provider_pb2.CreateResponse(id=identity, properties=wire.dump(outputs, secrets))

    def Read(self, request, context):
        self.note("Read", name=request.name, id=request.id)
        self.fault("Read", request.name, context)
        path = WORLD / f"{request.id}.json"
        if not path.exists():
            return provider_pb2.ReadResponse(id="")
        found = json.loads(path.read_text(encoding="utf-8"))
        _, secrets = wire.load(request.inputs)
        old, _ = wire.load(request.properties)
        serial = old.get("serial", int(request.id.rpartition("-")[2]))
        return provider_pb2.ReadResponse(
            id=request.id,
            inputs=wire.dump(found, secrets),
            properties=wire.dump({**found, "serial": serial, "echo": found.get("value")}, secrets),
            refresh_before_update=bool(found.get("refreshFirst")),
        )

    def Update(self, request, context):
        values, secrets = wire.load(request.news)
        olds, _ = wire.load(request.olds)
        self.note("Update", name=request.name, preview=request.preview, old=olds.get("value"))
        outputs = wire.dump({**values, "serial": olds.get("serial"), "echo": values.get("value")}, secrets)
        if not request.preview:
            self.say(request.urn, values)
            self.fault("Update", request.name, context, request.id, outputs)
            write(request.id, values)
        return provider_pb2.UpdateResponse(properties=outputs, refresh_before_update=bool(values.get("refreshFirst")))

    def Delete(self, request, context):
        self.note("Delete", name=request.name, id=request.id)
        self.fault("Delete", request.name, context)
        with contextlib.suppress(FileNotFoundError):  # what is gone already counts as deleted
            (WORLD / f"{request.id}.json").rename(WORLD / f"{request.id}.json.deleted")
        self.note("Deleted", name=request.name, id=request.id)
        return empty_pb2.Empty()

    def Invoke(self, request, context):
        values, _ = wire.load(request.args)
        self.note("Invoke", tok=request.tok)
        if values.get("name") == "refuse":
            failure = provider_pb2.CheckFailure(property="name", reason="expected another word")
            return provider_pb2.InvokeResponse(failures=[failure])
        reply = wire.dump({"greeting": f"hello {values.get('name')}"})
        return provider_pb2.InvokeResponse(**{"return": reply})

    def Cancel(self, request, context):
        self.cancelled.set()
        return empty_pb2.Empty()


def write(identity, values):
    path = WORLD / f"{identity}.json"
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(values), encoding="utf-8")
    draft.replace(path)


def main():
    toy = Toy()
    if len(sys.argv) > 1:
        toy.connect(sys.argv[1])
    server = grpc.server(futures.ThreadPoolExecutor(64))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(toy, server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


main()
