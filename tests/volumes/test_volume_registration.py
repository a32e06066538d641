"""Registrations are made once, compared by what Nomad shows, and removed only when nobody holds them."""

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.volumes import desired, volume_registration

VOLUME = volume_registration.VolumeRegistrationResource()
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
HELD = {
    "ID": "mysql",
    "Namespace": "prod",
    "Name": "mysql",
    "ExternalID": "vol-1",
    "PluginID": "aws-ebs0",
    "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
    "MountOptions": {"FSType": "ext4", "MountFlags": ["[REDACTED]"]},
    "RequestedTopologies": {
        "Required": [{"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
        "Preferred": None,
    },
    "Topologies": [{"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
    "Context": {"tier": "fast"},
    "Parameters": None,
    "Secrets": None,
    "ControllerRequired": True,
    "Schedulable": True,
    "ReadAllocs": {},
    "WriteAllocs": {},
    "Allocations": [],
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


@pytest.fixture
def writes(scripted):
    """Return a function that gives path and body of what was registered."""
    return lambda: [body["Volumes"][0] for _, body in scripted.sent("PUT")]


def takes(scripted, status, body=None):
    """Let the scripted Nomad answer a registration."""
    scripted.reply("PUT", PATH, status, body)


def test_check_fills_in_namespace_and_name():
    """Nomad's default namespace, and the id as the name, are what nothing means."""
    values, failures = VOLUME.check({name: value for name, value in GIVEN.items() if name != "namespace"})

    assert failures == ()
    assert values == GIVEN | {"namespace": "default", "name": "mysql"}


def test_check_rejects_what_nomad_could_never_serve():
    """Ids and modes that Nomad takes and cannot use are refused here."""
    _, failures = VOLUME.check(
        GIVEN | {"volumeId": "a/b", "capabilities": [{"accessMode": "single-node-reader", "attachmentMode": "disk"}]}
    )

    assert [failure.path for failure in failures] == [
        "volumeId",
        "capabilities[0].accessMode",
        "capabilities[0].attachmentMode",
    ]


def test_document_and_inputs_are_one_to_one():
    """The document of the inputs gives the same inputs back."""
    assert desired.write_inputs(desired.parse_inputs(NEWS)) == NEWS


def test_preview_knows_the_id():
    """What uses the id is known before the volume is registered, unless its parts are not."""
    assert VOLUME.preview(NEWS)[0] == IDENTITY
    assert VOLUME.preview(NEWS | {"volumeId": resource.UNKNOWN})[0] == resource.UNKNOWN
    unknown = dict.fromkeys(("controllerRequired", "nonce", "stack"), resource.UNKNOWN)
    assert VOLUME.preview(NEWS | {"adopt": True})[1] == NEWS | unknown


@pytest.mark.parametrize("other", [{"ExternalID": "vol-2"}, {"PluginID": "other"}, {"MountOptions": None}])
def test_create_refuses_a_registration_that_differs_in_one_property(context, scripted, writes, other):
    """One is enough to be another volume."""
    scripted.reply("GET", PATH, 200, HELD | other)

    with pytest.raises(errors.RefusedError, match="is registered already, and not by this stack"):
        VOLUME.create(context, NEWS)

    assert writes() == []


@pytest.mark.parametrize(
    ("held", "left_out", "fixed"),
    [
        ({"PluginID": "other"}, "adopt", "pluginId"),
        ({"RequestedTopologies": None, "Topologies": []}, "adopt", "requiredTopologies"),
        ({}, "context", "context"),
    ],
)
def test_create_cannot_adopt_what_nomad_never_changes(context, scripted, held, left_out, fixed):
    """A fixed difference needs a deregistration, which is the operator's to decide."""
    scripted.reply("GET", PATH, 200, HELD | held)
    wanted = {name: value for name, value in NEWS.items() if name != left_out}

    with pytest.raises(errors.RefusedError, match=f"cannot be adopted, because Nomad never changes {fixed}: "):
        VOLUME.create(context, wanted | {"adopt": True})
    assert scripted.sent("PUT") == []


def test_create_takes_over_a_volume_that_is_where_it_is_to_be(context, scripted, writes):
    """Its plugin placed it unasked. Nomad refuses a topology request in its registration, so none is sent."""
    scripted.reply("GET", PATH, 200, HELD | {"RequestedTopologies": None, "Context": {"tier": "slow"}})
    takes(scripted, 200, {})

    VOLUME.create(context, NEWS | {"adopt": True})

    [sent] = writes()
    assert "RequestedTopologies" not in sent
    assert sent["Context"] == {"tier": "fast"}


def test_read_sees_flags_that_nobody_here_set(context, scripted):
    """Mount flags are redacted, so that there are some is all that can be compared."""
    news = VOLUME.check(GIVEN | {"mountOptions": {"fsType": "ext4"}})[0]
    scripted.reply("GET", PATH, 200, HELD)

    inputs, outputs = VOLUME.read(context, IDENTITY, news, {})

    assert inputs == news
    assert VOLUME.diff(IDENTITY, inputs, outputs, news).updates == ("mountOptions.mountFlags",)


def test_dropped_registration_is_not_imported(context, scripted):
    """Nothing is recorded, and nothing is there."""
    scripted.reply("GET", PATH, 404, "volume not found")

    assert VOLUME.read(context, IDENTITY, {}, {}) is None


def test_dropped_registration_of_a_protected_volume_is_not_re_pointed(context, scripted):
    """The refusal does not depend on whether Nomad still has the registration."""
    scripted.reply("GET", PATH, 404, "volume not found")
    old = NEWS | {"protect": True}
    outputs = VOLUME.declared.recorded(old) | {"deregistered": True}
    other = old | {"externalId": "vol-2"}

    with pytest.raises(errors.RefusedError, match="is protected, and would be re-pointed from vol-1 to vol-2"):
        VOLUME.preflight(context, outputs, other)
    with pytest.raises(errors.RefusedError, match="is protected, and would be re-pointed from vol-1 to vol-2"):
        VOLUME.update(context, IDENTITY, outputs, other)
    assert scripted.sent("PUT") == []


def test_read_keeps_what_is_recorded_when_nomad_is_silent(context, scripted, heard):
    """A preview without Nomad says what it could not compare, and goes on."""
    scripted.reply("GET", PATH, 0)
    outputs = NEWS | {"controllerRequired": True}

    assert VOLUME.read(context, IDENTITY, NEWS, outputs) == (NEWS, outputs)
    assert heard["warn"] == [f"{scripted.address} is not reachable: volume prod/mysql was not compared"]


def test_import_warns_of_flags_that_nomad_does_not_show(context, scripted, heard):
    """Who takes such a registration in must write them, or loses them; a refresh of it says nothing."""
    scripted.reply("GET", PATH, 200, HELD)
    VOLUME.read(context, IDENTITY, {}, {})
    told = list(heard["warn"])
    scripted.reply("GET", PATH, 200, HELD)
    VOLUME.read(context, IDENTITY, NEWS, NEWS)

    assert told == heard["warn"]
    assert told == [
        "Nomad does not show the mount flags of prod/mysql, nor whether it has secrets: "
        "write them into the program, or the next update drops them"
    ]


def test_import_fails_when_nomad_is_silent(context, scripted):
    """What is not recorded cannot be kept."""
    scripted.reply("GET", PATH, 0)

    with pytest.raises(errors.NomadApiError):
        VOLUME.read(context, IDENTITY, {}, {})


def test_read_refused_by_nomad_is_an_error(context, scripted):
    """A token without rights is no reason to believe the record."""
    scripted.reply("GET", PATH, 403, "Permission denied")

    with pytest.raises(errors.NomadApiError, match="Permission denied"):
        VOLUME.read(context, IDENTITY, NEWS, NEWS)


@pytest.mark.parametrize("identity", ["mysql", "/mysql", "prod/", "a/b/c"])
def test_read_rejects_an_id_of_another_form(context, identity):
    """A mistyped import names the form that is expected."""
    with pytest.raises(errors.SpecError, match="id: expected namespace/volume_id"):
        VOLUME.read(context, identity, {}, {})


def test_update_of_mount_options_in_use_says_what_to_do(context, scripted):
    """Other flags than those that Nomad hides are its own to refuse: its sentence is shown, with advice."""
    scripted.reply("GET", PATH, 200, HELD | CLAIM)
    takes(
        scripted,
        500,
        "unable to update volume: 1 error occurred:\n\t* can not update mount options while volume is in use\n\n",
    )

    with pytest.raises(errors.NomadApiError, match="can not update mount options while volume is in use") as refused:
        VOLUME.update(context, IDENTITY, {}, NEWS)
    assert refused.value.advice


def test_update_that_nomad_would_refuse_is_refused_before_it_is_sent(context, scripted, writes):
    """With the volume's name and both values, which Nomad's sentence lacks."""
    scripted.reply("GET", PATH, 200, HELD | CLAIM | {"MountOptions": {"FSType": "xfs", "MountFlags": ["[REDACTED]"]}})

    with pytest.raises(errors.RefusedError) as refused:
        VOLUME.update(context, IDENTITY, {}, NEWS)

    assert str(refused.value).startswith("volume prod/mysql cannot be changed: ")
    assert "the volume is in use; stop the jobs that claim it first" in str(refused.value)
    assert writes() == []


def test_delete_refuses_a_claimed_volume_and_names_the_holders(context, scripted):
    """A claimed volume stays registered; the operator reads who holds it."""
    scripted.reply("GET", PATH, 200, HELD | CLAIM)

    with pytest.raises(errors.RefusedError) as refused:
        VOLUME.delete(context, IDENTITY, NEWS)

    for holder in ("prod/db", "9d1b13f5-503d-3e7e-18c5-f969d58b9143", "running", "client-1"):
        assert holder in str(refused.value)
    assert scripted.sent("DELETE") == []


@pytest.mark.parametrize("state", [{"ClientStatus": "complete"}, {"DesiredStatus": "stop"}, {"DesiredStatus": "evict"}])
def test_delete_waits_for_claims_that_are_about_to_go(context, scripted, heard, state):
    """A job that was stopped a moment ago needs a moment."""
    [allocation] = CLAIM["Allocations"]
    for _ in range(3):
        scripted.reply("GET", PATH, 200, HELD | CLAIM | {"Allocations": [allocation | state]})
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("DELETE", PATH, 200, "")

    VOLUME.delete(context, IDENTITY, NEWS)

    assert heard["status"] == ["waiting for terminating allocations to release their claims"]
    assert [path for path, _ in scripted.sent("DELETE")] == [f"{PATH}?namespace=prod"]


def test_delete_leaves_what_was_registered_anew_while_it_waited(context, scripted):
    """Somebody else's storage stands under the id when the claims are gone."""
    [allocation] = CLAIM["Allocations"]
    for _ in range(3):
        scripted.reply("GET", PATH, 200, HELD | CLAIM | {"Allocations": [allocation | {"DesiredStatus": "stop"}]})
    scripted.reply("GET", PATH, 200, HELD | {"ExternalID": "vol-9"})

    with pytest.raises(errors.RefusedError, match="external id is vol-9 in Nomad, vol-1 in the state"):
        VOLUME.delete(context, IDENTITY, NEWS)
    assert scripted.sent("DELETE") == []


def test_delete_gives_up_on_claims_that_do_not_go(context, scripted):
    """And names them, as if it had not waited."""
    [allocation] = CLAIM["Allocations"]
    scripted.reply("GET", PATH, 200, HELD | CLAIM | {"Allocations": [allocation | {"ClientStatus": "complete"}]})

    with pytest.raises(errors.RefusedError, match="complete on node client-1"):
        VOLUME.delete(context, IDENTITY, NEWS)
    assert scripted.sent("DELETE") == []


def test_delete_that_waits_can_be_cancelled(context, scripted):
    """Nothing is deregistered."""
    [allocation] = CLAIM["Allocations"]
    scripted.reply("GET", PATH, 200, HELD | CLAIM | {"Allocations": [allocation | {"ClientStatus": "complete"}]})
    context.cancelled.set()

    with pytest.raises(errors.CancelledError, match="cancelled while prod/mysql was claimed; nothing was deregistered"):
        VOLUME.delete(context, IDENTITY, NEWS)
    assert scripted.sent("DELETE") == []


def test_delete_refuses_a_volume_claimed_meanwhile(context, scripted):
    """A claim between look and deregistration is Nomad's refusal, told as ours."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("GET", PATH, 200, HELD | CLAIM)
    scripted.reply("DELETE", PATH, 500, "volume in use: mysql")

    with pytest.raises(errors.RefusedError, match="prod/db"):
        VOLUME.delete(context, IDENTITY, NEWS)


PROTECTED = NEWS | {"protect": True, "storage": {"location": "fs-1:/a", "owned": True}}


def test_what_the_program_knows_of_the_storage_changes_the_volume_where_it_decides_on_its_deletion():
    """Where the data is, is no change; that the program deletes it is what the state must have."""
    owned = PROTECTED | {"storage": PROTECTED["storage"] | {"owned": True}}
    elsewhere = owned | {"storage": owned["storage"] | {"location": "fs-1:/c"}}

    assert not VOLUME.diff(IDENTITY, owned, {}, elsewhere).any
    assert VOLUME.diff(IDENTITY, NEWS, {}, owned).updates == ("storage",)
    assert VOLUME.diff(IDENTITY, owned, {}, NEWS).updates == ("storage",)


def test_other_data_is_refused_to_a_protected_volume(context, scripted):
    """In the preview and in an update without one, before Nomad is asked anything."""
    news = PROTECTED | {"externalId": "vol-2", "storage": {"location": "fs-1:/b", "owned": True}}

    for ask in (
        lambda: VOLUME.preflight(context, PROTECTED, news),
        lambda: VOLUME.update(context, IDENTITY, PROTECTED, news),
    ):
        with pytest.raises(
            errors.RefusedError, match="volume prod/mysql is protected, and would be re-pointed from fs-1:/a"
        ):
            ask()

    assert scripted.requests == []


def test_removal_of_a_protected_volume_is_refused_before_it_is_deregistered(context, scripted):
    """Its storage is deleted afterwards, which is refused; without its registration its jobs would not start."""
    scripted.reply("GET", PATH, 200, HELD)
    recorded = PROTECTED | {"externalId": "vol-1"}

    with pytest.raises(errors.RefusedError, match="is protected, and its storage vol-1 would be deleted"):
        VOLUME.delete(context, IDENTITY, recorded)

    assert (scripted.sent("DELETE"), scripted.sent("PUT")) == ([], [])


def test_read_keeps_what_the_program_knows_of_the_storage(context, scripted):
    """Nomad has nothing of it; which data it is, is known only of the external id that it was said of."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("GET", PATH, 200, HELD | {"ExternalID": "vol-2"})

    same, _ = VOLUME.read(context, IDENTITY, PROTECTED, {})
    other, _ = VOLUME.read(context, IDENTITY, PROTECTED, {})

    assert same == PROTECTED
    assert other == PROTECTED | {"externalId": "vol-2", "storage": {"owned": True}}
