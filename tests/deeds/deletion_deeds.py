"""The cases of a deletion with its data: the requests to Nomad, the calls to AWS or to the plugin, in their order."""

import copy
import datetime as dt
import io
import itertools
import json
import types
from unittest import mock

import botocore.awsrequest

from nomad_csi.aws import calls
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import cluster_identity
from nomad_csi.volumes import deleters, deletion, deletion_proof
from tests.deeds import agent as agents
from tests.deeds import csi_answers, registration_deeds
from tests.deeds import plugin as plugins
from tests.deeds.deeds import Case

REGION = "eu-west-1"
DISK, OTHER_DISK = "vol-00000000000000001", "vol-00000000000000002"
POINT, SYSTEM = "fsap-0123456789abcdef0", "fs-0123456789abcdef0"
KEY = "prod/mysql"
CLUSTER = "11111111-1111"
TAGS = {"nomad-csi:volume": KEY, "nomad-csi:owner": "shop/prod", "nomad-csi:cluster": CLUSTER, "team": "db"}
DELETES = {"DeleteVolume": "ec2", "DeleteAccessPoint": "efs"}
DONE = "<DeleteVolumeResponse xmlns='x'><return>true</return></DeleteVolumeResponse>"
REFUSED = "<Response><Errors><Error><Code>{}</Code><Message>no: password=canary-7</Message></Error></Errors></Response>"
THERE = {"instance_id": "i-1", "state": "attached"}


def _tags(found):
    return [{"Key": key, "Value": value} for key, value in found.items()]


class Body(io.BytesIO):
    """The body of a reply of AWS."""

    def stream(self, *_, **__):
        """Yield all of it."""
        yield self.read()


class World:
    """AWS with one volume or access point, the plugins, the clock, and what happens before a numbered call."""

    def __init__(
        self,
        agent,
        *,
        tags=TAGS,
        attached=(),
        snapshots=("completed",),
        deletes=(),
        stays=0,
        more=(),
        then=None,
        has_point=False,
    ):
        self.agent, self.tags, self.attached = agent, tags, list(attached)
        self.snapshots, self.deletes, self.stays, self.more = list(snapshots), list(deletes), stays, more
        self.then, self.deleted, self.has_point, self.clock = then or {}, False, has_point, plugins.Clock()

    def call(self, service, name, known):
        """Return the reply to a call of AWS, and write it down among the requests to Nomad."""
        requests, fails = self.agent.transport.requests, self.agent.transport.fails
        self.clock.sleep(0.1)
        self.happen(name)
        fault = fails.get(len(requests), "")
        method = "GET" if name.startswith("Describe") else "POST"
        requests.append(((method, f"{service} {name}", known, 30), {"": 200, "refused": "refused"}.get(fault, "lost")))
        return fault

    def happen(self, name):
        """Do what is to happen before the next call *name*."""
        steps = self.then.get(name, [])
        if steps and (step := steps.pop(0)):
            step(self)

    def reply(self, name, known):
        """Return what AWS answers."""
        if name == "DescribeVolumes":
            shown = (
                []
                if self.has_point or (self.deleted and not self.stays)
                else [self.volume(DISK, self.tags), *self.more]
            )
            self.stays -= bool(self.deleted and self.stays)
            return {"Volumes": [each for each in shown if _matches(each, known)]}
        if name == "DescribeAccessPoints":
            point = {
                "FileSystemId": SYSTEM,
                "AccessPointId": POINT,
                "LifeCycleState": "available",
                "Tags": _tags(self.tags),
            }
            return {"AccessPoints": [point] if self.has_point and not self.deleted else []}
        if name == "DescribeSnapshots":
            state = self.snapshots.pop(0) if len(self.snapshots) > 1 else self.snapshots[0]
            if "SnapshotId.1" not in known and state != "before":
                return {"Snapshots": []}
            found = {"SnapshotId": "snap-1", "State": "pending" if state == "before" else state, "Progress": "40%"}
            return {
                "Snapshots": [found | {"StartTime": dt.datetime(2026, 8, 1, tzinfo=dt.UTC)}] if state != "gone" else []
            }
        if name == "DescribeInstances":
            return {"Reservations": [{"Instances": [{"InstanceId": "i-1", "State": {"Name": "running"}}]}]}
        return {"SnapshotId": "snap-9"}

    def volume(self, external_id, tags):
        """Return a volume as EC2 describes it."""
        places = self.attached.pop(0) if len(self.attached) > 1 else (self.attached or [[]])[0]
        places = [] if external_id != DISK else places
        found = [{"InstanceId": each["instance_id"], "State": each["state"], "Device": "/dev/xvdba"} for each in places]
        return {
            "VolumeId": external_id,
            "State": "in-use" if found else "available",
            "Attachments": found,
            "Tags": _tags(tags),
        }


def _matches(volume, known):
    """Return whether EC2 shows *volume* for the one filter."""
    name = known["Filter.1.Name"]
    wanted = {value for key, value in known.items() if key.startswith("Filter.1.Value.")}
    if name == "volume-id":
        return volume["VolumeId"] in wanted
    return bool(wanted & {tag["Value"] for tag in volume["Tags"] if f"tag:{tag['Key']}" == name})


_MADE = {}
"""Clients by service: to create one takes longer than a case."""


def _client(world):
    made = calls.client

    def client(service, aws_region, *, profile=None):
        assert (aws_region, profile) == (REGION, None)
        if service not in _MADE:
            _MADE[service] = made(service, aws_region), types.SimpleNamespace(world=None)
            _serve(service, *_MADE[service])
        found, current = _MADE[service]
        current.world = world
        return found

    return client


def _serve(service, client, current):
    """Have the calls of *client* be answered by the current world."""

    def answer(model, params, **_):
        if model.name in DELETES:
            return None
        known = _known(params["body"], params["url_path"], params["query_string"])
        if fault := current.world.call(service, model.name, known):
            code = "UnauthorizedOperation" if fault == "refused" else "InternalError"
            return types.SimpleNamespace(status_code=400), {"Error": {"Code": code, "Message": "no: password=canary-7"}}
        return types.SimpleNamespace(status_code=200), dict(current.world.reply(model.name, known))

    def send(request, **_):
        world, name = current.world, "DeleteVolume" if service == "ec2" else "DeleteAccessPoint"
        fault = world.call(service, name, {"path": request.url.rpartition("/")[2], "body": str(request.body or "")})
        code = world.deletes.pop(0) if world.deletes else ""
        world.deleted = world.deleted or "NotFound" in code or not (code or fault == "refused")
        code = code or {"refused": "UnauthorizedOperation", "lost": "InternalError"}.get(fault, "")
        return botocore.awsrequest.AWSResponse(request.url, 400 if code else 200, {}, Body(_body(service, code)))

    client.meta.events.register("before-call", answer)
    for name, of in DELETES.items():
        if of == service:
            client.meta.events.register_last(f"before-send.{service}.{name}", send)


def _known(body, path, query):
    if isinstance(body, dict):
        return {name: value for name, value in body.items() if name not in {"Action", "Version"}}
    return {"path": path, **(query or {})}


def _body(service, code):
    if service == "ec2":
        return (REFUSED.format(code) if code else DONE).encode()
    return json.dumps({"ErrorCode": code, "Message": "no"}).encode() if code else b""


class Hooked(agents.Recorded):
    """A transport of which each request takes time."""

    def __init__(self, world, before):
        super().__init__(world.agent.application)
        self.world, self.requests, self.fails = world, before.requests, before.fails

    def exchange(self, call, target, content, timeout_s):
        """Answer a request."""
        self.world.clock.sleep(0.1)
        self.world.happen(f"{call.method} {target.partition('?')[0]}")
        return super().exchange(call, target, content, timeout_s)


class Plugin(plugins.Plugins):
    """The plugin, whose calls stand among the requests to Nomad."""

    def __init__(self, world, answers):
        super().__init__(world.agent, answers)
        self.world, self.clock, self.is_shown = world, world.clock, False

    def answer(self, target, name, request, timeout_s):
        """Write the call down, and return its answer."""
        transport = self.agent.transport
        self.world.happen(name)
        fault = transport.fails.get(len(transport.requests), "")
        sent = json.loads(plugins.json_format.MessageToJson(request))
        method = "POST" if name in {"DeleteVolume", "CreateSnapshot"} else "GET"
        transport.requests.append(((method, f"csi {name}", sent, round(timeout_s)), fault or "answered"))
        found = super().answer(target, name, request, timeout_s)
        if fault:
            return plugins.Answered(
                ("UNAVAILABLE", "broke") if fault == "lost" else ("INTERNAL", "no"), self.clock, 9, 1
            )
        return found


class Cancelled(agents.Cancelled):
    """An interrupt that comes at a numbered wait."""

    def __init__(self, world, at):
        super().__init__()
        self._world, self._left, self._waits = world, at, 0

    def wait(self, timeout=None):
        """Let the time pass."""
        self._world.clock.sleep(timeout or 0)
        self._left -= 1
        self._waits += 1
        messages, before = self._world.agent.messages, f"waits {timeout:.2f} s, {self._waits - 1} times"
        is_again = bool(messages) and messages[-1] == before
        self._waits = self._waits if is_again else 1
        messages[len(messages) - is_again :] = [f"waits {timeout:.2f} s, {self._waits} times"]
        return self._left == 0

    def is_set(self):
        """Return whether it has come."""
        return self._left == 0


def _copied(values):
    """Return *values* with their own lists, which a run empties."""
    if isinstance(values, dict):
        return {name: _copied(value) if isinstance(value, dict | list) else value for name, value in values.items()}
    return list(values)


def _run(call, *, interrupted=-1, answers=None, **more):
    """Return the function of a case: *call* gets the client, and options to complete."""

    def run(agent, _context, _before=None):
        world = World(agent, **_copied(more))
        agent.transport = Hooked(world, agent.transport)
        plugin = Plugin(world, _copied(answers or {}))
        common = {"report": agent.messages.append, "cancelled": Cancelled(world, interrupted)}

        def options(**given):
            return deletion_proof.DeletionOptions(**{"owner": "shop/prod", "aws_region": REGION} | common | given)

        with (
            mock.patch("time.monotonic", world.clock.monotonic),
            mock.patch("time.sleep", world.clock.sleep),
            mock.patch.dict("os.environ", {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}),
            mock.patch.object(calls, "client", _client(world)),
            mock.patch.object(plugins.grpc, "insecure_channel", plugin.connect),
            mock.patch.object(deleters.endpoint, "check"),
            mock.patch.object(calls, "_CHANCE", mock.Mock(uniform=lambda *_: 0.75)),
            csi_answers.last_of_each(),
        ):
            found = call(agent.client(), options)
        agent.messages.append(f"after {world.clock.now_s - 1000:.1f} s")
        return found

    return run


def _request(volume_id="mysql", *, confirmation="", **more):
    key = f"prod/{volume_id}"
    return deletion_proof.DeletionRequest(
        namespace="prod", volume_id=volume_id, confirmation=confirmation or key, **more
    )


def _delete(*requests, **given):
    """Return a call that deletes the volumes of *requests*."""

    def call(client, options):
        return [vars(done) for done in deletion.delete(client, requests or [_request()], options(**given))]

    return call


def _identity(agent):
    items = {
        "Namespace": "default",
        "Path": cluster_identity.PATH,
        "CreateIndex": 5,
        "ModifyIndex": 5,
        "Items": {"id": CLUSTER},
    }
    agent.cluster.state.variables["default", cluster_identity.PATH] = items


def _registered(external_id=DISK, **changes):
    """Return what registers the volume in a cluster that has an identity."""

    def before(agent, context):
        _identity(agent)
        registration_deeds.create(agent, context, externalId=external_id, **changes)

    return before


def _only_identity(agent, _context):
    _identity(agent)


def _also(external_id):
    def before(agent, context):
        _registered()(agent, context)
        known = agent.cluster.state.volumes
        known["prod", "other"] = other = copy.deepcopy(known["prod", "mysql"])
        other.spec.update(ID="other", Name="other", ExternalID=external_id)

    return before


def _claim(agent, context):
    _registered()(agent, context)
    claim = {"Mode": "write", "AccessMode": "single-node-writer", "AttachmentMode": "file-system", "NodeID": "n"}
    agent.cluster.state.volumes["prod", "mysql"].claims["a"] = claim


def _set(agent, context):
    _identity(agent)
    for index in (0, 1):
        registration_deeds.create(agent, context, volumeId=f"mysql[{index}]", name="m", externalId=f"vol-0{index}")


def _register_again(world):
    found = world.agent.cluster.state
    found.volumes["prod", "again"] = world.agent.kept_record


def _kept(before):
    """Return *before*, which also keeps the record of the volume, so that it can be registered again."""

    def run(agent, context):
        before(agent, context)
        agent.kept_record = next(iter(agent.cluster.state.volumes.values()))

    return run


def _slow(world):
    world.clock.sleep(2)


def _without(*names):
    return {name: value for name, value in TAGS.items() if name not in names}


TAGGED = {
    "no volume": _without("nomad-csi:volume"),
    "another volume": TAGS | {"nomad-csi:volume": "prod/other"},
    "no owner": _without("nomad-csi:owner"),
    "another owner": TAGS | {"nomad-csi:owner": "web/prod"},
    "no cluster": _without("nomad-csi:cluster"),
    "another cluster": TAGS | {"nomad-csi:cluster": "22222222-2222"},
    "nothing": {},
}
MADE = {KEY: deletion_proof.MadeStorage(external_id=DISK, cluster=CLUSTER)}
OTHER = {"VolumeId": OTHER_DISK, "State": "available", "Attachments": [], "Tags": _tags(TAGS)}
ELSEWHERE = OTHER | {"Tags": _tags(TAGS | {"nomad-csi:cluster": "22222222-2222"})}
QUICK = {"with_snapshot": False}
BY_AWS = (
    Case(
        "delete", _run(_delete(), snapshots=["", "pending", "pending", "completed"]), before=_registered(), fails=True
    ),
    Case("delete without a snapshot", _run(_delete(**QUICK)), before=_registered()),
    Case(
        "not confirmed", _run(_delete(_request(), _request("other", confirmation="prod/mysql"))), before=_registered()
    ),
    Case("found by its tag", _run(_delete(**QUICK, accepts_unregistered=True)), before=_only_identity),
    Case("found by its tag, not accepted", _run(_delete(**QUICK)), before=_only_identity),
    Case("two are tagged", _run(_delete(**QUICK), more=[OTHER]), before=_only_identity),
    Case(
        "two are tagged, one of another cluster",
        _run(_delete(_request(external_id=""), **QUICK, accepts_unregistered=True), more=[ELSEWHERE]),
        before=_only_identity,
    ),
    Case("none is tagged", _run(_delete(**QUICK), tags={}), before=_only_identity),
    Case("a set", _run(_delete(**QUICK), tags={}), before=_set),
    Case("no region", _run(_delete(**QUICK, aws_region="")), before=_only_identity),
    Case("no region, registered", _run(_delete(**QUICK, aws_region="")), before=_registered()),
    Case("no storage of AWS", _run(_delete(**QUICK)), before=_registered("nfs-1")),
    Case("registered with another", _run(_delete(_request(external_id=OTHER_DISK), **QUICK)), before=_registered()),
    Case("not there", _run(_delete(**QUICK)), before=_registered(OTHER_DISK)),
    Case("gone already", _run(_delete(_request(external_id=OTHER_DISK), **QUICK)), before=_only_identity),
    *(
        Case(f"{how}, tags: {name}", _run(_delete(**QUICK, **given), tags=tags), before=before)
        for (name, tags), (how, before, given) in itertools.product(
            TAGGED.items(),
            [("registered", _registered(), {}), ("made", _only_identity, {"made": MADE, "accepts_unregistered": True})],
        )
    ),
    *(
        Case(f"made: {name}", _run(_delete(_request(**named), **QUICK, made=made), tags={}), before=_only_identity)
        for name, made, named in (
            ("of this cluster", MADE, {}),
            ("of another", {KEY: deletion_proof.MadeStorage(external_id=DISK, cluster="22222222-2222")}, {}),
            ("of an unknown one", {KEY: deletion_proof.MadeStorage(external_id=DISK, cluster="")}, {}),
            (
                "another storage",
                {KEY: deletion_proof.MadeStorage(external_id=OTHER_DISK, cluster=CLUSTER)},
                {"external_id": DISK},
            ),
            ("another volume", {"prod/x": MADE[KEY]}, {"external_id": DISK}),
        )
    ),
    Case("for another stack", _run(_delete(**QUICK, owner="web/prod")), before=_registered()),
    Case("for no stack", _run(_delete(**QUICK, owner="")), before=_registered()),
    Case(
        "owner record of another",
        _run(_delete(**QUICK)),
        before=_registered(owner="web/prod", ownerId="9999999999999999"),
    ),
    Case("registered as another too", _run(_delete(**QUICK)), before=_also(DISK)),
    Case("claimed", _run(_delete(**QUICK)), before=_claim),
    Case("claimed, waits", _run(_delete(**QUICK, wait_s=4)), before=_claim),
    Case("two, the first claimed", _run(_delete(_request(), _request("other"), **QUICK, wait_s=4)), before=_claim),
    Case("attached", _run(_delete(**QUICK), attached=[[THERE]]), before=_registered()),
    Case(
        "attached, waits",
        _run(_delete(**QUICK, wait_s=20), attached=[[THERE], [THERE], [THERE], []]),
        before=_registered(),
    ),
    Case("attached at the last look", _run(_delete(**QUICK), attached=[[], [], [], [THERE]]), before=_registered()),
    Case(
        "registered again before the deletion",
        _run(_delete(**QUICK), then={"GET /v1/volumes": [None, _register_again]}),
        before=_kept(_registered()),
    ),
    Case(
        "registered again at the deletion",
        _run(_delete(**QUICK), then={"DeleteVolume": [_register_again]}),
        before=_kept(_registered()),
    ),
    Case(
        "Nomad is slow at the last look",
        _run(_delete(**QUICK), then={"GET /v1/volumes": [None, _slow, _slow]}),
        before=_registered(),
    ),
    Case(
        "Nomad stays slow", _run(_delete(**QUICK), then={"GET /v1/volumes": [None, *[_slow] * 9]}), before=_registered()
    ),
    *(
        Case(f"EC2 answers {' '.join(codes)}", _run(_delete(**QUICK), deletes=list(codes)), before=_registered())
        for codes in (
            ("VolumeInUse",),
            ("InvalidVolume.NotFound",),
            ("RequestLimitExceeded",),
            ("RequestLimitExceeded",) * 9,
        )
    ),
    Case("it stays for a while", _run(_delete(**QUICK), stays=3), before=_registered()),
    Case("it stays", _run(_delete(**QUICK), stays=999), before=_registered()),
    Case(
        "interrupted before", _run(_delete(**QUICK, wait_s=9), interrupted=1, attached=[[THERE]]), before=_registered()
    ),
    Case("interrupted while it stays", _run(_delete(**QUICK), interrupted=2, stays=9), before=_registered()),
    *(
        Case(
            f"snapshots: {', '.join(states) or 'none'}",
            _run(_delete(snapshot_wait_s=12), snapshots=list(states)),
            before=_registered(),
        )
        for states in (
            ("before", "completed", "", "completed"),
            ("before", "pending"),
            ("", "pending"),
            ("", "error"),
            ("", "gone"),
        )
    ),
    Case(
        "interrupted at the snapshot", _run(_delete(), interrupted=1, snapshots=["", "pending"]), before=_registered()
    ),
    Case("access point", _run(_delete(), has_point=True), before=_registered(f"{SYSTEM}::{POINT}"), fails=True),
    Case(
        "access point, found by its tag",
        _run(_delete(accepts_unregistered=True), has_point=True),
        before=_only_identity,
    ),
    Case("access point of another", _run(_delete(), has_point=True), before=_registered(f"fs-aaaaaaaa::{POINT}")),
    Case(
        "access point: gone meanwhile",
        _run(_delete(), has_point=True, deletes=["AccessPointNotFound"]),
        before=_registered(f"{SYSTEM}::{POINT}"),
    ),
    Case("a file system", _run(_delete()), before=_registered(SYSTEM)),
)
OTHERS = (
    Case(
        "is it there",
        _run(lambda client, options: deletion.observe(client, _request(), options())),
        before=_registered(),
    ),
    Case(
        "is it there: no",
        _run(lambda client, options: deletion.observe(client, _request(), options())),
        before=_registered(OTHER_DISK),
    ),
)
SOCKET = "/run/csi.sock"
CREATES, SNAPSHOTS, LISTS, UNKNOWN = 1, 5, 6, 2
BY_PLUGIN = {
    "endpoint": SOCKET,
    "aws_region": "",
    "made": {KEY: deletion_proof.MadeStorage(external_id="v-1", cluster=CLUSTER)},
}
MORE = BY_PLUGIN | {"secrets": {KEY: {"key": "canary-8"}, "prod/x": {"key": "canary-9"}}, "accepts_unguarded": True}
SNAPSHOT = {"snapshot_id": "snap-1", "source_volume_id": "v-1", "size_bytes": 5, "ready_to_use": True}


def _answers(*abilities, name="ebs.csi.example", **changes):
    """Return the answers of a plugin."""
    capabilities = [plugins.capability("controller", number) for number in abilities]
    ready = csi_pb2.CreateSnapshotResponse(snapshot=SNAPSHOT)
    return {
        "GetPluginInfo": csi_pb2.GetPluginInfoResponse(name=name),
        "ControllerGetCapabilities": csi_pb2.ControllerGetCapabilitiesResponse(capabilities=capabilities),
        "ValidateVolumeCapabilities": [csi_pb2.ValidateVolumeCapabilitiesResponse(), ("NOT_FOUND", "no")],
        "DeleteVolume": csi_pb2.DeleteVolumeResponse(),
        "CreateSnapshot": ready,
        "ListSnapshots": csi_pb2.ListSnapshotsResponse(entries=[{"snapshot": SNAPSHOT}]),
    } | changes


def _of_driver(provider, **changes):
    """Return what registers the volume with a plugin of *provider*."""

    def before(agent, context):
        _registered("v-1", **changes)(agent, context)
        agent.cluster.state.plugins["ebs"].provider = provider

    return before


def _unknown_plugin(agent, context):
    _registered("v-1")(agent, context)
    agent.cluster.state.plugins.clear()


NOT_READY = csi_pb2.CreateSnapshotResponse(snapshot=SNAPSHOT | {"ready_to_use": False})
ANOTHER = csi_pb2.ListSnapshotsResponse(entries=[{"snapshot": SNAPSHOT | {"source_volume_id": "v-2"}}])
ABILITIES = (CREATES, SNAPSHOTS, LISTS)
PLUGIN_CASES = {
    "by its plugin": (ABILITIES, {}, MORE),
    "by its plugin, without a snapshot": (ABILITIES, {}, MORE | QUICK),
    "by its plugin, not accepted": (ABILITIES, {}, BY_PLUGIN),
    "by its plugin: another one": (ABILITIES, {"name": "other.csi.example"}, MORE),
    "by its plugin: deletes nothing": ((UNKNOWN,), {}, MORE),
    "by its plugin: takes no snapshots": ((CREATES,), {}, MORE),
    "by its plugin: takes no snapshots, none wanted": ((CREATES,), {}, MORE | QUICK),
    "by its plugin: lists none": ((CREATES, SNAPSHOTS), {}, MORE),
    "by its plugin: not ready at first": (
        ABILITIES,
        {"CreateSnapshot": [NOT_READY, NOT_READY, _answers()["CreateSnapshot"]]},
        MORE,
    ),
    "by its plugin: never ready": (ABILITIES, {"CreateSnapshot": NOT_READY}, MORE | {"snapshot_wait_s": 3}),
    "by its plugin: lists another": (ABILITIES, {"ListSnapshots": ANOTHER}, MORE),
    "by its plugin: lists not this": (ABILITIES, {"ListSnapshots": csi_pb2.ListSnapshotsResponse()}, MORE),
    "by its plugin: snapshot refused": (ABILITIES, {"CreateSnapshot": ("NOT_FOUND", "no such")}, MORE),
    "by its plugin: deletion refused": (ABILITIES, {"DeleteVolume": ("FAILED_PRECONDITION", "in use")}, MORE),
    "by its plugin: deletion hangs": (ABILITIES, {"DeleteVolume": plugins.HANGS}, MORE),
    "by its plugin: still there": (
        ABILITIES,
        {
            "ValidateVolumeCapabilities": [
                csi_pb2.ValidateVolumeCapabilitiesResponse(),
                ("NOT_FOUND", "x"),
                csi_pb2.ValidateVolumeCapabilitiesResponse(),
            ]
        },
        MORE,
    ),
    "by its plugin: cannot say": (
        ABILITIES,
        {"ValidateVolumeCapabilities": csi_pb2.ValidateVolumeCapabilitiesResponse()},
        MORE,
    ),
    "by its plugin: over TCP": (ABILITIES, {}, MORE | {"endpoint": "10.0.0.9:9000"}),
    "by its plugin: snapshot fails": (ABILITIES, {"CreateSnapshot": ("INTERNAL", "no such luck")}, MORE),
    "by its plugin: deletion fails": (ABILITIES, {"DeleteVolume": ("INTERNAL", "no such luck")}, MORE),
    "by its plugin: gone already": (ABILITIES, {"ValidateVolumeCapabilities": ("NOT_FOUND", "no")}, MORE),
    "by its plugin: a region, too": (ABILITIES, {}, MORE | {"aws_region": REGION}),
    "by its plugin: for no stack": (ABILITIES, {}, MORE | {"owner": ""}),
    "by its plugin: dry run": (ABILITIES, {}, MORE | {"is_dry_run": True}),
}
DRIVERS = {driver.provider: driver for driver in catalogue.DRIVERS.values() if driver.deletion}
CASES = (
    *BY_AWS,
    *OTHERS,
    *(
        Case(
            name,
            _run(_delete(**given), answers=_answers(*abilities, **answers)),
            before=_of_driver("ebs.csi.example"),
            fails=name == "by its plugin",
        )
        for name, (abilities, answers, given) in PLUGIN_CASES.items()
    ),
    *(
        Case(
            f"by its plugin: {name}",
            _run(_delete(**MORE | given), answers=_answers(*abilities, name=name)),
            before=_of_driver(name),
        )
        for name in DRIVERS
        for abilities, given in ((ABILITIES, {}), ((CREATES, SNAPSHOTS), {"accepts_unguarded": False}))
    ),
    Case("by its plugin: has no name yet", _run(_delete(**MORE), answers=_answers(*ABILITIES)), before=_of_driver("")),
    Case("by its plugin: never seen", _run(_delete(**MORE), answers=_answers(*ABILITIES)), before=_unknown_plugin),
    Case("by its plugin: not registered", _run(_delete(**MORE), answers=_answers(*ABILITIES)), before=_only_identity),
    Case(
        "by its plugin: not registered, plugin named",
        _run(_delete(_request(plugin_id="ebs"), **MORE, accepts_unregistered=True), answers=_answers(*ABILITIES)),
        before=_only_identity,
    ),
)
