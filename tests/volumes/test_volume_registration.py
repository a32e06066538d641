"""Registrations are made once, compared by what Nomad shows, and removed only when nobody holds them."""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.volumes import desired, volume_resource

VOLUME = volume_resource.VolumeRegistrationResource()
PATH = "/v1/volume/csi/mysql"
IDENTITY = "prod/mysql"
GIVEN = {
    "volumeId": "mysql",
    "namespace": "prod",
    "externalId": "vol-1",
    "pluginId": "aws-ebs0",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
    "mountOptions": {"fsType": "ext4", "mountFlags": ["noatime"]},
    "requiredTopologies": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
    "context": {"tier": "fast"},
}
NEWS = VOLUME.check(GIVEN)[0]
HELD = volumes.payload(desired.parse_inputs(NEWS)) | {
    "MountOptions": {"FSType": "ext4", "MountFlags": ["[REDACTED]"]},
    "Topologies": [{"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
    "ControllerRequired": True,
    "Schedulable": True,
}
CLAIM = {
    "WriteAllocs": {"9d1b13f5-503d-3e7e-18c5-f969d58b9143": None},
    "Allocations": [
        {
            "ID": "9d1b13f5-503d-3e7e-18c5-f969d58b9143",
            "JobID": "db",
            "Namespace": "prod",
            "NodeID": "e4e7c740-a693-6393-61e0-c39b1899619e",
            "NodeName": "client-1",
            "ClientStatus": "running",
            "DesiredStatus": "run",
        }
    ],
}


[ALLOCATION] = CLAIM["Allocations"]
"""What holds the claim."""


def ending(**state):
    """Return the volume with a claim whose allocation has *state*."""
    return HELD | CLAIM | {"Allocations": [ALLOCATION | state]}


def sent(scripted):
    """Return what was registered."""
    return [body["Volumes"][0] for _, body in scripted.sent("PUT")]


def test_check_fills_in_namespace_and_name_and_rejects_what_nomad_could_never_serve():
    """Nomad's default namespace, and the id as the name, are what nothing means; ids and modes it cannot use go nowhere."""
    values, failures = VOLUME.check({name: value for name, value in GIVEN.items() if name != "namespace"})
    mode = {"accessMode": "single-node-reader", "attachmentMode": "disk"}
    _, rejected = VOLUME.check(GIVEN | {"volumeId": "a/b", "capabilities": [mode]})

    assert (values, failures) == (GIVEN | {"namespace": "default", "name": "mysql"}, ())
    assert [failure.path for failure in rejected] == [
        "volumeId",
        "capabilities[0].accessMode",
        "capabilities[0].attachmentMode",
    ]
    assert desired.write_inputs(desired.parse_inputs(NEWS)) == NEWS


@pytest.mark.parametrize(
    ("held", "changes", "refused"),
    [
        ({"MountOptions": None}, {}, "is registered already, and not by this stack"),
        ({"PluginID": "other"}, {"adopt": True}, "cannot be adopted, because Nomad never changes pluginId: "),
        (
            {"RequestedTopologies": None, "Topologies": []},
            {"adopt": True},
            "cannot be adopted, because Nomad never changes requiredTopologies: ",
        ),
        ({}, {"adopt": True, "context": {}}, "cannot be adopted, because Nomad never changes context: "),
    ],
)
def test_create_refuses_a_registration_that_differs(context, scripted, held, changes, refused):
    """One property is enough to be another volume; a fixed difference needs a deregistration, the operator's to decide."""
    scripted.reply("GET", PATH, 200, HELD | held)

    with pytest.raises(errors.RefusedError, match=refused):
        VOLUME.create(context, {name: value for name, value in (NEWS | changes).items() if value})
    assert scripted.sent("PUT") == []


def test_create_takes_over_a_volume_that_is_where_it_is_to_be(context, scripted):
    """Its plugin placed it unasked. Nomad refuses a topology request in its registration, so none is sent."""
    scripted.reply("GET", PATH, 200, HELD | {"RequestedTopologies": None, "Context": {"tier": "slow"}})
    scripted.reply("PUT", PATH, 200, {})

    VOLUME.create(context, NEWS | {"adopt": True})

    [document] = sent(scripted)
    assert "RequestedTopologies" not in document
    assert document["Context"] == {"tier": "fast"}


def test_read_without_an_answer(context, scripted, heard):
    """What is recorded is kept, and said not to be compared; what is imported has nothing to keep."""
    scripted.reply("GET", PATH, 0)
    outputs = NEWS | {"controllerRequired": True}

    assert VOLUME.read(context, IDENTITY, NEWS, outputs) == (NEWS, outputs)
    assert heard["warn"] == [f"{scripted.address} is not reachable: volume prod/mysql was not compared"]
    with pytest.raises(errors.NomadApiError):
        VOLUME.read(context, IDENTITY, {}, {})


def test_read_refused_by_nomad_is_an_error(context, scripted, heard):
    """A token without rights is no reason to believe the record; a volume that is absent is no import."""
    scripted.reply("GET", PATH, 403, "Permission denied")
    scripted.reply("GET", PATH, 404, "volume not found")

    with pytest.raises(errors.NomadApiError, match="Permission denied"):
        VOLUME.read(context, IDENTITY, NEWS, NEWS)
    assert VOLUME.read(context, IDENTITY, {}, {}) is None
    known = NEWS, NEWS | {"deregistered": True}
    assert (VOLUME.read(context, IDENTITY, *known), heard["warn"]) == (known, [])


def test_update_of_mount_options_in_use_says_what_to_do(context, scripted):
    """Refused before it is sent where Nomad would; flags that Nomad hides are its own to refuse, and its words are shown."""
    in_use = "can not update mount options while volume is in use"
    scripted.reply("GET", PATH, 200, HELD | CLAIM | {"MountOptions": {"FSType": "xfs", "MountFlags": ["[REDACTED]"]}})
    scripted.reply("GET", PATH, 200, HELD | CLAIM)
    scripted.reply("PUT", PATH, 500, f"unable to update volume: 1 error occurred:\n\t* {in_use}\n\n")

    with pytest.raises(
        errors.RefusedError,
        match=r"^volume prod/mysql cannot be changed: .*the volume is in use; stop the jobs that claim it first",
    ):
        VOLUME.update(context, IDENTITY, {}, NEWS)
    assert sent(scripted) == []
    with pytest.raises(errors.NomadApiError, match=in_use) as refused:
        VOLUME.update(context, IDENTITY, {}, NEWS)
    assert refused.value.advice


@pytest.mark.parametrize("state", [{"ClientStatus": "complete"}, {"DesiredStatus": "stop"}, {"DesiredStatus": "evict"}])
def test_delete_waits_for_claims_that_are_about_to_go(context, scripted, heard, state):
    """A job that was stopped a moment ago needs a moment."""
    for _ in range(3):
        scripted.reply("GET", PATH, 200, ending(**state))
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("DELETE", PATH, 200, "")

    VOLUME.delete(context, IDENTITY, NEWS)

    assert heard["status"] == ["waiting for terminating allocations to release their claims"]
    assert [path for path, _ in scripted.sent("DELETE")] == [f"{PATH}?namespace=prod"]


@pytest.mark.parametrize("kind", ["VolumeRegistration", "CreatedVolume"])
def test_delete_leaves_a_volume_that_another_resource_of_the_run_has(context, scripted, heard, kind):
    """Without an owner only this run knows that."""
    scripted.reply("GET", PATH, 200, HELD)
    context.operation.create(f"nomad-csi:index:{kind}", IDENTITY)

    VOLUME.delete(context, IDENTITY, NEWS)

    assert scripted.sent("DELETE") == []
    assert heard["warn"][0].startswith(
        f"volume {IDENTITY} stays registered: another resource of this stack has taken it"
    )


STOPPED = ending(DesiredStatus="stop")
HOLDER = "prod/db .*9d1b13f5-503d-3e7e-18c5-f969d58b9143, running on node client-1"
KEPT = {
    "claimed": ([HELD | CLAIM], HOLDER, 0),
    "registered again during the wait": (
        [STOPPED, STOPPED, STOPPED, HELD | {"ExternalID": "vol-9"}], "external id is vol-9 in Nomad, vol-1 in the state", 0
    ),
    "claims that do not go": ([ending(ClientStatus="complete")], "complete on node client-1", 0),
    "claimed at the last moment": ([HELD, HELD | CLAIM], HOLDER, 1),
}  # fmt: skip
"""What Nomad answers -> why the volume is not removed, and how many deregistrations Nomad refused."""


@pytest.mark.parametrize(("answers", "reason", "count"), KEPT.values(), ids=KEPT)
def test_delete_leaves_what_is_in_use_or_another_volume(context, scripted, answers, reason, count):
    """And names who holds it."""
    for answer in answers:
        scripted.reply("GET", PATH, 200, answer)
    scripted.reply("DELETE", PATH, 500, "volume in use: mysql")

    with pytest.raises(errors.RefusedError, match=reason):
        VOLUME.delete(context, IDENTITY, NEWS)
    assert len(scripted.sent("DELETE")) == count


def test_delete_that_waits_can_be_cancelled(context, scripted):
    """Nothing is deregistered."""
    scripted.reply("GET", PATH, 200, ending(ClientStatus="complete"))
    context.cancelled.set()

    with pytest.raises(errors.CancelledError, match="cancelled while prod/mysql was claimed; nothing was deregistered"):
        VOLUME.delete(context, IDENTITY, NEWS)
    assert scripted.sent("DELETE") == []


PROTECTED = NEWS | {"protect": True, "storage": {"location": "fs-1:/a", "owned": True}}
ELSEWHERE = {"externalId": "vol-2", "storage": {"location": "fs-1:/b", "owned": True}}


@pytest.mark.parametrize("is_deregistered", [False, True])
def test_other_data_is_refused_to_a_protected_volume(context, scripted, is_deregistered):
    """In the preview and in an update without one; it does not depend on whether Nomad still has the registration."""
    scripted.reply("GET", PATH, 404, "volume not found")
    recorded = VOLUME.declared.recorded(PROTECTED) | ({"deregistered": True} if is_deregistered else {})

    for ask in (
        lambda: VOLUME.preflight(context, recorded, PROTECTED | ELSEWHERE),
        lambda: VOLUME.update(context, IDENTITY, recorded, PROTECTED | ELSEWHERE),
    ):
        with pytest.raises(
            errors.RefusedError, match="volume prod/mysql is protected, and would be re-pointed from fs-1:/a"
        ):
            ask()

    assert scripted.sent("PUT") == []
    assert is_deregistered or scripted.requests == []


def test_removal_of_a_protected_volume_is_refused_before_it_is_deregistered(context, scripted):
    """Its storage is deleted afterwards, which is refused; without its registration its jobs would not start."""
    scripted.reply("GET", PATH, 200, HELD)

    with pytest.raises(errors.RefusedError, match="is protected, and its storage vol-1 would be deleted"):
        VOLUME.delete(context, IDENTITY, PROTECTED | {"externalId": "vol-1"})

    assert (scripted.sent("DELETE"), scripted.sent("PUT")) == ([], [])


def test_read_keeps_what_the_program_knows_of_the_storage(context, scripted):
    """Nomad has nothing of it; which data it is, is known only of the external id that it was said of."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("GET", PATH, 200, HELD | {"ExternalID": "vol-2"})
    scripted.reply("GET", PATH, 200, HELD | {"MountOptions": {"FSType": "xfs", "MountFlags": None}})

    same, _ = VOLUME.read(context, IDENTITY, PROTECTED, {})
    other, _ = VOLUME.read(context, IDENTITY, PROTECTED, {})

    assert same == PROTECTED
    assert other == PROTECTED | {"externalId": "vol-2", "storage": {"owned": True}}
    assert VOLUME.read(context, IDENTITY, NEWS, {})[0] == NEWS | {"mountOptions": {"fsType": "xfs"}}
