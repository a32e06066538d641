"""
One desired volume and one record of Nomad's: every command and both resources find the same differences.

The cluster is the emulator, in this process; what is sent is judged by its rules, which the contract suite holds to
those of a real agent.
"""

import dataclasses
import functools
import threading

import pytest

from nomad_csi import errors, nomad
from nomad_csi.diagnosis import claim_replacement, cluster_report, verification
from nomad_csi.frame import resource
from nomad_csi.jobs import apply as apply_jobs
from nomad_csi.nomad import volumes
from nomad_csi.plan import model, registration, storage
from nomad_csi.plan import volumes as planned
from nomad_csi.spec import volume as spec
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import compare, desired, ownership, volume_resource
from nomad_csi_sandbox.nomad import crowd
from tests import volume_files
from tests.diagnosis import report_picture as demo

ID, KEY, IDENTITY = "data", ("default", "data"), "default/data"
HERE, THERE = {"zone": "us-east-1a"}, {"zone": "us-east-1b"}
SHARED = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
READER = registration.Capability(access_mode="multi-node-reader-only", attachment_mode="file-system")
GIB = 2**30
DESIRED = registration.VolumeRegistration(
    volume_id=ID,
    name=ID,
    external_id="fs-0123456789abcdef0:/data",
    plugin_id="aws-efs0",
    capabilities=(SHARED,),
    mount_options=registration.MountOptions(fs_type="nfs4"),
    required_topologies=(HERE,),
    parameters={"type": "a"},
    context={"tier": "fast"},
)
SIZE = {"capacity_min_bytes": GIB, "capacity_max_bytes": 2 * GIB}
HELD_SIZE = {"RequestedCapacityMin": GIB, "RequestedCapacityMax": 2 * GIB, "Capacity": GIB}
CODES = {
    "name": "name-differs",
    "external_id": "external-id-differs",
    "plugin_id": "plugin-id-differs",
    "clone_id": "clone-id-differs",
    "snapshot_id": "snapshot-id-differs",
    "parameters": "parameters-differs",
    "topology_request.required": "topologies-differs",
    "capability": "capabilities-differs",
    "mount_options.fs_type": "fs-type-differs",
    "mount_options.mount_flags": "mount-flags-differs",
    "context": "context-differs",
    "capacity_min": "capacity-differs",
    "capacity_max": "capacity-differs",
}
"""The code of each field, in the order in which fields are shown."""


def places(*segments):
    """Return places as Nomad writes them."""
    return [{"Segments": each} for each in segments]


def modes(*capabilities):
    """Return capabilities as Nomad writes them."""
    return [{"AccessMode": item.access_mode, "AttachmentMode": item.attachment_mode} for item in capabilities]


@dataclasses.dataclass(frozen=True)
class Case:
    """What is desired and held otherwise than in `DESIRED`, and the one answer: fields, each with its effect."""

    name: str
    desired: dict = dataclasses.field(default_factory=dict)
    held: dict = dataclasses.field(default_factory=dict)
    answer: dict = dataclasses.field(default_factory=dict)
    is_made: bool = False
    is_claimed: bool = False

    @property
    def document(self):
        """The desired document; of a made volume without what its plugin answers."""
        own = {"external_id": "", "context": {}} if self.is_made else {}
        return dataclasses.replace(DESIRED, **own | self.desired)

    @property
    def kind(self):
        """The answer in the words of `plan`."""
        kinds = [("replaced", "refused"), ("refused", "refused"), ("in-place", "changes"), ("kept", "ignored")]
        return next((kind for effect, kind in kinds if effect in self.answer.values()), "equal")

    @property
    def is_anew(self):
        """Whether another registration, or other storage, is needed."""
        return bool({"kept", "replaced"} & set(self.answer.values()))


Made = functools.partial(Case, is_made=True)
REQUEST = {"Required": places(HERE), "Preferred": None}
NFS4 = registration.MountOptions(fs_type="nfs4", mount_flags=("tls",))
EXT4 = {"MountOptions": {"FSType": "ext4", "MountFlags": None}}
FLAGS = {"MountOptions": {"FSType": "nfs4", "MountFlags": ["noatime"]}}
TWO = places(HERE, THERE)
ELSEWHERE = {"RequestedTopologies": REQUEST | {"Required": places(THERE)}, "Topologies": places(THERE)}
PREFERRED = {"RequestedTopologies": REQUEST | {"Preferred": places(HERE)}}
BY_KEY = places({"topology": "us-east-1a"})
OTHER_KEY = {"RequestedTopologies": REQUEST | {"Required": BY_KEY}, "Topologies": BY_KEY}
LARGER, CAPPED = SIZE | {"capacity_min_bytes": 2 * GIB}, SIZE | {"capacity_max_bytes": 3 * GIB}
LESS = {"capacity_max_bytes": GIB, "capacity_min_bytes": GIB}

REGISTERED = [
    Case("equal"),
    Case("another external id", held={"ExternalID": "fs-1"}, answer={"external_id": "replaced"}),
    Case("another plugin", held={"PluginID": "aws-ebs0"}, answer={"plugin_id": "replaced"}),
    Case("another name", held={"Name": "x"}, answer={"name": "replaced"}),
    Case("made from a snapshot that is not asked for", held={"SnapshotID": "snap-1"}),
    Case("made from a volume that is not asked for", held={"CloneID": "vol-1"}),
    Case("other parameters", held={"Parameters": {"type": "b"}}, answer={"parameters": "replaced"}),
    Case("parameters to be dropped", {"parameters": {}}, answer={"parameters": "kept"}),
    Case("preferred places that are not asked for", held=PREFERRED),
    Case("places in another order", {"required_topologies": (THERE, HERE)}, {"RequestedTopologies": REQUEST | {"Required": TWO}, "Topologies": TWO}),
    Case("requested places differ, effective ones are equal", held={"RequestedTopologies": REQUEST | {"Required": TWO}}),
    Case("effective places without a request", held={"RequestedTopologies": None}),
    Case("one more effective segment", held={"Topologies": places(HERE | {"rack": "1"})}),
    Case("another place", held=ELSEWHERE, answer={"topology_request.required": "replaced"}),
    Case("registered without a place", held={"RequestedTopologies": None, "Topologies": []}, answer={"topology_request.required": "kept"}),
    Case("capability listed twice", held={"RequestedCapabilities": modes(SHARED, SHARED)}),
    Case("another capability", held={"RequestedCapabilities": modes(READER)}, answer={"capability": "in-place"}),
    Case("capability in use is not desired", {"capabilities": (READER,)}, answer={"capability": "refused"}, is_claimed=True),
    Case("another file system", held=EXT4, answer={"mount_options.fs_type": "in-place"}),
    Case("another file system while in use", held=EXT4, answer={"mount_options.fs_type": "refused"}, is_claimed=True),
    Case("mount flags that are not asked for", held=FLAGS, answer={"mount_options.mount_flags": "in-place"}),
    Case("mount flags on both sides", {"mount_options": NFS4}, FLAGS),
    Case("secrets", {"secrets": {"key": "canary-6d1e"}}),
    Case("another context", held={"Context": {"tier": "slow"}}, answer={"context": "in-place"}),
    Case("a context to be dropped", {"context": {}}, answer={"context": "kept"}),
    Case("in place and only anew", {"context": {}, "capabilities": (READER,)}, answer={"capability": "in-place", "context": "kept"}),
]  # fmt: skip
MADE = [
    Made("made, equal"),
    Made("made with a context and a name of its plugin's", held={"Name": f"{ID}-1", "Context": {}}),
    Made("made from another snapshot", {"snapshot_id": "snap-1"}, {"SnapshotID": "snap-2"}, {"snapshot_id": "replaced"}),
    Made("made from a snapshot, and none is asked for", {}, {"SnapshotID": "snap-2"}, {"snapshot_id": "replaced"}),
    Made("made from another volume", {"clone_id": "vol-1"}, {"CloneID": "vol-2"}, {"clone_id": "replaced"}),
    Made("capacity_min raised", LARGER, HELD_SIZE, {"capacity_min": "in-place"}),
    Made("capacity_max changed", CAPPED, HELD_SIZE, {"capacity_max": "in-place"}),
    Made("capacity_max below the size that it has", LESS, HELD_SIZE | {"Capacity": 2 * GIB}, {"capacity_max": "refused"}),
    Made("no size is asked for any more", held=HELD_SIZE),
    Made("made in the same place by another key", held=OTHER_KEY),
    Made("made in another place", held=ELSEWHERE, answer={"topology_request.required": "replaced"}),
    Made("made with preferred places that are not asked for", held=PREFERRED),
    Made("made with parameters, and none are asked for", {"parameters": {}}, answer={"parameters": "replaced"}),
]  # fmt: skip


def names(cases):
    """Name the parameters by their case."""
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


@pytest.fixture(scope="module")
def agent():
    """An emulated cluster with two healthy plugins, and its client."""
    with demo.running(2, 1) as (host, serving):
        connection = nomad.Connection(address=serving.url)
        with nomad.Nomad(connection) as client:
            yield host, client


@pytest.fixture
def client(agent, case):
    """The client of a cluster that holds the volume of *case*."""
    host, found = agent
    with host.state.lock:
        host.state.volumes.clear()
        crowd.hold(host.state, [volumes.payload(DESIRED)])
        record = host.state.volumes[KEY]
        record.spec |= case.held
        if case.is_claimed:
            crowd.consume(host.state, demo.CONSUMER, [(ID, next(iter(host.state.nodes)))])
            for claim in record.claims.values():
                claim |= {"AccessMode": SHARED.access_mode}
            record.spec |= {"AccessMode": SHARED.access_mode, "AttachmentMode": SHARED.attachment_mode}
    return found


@pytest.fixture
def context(client):
    """What a step of a resource may use."""
    return resource.Context(connect=lambda: client, cancelled=threading.Event())


def plan_of(case):
    """Return a plan that has the volume of *case* alone, of plugins whose jobs are not asked about."""
    document = case.document
    made = spec.CreateSpec(capacity_min_gib=1) if case.is_made else None
    volume_plan = model.VolumePlan(registration=document, source=made, protect=True, adopt=False)
    assert planned.desired_document(volume_plan, {}) == document
    return dataclasses.replace(storage.plan_document(demo.SPEC), volumes=(volume_plan,))


def inputs_of(case):
    """Return the inputs of the resource for the volume of *case*, as its program has them."""
    document = case.document
    own = {
        "capacityMinBytes": document.capacity_min_bytes,
        "capacityMaxBytes": document.capacity_max_bytes,
        "cloneId": document.clone_id,
        "snapshotId": document.snapshot_id,
    }
    given = desired.write_inputs(document) | {name: value for name, value in own.items() if value}
    kind = kind_of(case)
    values, failures = kind.check({name: value for name, value in given.items() if name in kind.declared.inputs})
    assert failures == ()
    return values


def kind_of(case):
    """Return the resource for the volume of *case*."""
    return volume_resource.CreatedVolumeResource() if case.is_made else volume_resource.VolumeRegistrationResource()


def properties_of(answer):
    """Return the properties for the fields of an answer."""
    return {desired.property_path(field).partition(".")[0] for field in answer}


@names(REGISTERED + MADE)
def test_verify_and_report(case, client):
    """A finding for each field, of severity error."""
    plan = plan_of(case)
    expected = sorted(CODES[field] for field in case.answer)

    [status] = verification.Verifier(client, plan).verify().volumes
    shown = cluster_report.build_report(client, cluster_report.ReportOptions(plan=plan, spec="storage.yaml"))
    [reported] = shown.data["volumes"]

    differing = [item for item in status.findings if item.code.endswith("-differs")]
    assert sorted(item.code for item in differing) == expected
    assert {item.severity for item in differing} <= {"error"}
    assert status.status == reported["status"] == ("differs" if expected else "unschedulable")  # no client has its zone
    assert sorted(item.code for item in shown.findings if item.code.endswith("-differs")) == expected


@names(REGISTERED + MADE)
def test_plan(case, client):
    """The state of the volume, and a remark that begins with the path of each field."""
    [item] = [item for item in apply_jobs.plan_changes(client, plan_of(case), {}).items if item.kind == "volume"]

    assert item.state == ("refused" if case.is_anew else case.kind)
    parts = [part.partition(":")[0].strip() for part in "; ".join(item.remarks).split(";")]
    assert [part for part in parts if part in CODES] == [field for field in CODES if field in case.answer]


@names(REGISTERED)
def test_register(case, client):
    """What becomes of the volume; afterwards Nomad has all that it was to change, and nothing else."""
    requester = ownership.Requester(adopts=True)
    [outcome] = applied.apply(client, volume_files.wanted([case.document], requester))

    is_refused = case.kind == "refused" or case.is_anew
    assert outcome.status == ("refused" if is_refused else "updated" if case.kind == "changes" else "unchanged")
    texts = (outcome.reason, *outcome.changes)
    assert {field for field in CODES if any(f"{field}: " in text for text in texts)} == set(case.answer)
    after = compare.compare_volume(case.document, volumes.get(client, *KEY))
    assert {item.field for item in after.differences} == {field for field in case.answer if is_refused}


@names(REGISTERED + MADE)
def test_diff_after_a_refresh(case, client, context):
    """The properties of the fields, and whether the volume is registered again, or replaced."""
    kind, new_inputs = kind_of(case), inputs_of(case)
    held = volumes.get(client, *KEY)
    recorded = new_inputs | {"externalId": held.external_id, "topologies": []} if case.is_made else new_inputs

    inputs, outputs = kind.read(context, IDENTITY, new_inputs, recorded)
    found = kind.diff(IDENTITY, inputs, outputs, new_inputs)

    changed = {path.partition(".")[0].partition("[")[0] for path in (*found.updates, *found.replaces)}
    # A refresh keeps the storage of the state, and names the other one.
    is_of_another = "external_id" in case.answer
    expected = {"otherStorage" if name == "externalId" else name for name in properties_of(case.answer)}
    assert changed == expected
    assert bool(found.replaces) == (case.is_made and case.is_anew)
    assert ("registered again" in found.notice) == (case.is_anew and not case.is_made and not is_of_another)


@names(REGISTERED + MADE)
def test_take_over(case, context):
    """A new resource takes an equal volume over, and refuses one that differs with the properties."""
    kind = kind_of(case)
    try:
        kind.create(context, inputs_of(case))
        message = ""
    except errors.RefusedError as refused:
        message = str(refused)

    paths = {desired.property_path(field) for field in CODES}
    assert {path for path in paths if f" {path}: Nomad has" in message or f" {path}: removed" in message} == {
        desired.property_path(field) for field in case.answer
    }


@names([case for case in REGISTERED if not case.is_claimed])
def test_repair_of_claims(case, client):
    """What would be registered must be what Nomad is to forget."""
    order = claim_replacement.RepairRequest(
        namespace="default", volume_id=ID, document=case.document, source="data.volume.hcl"
    )

    message = claim_replacement.Replacement(client, order).another(volumes.get(client, *KEY))

    assert {field for field in CODES if f"{field}: " in message} == set(case.answer)
