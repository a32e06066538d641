"""The ladder: one step at a time, each asked for, none where two could write afterwards."""

import dataclasses
import json

import pytest

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import claim_repair, claim_replacement
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import ownership
from tests import clocks

ID = "vol-0123456789abcdef0"
ALLOC = "9d1b13f5-503d-3e7e-18c5-f969d58b9143"
ZONE_KEY = "topology.ebs.csi.aws.com/zone"
CANARY = "canary-11c4"
DOCUMENT = registration.VolumeRegistration(
    volume_id="mysql",
    namespace="prod",
    name="mysql",
    external_id=ID,
    plugin_id="aws-ebs0",
    capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    mount_options=registration.MountOptions(fs_type="ext4"),
    secrets={"password": CANARY},
)
FREE = volumes.payload(DOCUMENT) | {"Secrets": None, "WriteAllocs": {}, "ReadAllocs": {}, "Allocations": []}
ENDED = {
    "ID": ALLOC,
    "JobID": "db",
    "Namespace": "prod",
    "NodeID": "id-a",
    "NodeName": "a",
    "ClientStatus": "complete",
    "DesiredStatus": "stop",
}
STUCK = FREE | {"WriteAllocs": {ALLOC: None}, "Allocations": [ENDED]}
VANISHED = FREE | {"WriteAllocs": {ALLOC: None}}
RUNNING = STUCK | {"Allocations": [ENDED | {"ClientStatus": "running"}]}
CONTROLLER = {"AllocID": "c", "Healthy": True, "ControllerInfo": {}}
PLUGIN = {"ID": "aws-ebs0", "ControllerRequired": True, "Controllers": {"id-a": CONTROLLER}, "Nodes": {}}
NODE = {"ID": "id-a", "Name": "a", "Status": "ready", "SchedulingEligibility": "eligible"}
PATH = "/v1/volume/csi/mysql"
GC = "/v1/system/gc"
DETACH = f"{PATH}/detach"
UNABLE = (500, "Unknown allocation")
AVAILABLE = aws_records.AttachedVolume(external_id=ID, state="available")
GONE_IN_EC2 = aws_records.AttachedVolume(external_id=ID, state=aws_records.MISSING)
ATTACHED = aws_records.AttachedVolume(
    external_id=ID,
    state="in-use",
    attachments=(
        aws_records.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running"),
    ),
)
AGAIN = "`nomad-csi claims repair prod/mysql --from mysql.volume.hcl` with the other options of the repair"
NOTE = f"/v1/var/{claim_replacement.note_path('mysql')}"
ALL = {"document": DOCUMENT, "source": "mysql.volume.hcl", "aws_region": "us-east-1"}


@pytest.fixture
def cluster(scripted):
    """A Nomad with a client and a healthy controller, that collects garbage to no avail and cannot detach."""
    scripted.reply("GET", "/v1/plugin/csi/aws-ebs0", 200, PLUGIN)
    scripted.reply("GET", "/v1/nodes", 200, [NODE])
    scripted.reply("GET", "/v1/node/id-a", 200, NODE | {"Attributes": {}, "Meta": {}})
    scripted.reply("PUT", GC, 200, "")
    scripted.reply("DELETE", DETACH, *UNABLE)
    scripted.reply("DELETE", PATH, 200, "")
    scripted.reply("PUT", NOTE, 200, {})
    scripted.reply("DELETE", NOTE, 204, "")
    return scripted


def is_forced(scripted):
    return any("force=true" in path for path, _ in scripted.sent("DELETE"))


@pytest.fixture(autouse=True)
def ec2(cluster, monkeypatch):
    """Say what EC2 answers, before the volume is forgotten and after it: ``ec2(ATTACHED, then=AVAILABLE)``."""

    def script(before, then=None):
        def look(_external_ids, _aws_region, **_):
            answer = then if then and is_forced(cluster) else before
            if isinstance(answer, Exception):
                raise answer
            return aws_records.ObservedAttachments(volumes={ID: answer})

        monkeypatch.setattr(ebs_volumes, "read_attachments", look)

    script(AVAILABLE)
    return script


@pytest.fixture
def repair(cluster):
    """Walk the ladder: ``repair(answers=[True, False], document=...)``; each question is answered with yes else."""
    said = {"asked": [], "told": []}

    def run(answers=(), **words):
        queue = list(answers)

        def ask(question):
            said["asked"].append(question)
            return queue.pop(0) if queue else True

        order = claim_repair.RepairRequest(namespace="prod", volume_id="mysql", **({"wait_s": 0.001} | words))
        connection = nomad.Connection(address=cluster.address)
        with nomad.Nomad(connection, timeout_s=60.0, clock=clocks.Clock()) as client:
            return claim_repair.repair(client, order, ask=ask, report=said["told"].append)

    run.said = said
    return run


def written(scripted):
    """Return every request that is no read."""
    return [f"{method} {path}" for method, path, _ in scripted.requests if method != "GET"]


def test_volume_that_nothing_claims_needs_no_repair(repair, cluster):
    """No step, no question."""
    cluster.reply("GET", PATH, 200, FREE)

    done = repair()

    assert (done.status, done.steps, done.is_done) == ("free", (), True)
    assert done.reason == "nothing claims it; EC2 was not asked whether it is detached (--aws-region)"
    assert repair(aws_region="us-east-1").reason == f"nothing claims it; {ID} is available"
    cluster.replies["GET", PATH] = [(200, FREE | {"MountOptions": {"FSType": "xfs"}})]
    assert repair(**ALL).status == "free"
    assert written(cluster) == []


@pytest.mark.parametrize(("status", "told"), [(403, []), (500, ["the note of the repair stays: GET /v1/var/n"])])
def test_note_that_cannot_be_removed_is_told(repair, cluster, status, told):
    """A token that may not read it has written none."""
    cluster.reply("GET", PATH, 200, FREE)
    cluster.reply("GET", NOTE, status, "x")

    assert repair(**ALL).status == "free"
    assert [line[:43] for line in repair.said["told"]] == told


def test_volume_that_is_not_there(repair, cluster):
    """Nothing to repair."""
    cluster.reply("GET", PATH, 404, "volume not found")

    assert repair(source="mysql.volume.hcl").reason == (
        "Nomad has no such volume, and no repair of it was interrupted, by its note; "
        "`nomad-csi apply mysql.volume.hcl` registers it, if it is to be there"
    )
    assert written(cluster) == []


def test_running_allocation_is_never_disturbed(repair, cluster):
    """Its job is to be stopped by whoever runs it."""
    cluster.reply("GET", PATH, 200, RUNNING)

    done = repair(**ALL)

    assert done.status == "held"
    assert done.reason == (
        f"it is in use: job prod/db (write, allocation {ALLOC}, running on node a); stop these jobs first"
    )
    assert written(cluster) == []


def test_running_allocation_beside_one_that_ended_is_not_disturbed_either(repair, cluster):
    """One that uses the volume is enough: nothing is collected, detached or forced."""
    other = ENDED | {"ID": "0b1f2c7e-2f6d-4a9e-8a8b-5c0d6f4c9a11", "ClientStatus": "running", "DesiredStatus": "run"}
    claims = {"WriteAllocs": {ALLOC: None, other["ID"]: None}, "Allocations": [ENDED, other]}
    cluster.reply("GET", PATH, 200, FREE | claims)

    done = repair(**ALL)

    assert (done.status, done.steps, written(cluster)) == ("held", (), [])


def test_claim_that_goes_by_itself_is_waited_for(repair, cluster):
    """The first step asks nothing and sends nothing."""
    for state in (*[STUCK] * 5, FREE):
        cluster.reply("GET", PATH, 200, state)

    done = repair(wait_s=10)

    assert (done.status, done.steps) == ("free", ("wait",))
    assert (repair.said["asked"], written(cluster)) == ([], [])


def test_freed_volume_that_is_still_attached_is_not_free(repair, cluster, ec2):
    """EC2 has the last word."""
    ec2(ATTACHED)
    cluster.reply("GET", PATH, 200, FREE)

    done = repair(**ALL)

    assert (done.status, done.is_done) == ("attached", False)
    assert done.reason == f"nothing claims it, but {ATTACHED}; detach it before anything claims it"


def test_garbage_collection_is_asked_for_and_may_be_all(repair, cluster):
    """It says that it forgets more than this volume's claims."""
    for state in (*[STUCK] * 6, FREE):
        cluster.reply("GET", PATH, 200, state)

    done = repair()

    assert (done.status, done.steps) == ("free", ("wait", "gc"))
    [question] = repair.said["asked"]
    assert "in the whole cluster" in question
    assert written(cluster) == [f"PUT {GC}?namespace=default"]


def test_step_that_is_not_wanted_ends_the_repair(repair, cluster):
    """Nothing is sent after a no."""
    cluster.reply("GET", PATH, 200, STUCK)

    done = repair(answers=[False], **ALL)

    assert (done.status, done.reason) == ("declined", "not wanted: step 2: have Nomad collect garbage")
    assert written(cluster) == []


def test_server_that_cannot_detach_is_told(repair, cluster):
    """And the ladder goes on."""
    cluster.reply("GET", PATH, 200, STUCK)

    done = repair()

    assert any(line.startswith("not detached from a: ") for line in repair.said["told"])
    assert done.status == "refused"


def test_nothing_is_detached_on_a_client_that_is_down(repair, cluster):
    """It could not unmount."""
    cluster.replies["GET", "/v1/nodes"] = [(200, [NODE | {"Status": "down"}])]
    cluster.reply("GET", PATH, 200, STUCK)

    assert repair().steps == ("wait", "gc")
    assert cluster.sent("DELETE") == []


def test_volume_that_can_be_detached_is_free(repair, cluster):
    """The third step, for each client of its claims, whatever comes of the one before."""
    other = ENDED | {"ID": ALLOC[::-1], "NodeID": "id-b", "NodeName": "b"}
    both = STUCK | {"WriteAllocs": {ALLOC: None, other["ID"]: None}, "Allocations": [other, ENDED]}
    cluster.replies["GET", "/v1/nodes"] = [(200, [NODE, NODE | {"ID": "id-b", "Name": "b"}])]
    cluster.replies["DELETE", DETACH] = [UNABLE, (200, {})]
    cluster.reply("GET", PATH, 200, lambda: FREE if len(cluster.sent("DELETE")) > 1 else both)

    done = repair()

    assert (done.status, done.steps) == ("free", ("wait", "gc", "detach"))
    assert [path.partition("node=")[2][:4] for path, _ in cluster.sent("DELETE")] == ["id-a", "id-b"]
    assert [line[:24] for line in repair.said["told"][-2:]] == ["not detached from a: DEL", "waiting for b to release"]


@pytest.mark.parametrize(("answer", "steps"), [((403, "Permission denied"), ("wait",)), ((0, None), ("wait", "gc"))])
def test_collection_that_fails_is_told_and_waited_for_where_it_may_have_begun(repair, cluster, answer, steps):
    """And the ladder goes on."""
    cluster.replies["PUT", GC] = [answer]
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair()

    assert (done.status, done.steps) == ("refused", steps)
    assert repair.said["told"][2].startswith("garbage was not collected, as far as is known: PUT /v1/system/gc")


def test_collection_that_was_not_delivered_ends_the_repair(repair, cluster):
    """Nomad could not be asked: nothing is forced."""
    cluster.replies[("PUT", GC)] = [(500, "No cluster leader")]
    cluster.reply("GET", PATH, 200, VANISHED)

    with pytest.raises(errors.NomadApiError, match="No cluster leader"):
        repair(**ALL)

    assert not is_forced(cluster)


@pytest.mark.parametrize("index", [0, 12])
def test_last_step_forgets_and_registers_again(repair, cluster, index):
    """With the secrets and mount flags of the file, and with EC2's word in the question; a note that is left goes."""
    if index:
        cluster.reply("GET", NOTE, 200, {"Path": NOTE, "Items": {}, "ModifyIndex": index})
    cluster.reply("GET", PATH, 200, VANISHED)
    cluster.reply("PUT", PATH, 200, {"Volumes": []})

    done = repair(**ALL)

    assert (done.status, done.steps) == ("registered", ("wait", "gc", "force", "register"))
    assert done.reason == "registered again from mysql.volume.hcl, without the claims"
    assert written(cluster)[1:] == [
        f"PUT {NOTE}?namespace=prod&cas={index}",
        f"DELETE {PATH}?namespace=prod&force=true",
        f"PUT {PATH}?namespace=prod",
        *([f"DELETE {NOTE}?namespace=prod&cas={index}"] if index else []),
    ]
    assert cluster.sent("PUT")[-1][1]["Volumes"][0]["Secrets"] == {"password": CANARY}
    assert repair.said["asked"][-1].endswith(f"EC2: {ID} is available")


@pytest.mark.parametrize(
    "asked_for", [None, [{"Segments": {ZONE_KEY: "us-east-1a"}}, {"Segments": {ZONE_KEY: "us-east-1b"}}]]
)
def test_last_step_registers_the_places_that_the_volume_has(repair, cluster, asked_for):
    """Not those that were asked for when a plugin made it: Nomad takes the places of a first registration from them."""
    place = {"Segments": {ZONE_KEY: "us-east-1a"}}
    requested = {"RequestedTopologies": {"Required": asked_for, "Preferred": None}} if asked_for else {}
    cluster.reply("GET", PATH, 200, VANISHED | {"Topologies": [place]} | requested)
    cluster.reply("PUT", PATH, 200, {"Volumes": []})
    document = dataclasses.replace(DOCUMENT, required_topologies=({ZONE_KEY: "us-east-1a"},))

    done = repair(**ALL | {"document": document})

    assert (done.status, done.reason) == ("registered", "registered again from mysql.volume.hcl, without the claims")
    [sent] = cluster.sent("PUT")[-1][1]["Volumes"]
    assert sent["RequestedTopologies"]["Required"] == [place]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({}, "name a spec or volume file of it with --from"),
        ({"document": DOCUMENT, "source": "f"}, f"name --aws-region, so that EC2 says where {ID} is attached"),
    ],
)
def test_nothing_is_forced_without(repair, cluster, words, reason):
    """Without a registration there would be none afterwards; without EC2 nobody knows who writes."""
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(**words)

    assert done.status == "refused"
    assert done.reason.endswith(reason)
    assert written(cluster) == [f"PUT {GC}?namespace=default"]


def test_nothing_is_forced_for_another_registration(repair, cluster):
    """What would be registered has to be what Nomad would forget; that is compared before garbage is collected."""
    cluster.reply("GET", PATH, 200, VANISHED | {"ExternalID": "vol-99999999", "MountOptions": {"FSType": "xfs"}})

    done = repair(**ALL)

    assert done.status == "refused"
    assert 'external_id: Nomad has "vol-99999999"' in done.reason
    assert 'mount_options.fs_type: Nomad has "xfs"' in done.reason
    assert written(cluster) == []


CREATED = dataclasses.replace(
    DOCUMENT,
    external_id="",
    capacity_min_bytes=2**30,
    mount_options=registration.MountOptions(fs_type="ext4", mount_flags=("noatime",)),
)
"""As a spec has a volume that its plugin creates: without an external id."""

MADE = {
    "MountOptions": {"FSType": "ext4", "MountFlags": ["[REDACTED]"]},
    "Name": "mysql-4be1",
    "Context": {"serial": "7"},
    "Capacity": 2**30,
    "RequestedCapacityMin": 2**30,
}
"""What the plugin answered."""


def test_volume_that_its_plugin_created_is_registered_again_with_its_storage(repair, cluster):
    """With the name, by which the plugin finds it, and the context that the plugin answered."""
    cluster.reply("GET", PATH, 200, VANISHED | MADE)
    cluster.reply("PUT", PATH, 200, {"Volumes": []})

    done = repair(**ALL | {"document": CREATED})

    assert done.status == "registered", done.reason
    [sent] = cluster.sent("PUT")[-1][1]["Volumes"]
    assert (sent["ExternalID"], sent["Name"], sent["Context"]) == (ID, "mysql-4be1", {"serial": "7"})
    assert sent["MountOptions"] == {"FSType": "ext4", "MountFlags": ["noatime"]}
    assert sent["Secrets"] == {"password": CANARY}


def test_interrupted_repair_of_a_volume_that_its_plugin_created_goes_on(repair, cluster, monkeypatch):
    """The note has its storage, name, topologies and context, and no secret."""
    place = {"Segments": {ZONE_KEY: "us-east-1a"}}
    cluster.reply("GET", PATH, 200, VANISHED | MADE | {"Topologies": [place]})
    with monkeypatch.context() as patched:
        patched.setattr(claim_replacement.Replacement, "register", interrupt)
        with pytest.raises(KeyboardInterrupt):
            repair(**ALL | {"document": CREATED})
    [noted] = [body["Items"] for path, body in cluster.sent("PUT") if path.startswith(NOTE)]
    cluster.replies[("GET", NOTE)] = [(200, {"Path": NOTE.removeprefix("/v1/var/"), "Items": noted, "ModifyIndex": 12})]
    cluster.replies[("GET", PATH)] = [(404, "volume not found")]
    cluster.reply("PUT", PATH, 200, {"Volumes": []})

    done = repair(**ALL | {"document": CREATED})

    assert done.status == "registered", done.reason
    [sent] = cluster.sent("PUT")[-1][1]["Volumes"]
    assert (sent["ExternalID"], sent["Name"], sent["Context"]) == (ID, "mysql-4be1", {"serial": "7"})
    assert sent["RequestedTopologies"]["Required"] == [place]
    assert noted | {"begun": ""} == {
        "volume_id": "mysql",
        "external_id": ID,
        "plugin_id": "aws-ebs0",
        "name": "mysql-4be1",
        "begun": "",
        "topologies": json.dumps([place["Segments"]]),
        "context": '{"serial": "7"}',
    }


def test_note_completes_what_a_file_does_not_say():
    """The topologies are always its own."""
    note = claim_replacement.RepairNote(context='{"a": "1"}', topologies='[{"zone": "a"}]')
    whole = dataclasses.replace(DOCUMENT, context={"b": "2"}, required_topologies=({"zone": "b"},))

    found = [each.completed(item) for each in (note, claim_replacement.RepairNote()) for item in (whole, DOCUMENT)]

    assert [(item.context, item.required_topologies) for item in found] == [
        ({"b": "2"}, ({"zone": "a"},)),
        ({"a": "1"}, ({"zone": "a"},)),
        ({"b": "2"}, ({"zone": "b"},)),
        ({}, ()),
    ]


def interrupt(*_):
    raise KeyboardInterrupt


def test_without_a_file_it_is_said_first_that_the_last_step_is_not_taken(repair, cluster):
    """Before garbage is collected in the whole cluster."""
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(answers=[False])

    assert done.status == "declined"
    assert repair.said["told"] == [
        claim_replacement.WITHOUT_DOCUMENT,
        "step 1: waiting up to 0.001 s for the claims to go",
    ]


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (
            ATTACHED,
            f"{ATTACHED}; make sure that nothing there uses it, detach it with `aws ec2 detach-volume --volume-id {ID}`, "
            "and run this again",
        ),
        (GONE_IN_EC2, f"{GONE_IN_EC2} in us-east-1; check what became of it first"),
    ],
)
def test_nothing_is_forced_while_ec2_has_it_attached(repair, cluster, ec2, seen, reason):
    """Whoever claimed it next would be the second to write; nor where EC2 does not have it."""
    ec2(seen)
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(**ALL)

    assert (done.status, done.reason) == ("refused", reason)
    assert written(cluster) == [f"PUT {GC}?namespace=default"]


@pytest.mark.parametrize(("name", "is_kept"), [({"created_name": "mysql-1"}, True), ({}, False)])
def test_nothing_is_forced_while_other_storage_is_kept_for_the_id(repair, preview, cluster, name, is_kept):
    """Its owner record would lose that; one without the name of storage keeps none, and its owner stays the owner."""
    items = {"owner": "shop/prod", "stack_id": "cafe", "external_id": "vol-9"} | name
    path = f"/v1/var/{ownership.path_of('mysql')}"
    cluster.reply("GET", path, 200, {"Path": path.removeprefix("/v1/var/"), "Items": items, "ModifyIndex": 7})
    cluster.reply("GET", PATH, 200, VANISHED)
    cluster.reply("PUT", PATH, 200, {"Volumes": []})

    assert preview(**ALL)[-1].startswith("step 4 is not taken: its owner record keeps vol-9 for it") is is_kept
    done = repair(**ALL)

    reasons = (
        "registered again from mysql.volume.hcl, without the claims",
        "its owner record keeps vol-9 for it; nothing was changed",
    )
    assert (done.status, done.reason) == (("registered", "refused")[is_kept], reasons[is_kept])
    assert is_forced(cluster) is not is_kept


def test_nothing_is_forced_that_was_attached_during_the_question(repair, cluster, monkeypatch):
    """EC2 is asked again after the yes."""
    cluster.reply("GET", PATH, 200, VANISHED)

    def look(_external_ids, _aws_region, **_):
        asked = repair.said["asked"]
        return aws_records.ObservedAttachments(
            volumes={ID: ATTACHED if asked and asked[-1].startswith("step 4") else AVAILABLE}
        )

    monkeypatch.setattr(ebs_volumes, "read_attachments", look)

    assert repair(**ALL).status == "refused"
    assert written(cluster) == [f"PUT {GC}?namespace=default"]


def test_nothing_is_forced_while_the_controller_is_down(repair, cluster):
    """Nomad would not register it again."""
    cluster.replies[("GET", "/v1/plugin/csi/aws-ebs0")] = [(200, PLUGIN | {"Controllers": {}})]
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(**ALL)

    assert done.status == "refused"
    assert done.reason == (
        "0 controllers, none healthy; make a controller healthy before you stop, drain, move or repair anything: `nomad plugin "
        "status aws-ebs0` lists them with their allocations"
    )
    assert written(cluster) == []


@pytest.mark.parametrize(
    ("then", "why"),
    [
        (ATTACHED, ATTACHED),
        (GONE_IN_EC2, GONE_IN_EC2),
        (errors.AwsError("throttled"), "EC2 did not say whether it is free: throttled"),
    ],
)
def test_attachment_that_shows_after_the_force_leaves_it_unregistered(repair, cluster, ec2, then, why):
    """Nobody may claim it then; the way on is told."""
    ec2(AVAILABLE, then=then)
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(**ALL)

    assert (done.status, done.steps) == ("deregistered", ("wait", "gc", "force"))
    assert done.reason == (
        f"it is NOT registered, as far as is known: {why}; when that is settled, {AGAIN} registers it"
    )
    assert [line for line in written(cluster) if line.startswith("PUT /v1/volume")] == []


def test_refused_registration_tells_the_way_on_and_no_secret(repair, cluster):
    """Nomad may repeat what it was sent."""
    cluster.reply("GET", PATH, 200, VANISHED)
    cluster.reply("PUT", PATH, 500, f"controller validate volume: bad password {CANARY}")

    done = repair(**ALL)

    assert done.status == "deregistered"
    assert "bad password" in done.reason
    assert CANARY not in str(done.as_json()) + "".join(repair.said["asked"] + repair.said["told"])


@pytest.mark.parametrize(
    ("answer", "status", "begin", "end"),
    [
        (
            (500, "volume in use: mysql"),
            "held",
            "DELETE /v1/volume/csi/mysql: status 500: ",
            "wait until the claims are free",
        ),
        ((0, None), "deregistered", "it may not be registered now: ", f"; {AGAIN} registers it where it is not"),
        ((429, "slow"), "refused", "DELETE /v1/volume/csi/mysql: status 429: slow", "100 of one address"),
    ],
)
def test_force_that_nomad_refuses_or_does_not_answer_ends_the_repair(repair, cluster, answer, status, begin, end):
    """It refuses atomically where an allocation came back; the next run finds the note, or the volume."""
    cluster.replies[("DELETE", PATH)] = [answer]
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(**ALL)

    assert (done.status, done.steps) == (status, ("wait", "gc"))
    assert (done.reason.startswith(begin), done.reason.endswith(end)) == (True, True), done.reason
    assert [line for line in written(cluster) if line.startswith("PUT /v1/volume")] == []


def noted(cluster):
    """Let the scripted Nomad hold the note that was written."""
    [note] = [body for path, body in cluster.sent("PUT") if path.startswith(NOTE)]
    cluster.replies[("GET", NOTE)] = [(200, note | {"ModifyIndex": 12})]


@pytest.mark.parametrize("step", ["step 2", "step 3", "step 4"])
@pytest.mark.parametrize("other", [{"ExternalID": "vol-0fedcba9876543210"}, {"CreateIndex": 900}, {"PluginID": "x"}])
def test_volume_that_was_registered_anew_during_a_question_is_left_alone(repair, cluster, step, other):
    """A colleague restored it from a snapshot meanwhile: neither detached, forgotten nor pointed at the old storage."""
    cluster.reply("GET", PATH, 200, STUCK)
    take = cluster._take

    def answer(method, path):
        asked = repair.said["asked"]
        if (method, path) == ("GET", PATH) and asked and asked[-1].startswith(step):
            return 200, STUCK | other
        return take(method, path)

    cluster._take = answer

    done = repair(**ALL)

    held = STUCK | other
    assert (done.status, repair.said["asked"][-1].partition(":")[0]) == ("refused", step)
    assert done.reason == (
        f"it was registered again meanwhile, as {held['ExternalID']} of plugin {held['PluginID']}; check it, and "
        "run this again if it is needed"
    )
    assert not any(line.startswith((f"DELETE {PATH}?", f"PUT {PATH}", f"PUT {NOTE}")) for line in written(cluster))


@pytest.mark.parametrize("at", ["forget", "register"])
def test_interrupted_repair_says_how_to_go_on_and_does(repair, cluster, monkeypatch, at):
    """Ctrl-C or SIGTERM between the halves: the same command finds the note, and registers the volume."""
    cluster.reply("GET", PATH, 200, VANISHED)
    cluster.reply("PUT", PATH, 200, {"Volumes": []})

    with monkeypatch.context() as patched:
        patched.setattr(claim_replacement.Replacement, at, interrupt)
        with pytest.raises(KeyboardInterrupt):
            repair(**ALL)
    assert repair.said["told"][-1] == f"prod/mysql may not be registered now: {AGAIN} registers it again"
    noted(cluster)
    cluster.replies[("GET", PATH)] = [(404, "volume not found")]
    before = len(written(cluster))

    done = repair(**ALL)

    assert (done.status, done.steps) == ("registered", ("register",))
    assert done.reason == "registered again from mysql.volume.hcl, which an interrupted repair had not done"
    assert repair.said["asked"][-1].startswith("step 4, continued: a repair that began at 20")
    assert written(cluster)[before:] == [f"PUT {PATH}?namespace=prod", f"DELETE {NOTE}?namespace=prod&cas=12"]
    assert cluster.sent("PUT")[-1][1]["Volumes"][0]["Secrets"] == {"password": CANARY}


@pytest.mark.parametrize("other", [{}, {"ExternalID": "vol-11111111"}], ids=["the same", "another"])
def test_resumed_repair_leaves_alone_what_was_registered_during_the_question(repair, left, monkeypatch, other):
    """Somebody registered the volume while the question waited for its answer: nothing is sent over that."""
    confirm = claim_repair._Ladder._confirm

    def answered(self, question):
        confirm(self, question)
        left.replies["GET", PATH] = [(200, FREE | other)]

    monkeypatch.setattr(claim_repair._Ladder, "_confirm", answered)

    done = repair(**ALL)

    assert repair.said["asked"][-1].startswith("step 4, continued: ")
    assert (done.status, done.steps, written(left)) == ("refused", (), [])


def test_volume_with_secrets_is_not_deregistered_where_a_read_would_erase_them(repair, cluster):
    """Whether it was registered again could not be read back."""
    cluster.reply("GET", PATH, 200, VANISHED)
    server = {"Name": "a", "Status": "alive", "Tags": {"build": "1.10.6", "region": "global"}}
    cluster.reply("GET", "/v1/agent/members", 200, {"ServerRegion": "global", "Members": [server]})

    done = repair(**ALL)

    assert done.status == "refused"
    assert "it has secrets, and reading a volume can erase its secrets in Nomad (a with 1.10.6)" in done.reason
    assert [path.partition("?")[0] for method, path, _ in cluster.requests if method != "GET"] == ["/v1/system/gc"]


@pytest.fixture
def left(cluster):
    """A volume that Nomad does not have, and the note of the repair that took it out."""
    items = {"volume_id": "mysql", "external_id": ID, "plugin_id": "aws-ebs0", "begun": "2026-11-22 03:00"}
    cluster.replies[("GET", NOTE)] = [(200, {"Path": NOTE.removeprefix("/v1/var/"), "Items": items, "ModifyIndex": 12})]
    cluster.reply("GET", PATH, 404, "volume not found")
    cluster.reply("PUT", PATH, 200, {"Volumes": []})
    return cluster


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (
            {},
            "deregistered",
            "a repair that began at 2026-11-22 03:00 UTC deregistered it and did not register it again; "
            "`nomad-csi claims repair prod/mysql --from 'SPEC|FILE'` with the other options of the repair does",
        ),
        (
            ALL | {"document": dataclasses.replace(DOCUMENT, external_id="vol-99999999")},
            "refused",
            "mysql.volume.hcl is not what Nomad held: it has vol-99999999 of plugin aws-ebs0, the interrupted repair "
            f"had {ID} of plugin aws-ebs0",
        ),
        (
            ALL | {"document": dataclasses.replace(DOCUMENT, plugin_id="aws-ebs1")},
            "refused",
            f"mysql.volume.hcl is not what Nomad held: it has {ID} of plugin aws-ebs1, the interrupted repair had {ID} "
            "of plugin aws-ebs0",
        ),
        (ALL | {"aws_region": ""}, "refused", f"name --aws-region, so that EC2 says where {ID} is attached"),
        (
            ALL | {"answers": [False]},
            "declined",
            "not wanted: step 4, continued: a repair that began at 2026-11-22 03:00",
        ),
    ],
)
def test_interrupted_repair_is_not_continued_without(repair, left, words, status, reason):
    """The registration of the volume that was taken out, EC2's answer, and a yes."""
    done = repair(**words)

    assert done.status == status
    assert done.reason.startswith(reason)
    assert written(left) == []


def test_interrupted_repair_is_not_continued_beside_another_writer_of_the_storage(repair, preview, left):
    """Another team registered the free storage meanwhile: two volumes for one writer would lose data."""
    mode = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
    other = {"ID": "b", "Namespace": "bank", "Name": "b", "ExternalID": ID, "PluginID": "aws-ebs0"}
    left.reply("GET", "/v1/volumes", 200, [other])
    left.reply("GET", "/v1/volume/csi/b", 200, other | {"RequestedCapabilities": mode})

    done = repair(**ALL)

    assert (done.status, done.steps, written(left)) == ("refused", (), [])
    assert "bank/b" in done.reason
    with pytest.raises(errors.RefusedError, match="bank/b"):
        preview(**ALL)


def test_storage_of_several_clients_is_registered_again_beside_its_other_volume(repair, left):
    """As it was, although that one was registered before; neither is asked for ``shares_storage`` again."""
    modes = (registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system"),)
    document = dataclasses.replace(DOCUMENT, capabilities=modes)
    rows = [volumes.payload(document) | {"ID": name, "CreateIndex": at} for at, name in enumerate(("b", "mysql"), 1)]
    left.reply("GET", "/v1/volumes", 200, rows)
    left.reply("GET", "/v1/volume/csi/b", 200, rows[0])

    done = repair(**ALL | {"document": document})

    assert (done.status, written(left)[:1]) == ("registered", [f"PUT {PATH}?namespace=prod"]), done.reason


def test_registration_whose_answer_was_lost_is_not_sent_again(repair, left):
    """It is there now, and Nomad never shows its secrets."""
    left.replies["PUT", PATH] = [(500, "rpc error: EOF")]
    left.replies["GET", PATH] = [(404, "volume not found"), (404, "volume not found"), (200, FREE)]

    done = repair(**ALL)

    assert (done.status, len(left.sent("PUT"))) == ("registered", 1), done.reason


def test_interrupted_repair_waits_for_ec2(repair, left, ec2):
    """It is attached somewhere by now; the note stays."""
    ec2(ATTACHED)

    done = repair(**ALL)

    assert (done.status, done.steps) == ("deregistered", ())
    assert (
        done.reason
        == f"it is NOT registered, as far as is known: {ATTACHED}; when that is settled, {AGAIN} registers it"
    )
    assert written(left) == []


def test_repair_that_cannot_be_noted_forces_nothing(repair, cluster, ec2):
    """The token lacks the right: an interruption would lose the volume."""
    ec2(AVAILABLE)
    cluster.replies[("PUT", NOTE)] = [(403, "Permission denied")]
    cluster.reply("GET", PATH, 200, VANISHED)

    done = repair(**ALL)

    assert done.status == "refused"
    assert done.reason.startswith("the repair could not be noted: ")
    assert not any(line.startswith(f"DELETE {PATH}?") for line in written(cluster))


@pytest.fixture
def preview(cluster):
    """Return what a repair would do: ``preview(document=...)``."""

    def run(**words):
        order = claim_repair.RepairRequest(namespace="prod", volume_id="mysql", **({"wait_s": 30.0} | words))
        with nomad.Nomad(nomad.Connection(address=cluster.address), timeout_s=60.0) as client:
            return claim_repair.preview(client, order)

    return run


def test_dry_run_names_every_step_and_sends_none(preview, cluster):
    """In their order, with EC2's word on the last."""
    cluster.reply("GET", PATH, 200, STUCK)

    steps = preview(**ALL)

    assert steps == (
        "step 1: wait up to 30 s for the claims to go",
        "step 2: have Nomad collect garbage. It tries again to detach and free what ended allocations claim, in the "
        "whole cluster; it also removes all ended jobs and allocations, with their logs and events",
        "step 3: have Nomad unmount prod/mysql on client a and detach it there. A task that still uses it there loses it",
        "step 4: deregister prod/mysql together with its claims, and register it again from mysql.volume.hcl. Nothing is "
        f"unmounted or detached by that; from then on any job may claim it. EC2: {ID} is available",
    )
    assert written(cluster) == []


def test_dry_run_continues_an_interrupted_repair_on_paper(preview, left):
    """The rest of the last step, from the note."""
    assert preview(**ALL) == (
        "step 4, continued: a repair that began at 2026-11-22 03:00 UTC deregistered prod/mysql and did not register it "
        "again. Register it from mysql.volume.hcl; from then on any job may claim it. EC2 is asked first whether it is "
        "free",
    )
    assert written(left) == []
