"""Volumes of a cluster under two ids: refused for one node, and for several unless the spec says so."""

import dataclasses
import threading
from concurrent import futures

import pytest

from nomad_csi import errors
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, sharing, volume_resource
from tests import volume_files

VOLUME = volume_resource.VolumeRegistrationResource()
DISK, SYSTEM = "vol-0123456789abcdef0", "fs-0123456789abcdef0::fsap-0123456789abcdef0"
SINGLE, MULTI = "single-node-writer", "multi-node-multi-writer"
CREATED = volume_resource.CreatedVolumeResource()
MODES = [{"AccessMode": SINGLE, "AttachmentMode": "file-system"}]
OTHER = "/v1/volume/csi/first"
SERVERS = {"Members": [{"Name": "server-1", "Status": "alive", "Tags": {"role": "nomad", "build": "2.0.6"}}]}


def inputs(external_id, mode, *, shared=False):
    """Return the inputs of the volume ``second``."""
    return VOLUME.check(
        {
            "volumeId": "second",
            "namespace": "prod",
            "externalId": external_id,
            "pluginId": "csi0",
            "capabilities": [{"accessMode": mode, "attachmentMode": "file-system"}],
            "storage": {"shared": shared},
        }
    )[0]


def document(external_id, mode, volume_id="second", *, shared=False):
    """Return the registration of a volume."""
    return registration.VolumeRegistration(
        volume_id=volume_id,
        namespace="prod",
        name=volume_id,
        external_id=external_id,
        plugin_id="csi0",
        capabilities=(registration.Capability(access_mode=mode, attachment_mode="file-system"),),
        shares_storage=shared,
    )


@pytest.fixture
def cluster(scripted):
    """A Nomad that holds ``bank/first``: ``cluster(DISK, SINGLE)``; it takes what it is sent."""

    def hold(external_id, mode, plugin_id="csi0"):
        row = {"ID": "first", "Namespace": "bank", "ExternalID": external_id, "PluginID": plugin_id}
        held = row | {"RequestedCapabilities": [{"AccessMode": mode, "AttachmentMode": "file-system"}]}
        scripted.replies[("GET", "/v1/volumes")] = [(200, [row])]
        scripted.replies[("GET", OTHER)] = [(200, held)]
        return scripted

    scripted.reply("GET", "/v1/volume/csi/second", 404, "volume not found")
    scripted.reply("GET", "/v1/agent/members", 200, SERVERS)
    scripted.reply("GET", "/v1/plugins", 200, [{"ID": "csi0"}])
    scripted.reply("GET", "/v1/namespaces", 200, [{"Name": "prod"}])
    for path in ("/v1/volumes", "/v1/volume/csi/second"):
        scripted.reply("PUT", path, 200, {})
    return hold


def sent(scripted):
    """Return every registration that was sent."""
    return [path for path, _ in scripted.sent("PUT") if path.startswith("/v1/volume")]


@pytest.mark.parametrize(
    ("held", "wanted", "shared", "reason"),
    [
        ((DISK, SINGLE), (DISK, SINGLE), False, f"prod/second is {SINGLE}, and by two ids two jobs would mount it"),
        ((SYSTEM, SINGLE), (SYSTEM, MULTI), True, f"bank/first is {SINGLE}, and by two ids two jobs would mount it"),
        ((SYSTEM, MULTI), (SYSTEM, SINGLE), False, f"prod/second is {SINGLE}, and by two ids two jobs would mount it"),
        ((SYSTEM, MULTI), (SYSTEM, MULTI), False, "set shares_storage: true on it, if both are meant to be the same"),
        ((SYSTEM, MULTI), (SYSTEM.replace("::", ":/a:"), MULTI), False, "set shares_storage: true on it"),
    ],
)
def test_second_id_of_a_storage_is_refused_before_anything_is_sent(context, cluster, held, wanted, shared, reason):
    """By `up`, by its preview and by the command line, with the name of the volume that has it, in any namespace."""
    scripted = cluster(*held)
    refused = f"{wanted[0]} is registered as bank/first already: {reason}"

    with pytest.raises(errors.RefusedError) as up:
        VOLUME.create(context, inputs(*wanted, shared=shared))
    with pytest.raises(errors.RefusedError) as preview:
        VOLUME.preflight(context, {}, inputs(*wanted, shared=shared))
    [outcome] = applied.apply(context.connect(), volume_files.wanted([document(*wanted, shared=shared)]))

    assert refused in str(up.value)
    assert refused in str(preview.value)
    assert (outcome.status, refused in outcome.reason) == ("refused", True)
    assert sent(scripted) == []


WHOLE = "fs-0123456789abcdef0"
CONTAINED = {
    "a folder of the whole": ((WHOLE, SINGLE), (f"{WHOLE}:/a", SINGLE), "{} is a part of the storage of bank/first: bank/first is"),
    "an access point of it": ((WHOLE, SINGLE), (SYSTEM, MULTI), "{} is a part of the storage of bank/first: bank/first is"),
    "the whole of a folder": ((f"{WHOLE}:/a", MULTI), (WHOLE, SINGLE), "{} contains the storage of bank/first: prod/second is"),
    "the whole of an access point": ((SYSTEM, SINGLE), (WHOLE, SINGLE), "{} contains the storage of bank/first: prod/second is"),
    "a folder in a folder": ((f"{WHOLE}:/a", SINGLE), (f"{WHOLE}:/a/b", MULTI), "{} is a part of the storage of bank/first"),
    "a folder of what is for several": ((WHOLE, MULTI), (f"{WHOLE}:/a", SINGLE), ""),
    "the whole for several": ((f"{WHOLE}:/a", SINGLE), (WHOLE, MULTI), ""),
    "another folder": ((f"{WHOLE}:/a", SINGLE), (f"{WHOLE}:/b", SINGLE), ""),
    "a folder beside an access point": ((f"{WHOLE}:/a", SINGLE), (SYSTEM, SINGLE), ""),
    "not known yet": ((resource.UNKNOWN, SINGLE), (resource.UNKNOWN, SINGLE), ""),
}  # fmt: skip


@pytest.mark.parametrize(("held", "wanted", "reason"), CONTAINED.values(), ids=CONTAINED)
def test_storage_that_contains_the_other_is_of_one_client_only_without_it(
    context, cluster, heard, held, wanted, reason
):
    """Whoever has all of it as the single client would write beside the user of a part, unless that goes before."""
    scripted = cluster(*held)
    document = desired.parse_inputs(inputs(*wanted))

    found = sharing.reason(context, document)

    assert found.startswith(reason.format(wanted[0]))
    assert bool(found) is bool(reason)
    # Of thousands of parts none is read where none can be a reason.
    assert not (wanted == (WHOLE, MULTI) and [path for path, _ in scripted.sent("GET") if "first" in path])
    assert sharing.reason(context, document, ("bank", "first")) == ""
    assert heard["warn"] == []


def test_registered_volume_becomes_a_single_writer_of_no_shared_storage(context, cluster):
    """Jobs of the other id would write beside it. The preview says so, too."""
    scripted = cluster(SYSTEM, MULTI)
    [(_, held)] = scripted.replies["GET", OTHER]
    own = {"ID": "second", "Namespace": "prod", "Name": "second"}
    scripted.replies["GET", "/v1/volume/csi/second"] = [(200, held | own)]
    before, after = inputs(SYSTEM, MULTI, shared=True), inputs(SYSTEM, SINGLE, shared=True)
    said = f"{SYSTEM} is registered as bank/first already: prod/second is {SINGLE}"

    for step in (
        lambda: VOLUME.preflight(context, before, after),
        lambda: VOLUME.update(context, "prod/second", before, after),
    ):
        with pytest.raises(errors.RefusedError, match=said):
            step()

    assert sent(scripted) == []
    VOLUME.update(context, "prod/second", before, inputs(SYSTEM, MULTI) | {"context": {"a": "b"}})
    assert len(sent(scripted)) == 1  # its use of the storage stays as it is


def driver(scripted, plugin_id, provider):
    """Let a plugin have a driver; without one it is not there."""
    found = {"ID": plugin_id, "Provider": provider, "Controllers": {}, "Nodes": {}}
    scripted.reply("GET", f"/v1/plugin/csi/{plugin_id}", *((200, found) if provider else (404, "plugin not found")))


def gone_by_now(scripted):
    """Let the volume be listed once."""
    [listing] = scripted.replies[("GET", "/v1/volumes")]
    scripted.replies[("GET", "/v1/volumes")] = [listing, (200, [])]


def of_another_driver(scripted):
    """Let the plugins have different drivers."""
    driver(scripted, "csi0", "a.example")
    driver(scripted, "nfs0", "b.example")


OTHERS = {
    "for several nodes, where the spec says so": ((SYSTEM, MULTI), (SYSTEM, MULTI), True, lambda _: None),
    "gone by now: what the list shows is read again": ((DISK, SINGLE), (DISK, SINGLE), False, gone_by_now),
    "the same text of another driver": (("data", SINGLE, "nfs0"), ("data", SINGLE), False, of_another_driver),
}


@pytest.mark.parametrize(("held", "wanted", "shared", "prepare"), OTHERS.values(), ids=OTHERS)
def test_storage_that_may_be_shared_or_is_another_is_registered(context, cluster, held, wanted, shared, prepare):
    """An external id is its driver's; two plugins of one driver mean the same by it."""
    scripted = cluster(*held)
    prepare(scripted)

    [outcome] = applied.apply(context.connect(), volume_files.wanted([document(*wanted, shared=shared)]))

    assert outcome.status == "registered"
    assert len(sent(scripted)) == 1


@pytest.mark.parametrize("known", [{}, {"csi0": "a.example"}, {"csi0": "a.example", "nfs0": "a.example"}])
def test_same_id_of_plugins_whose_drivers_are_not_known_to_differ_is_one_storage(context, cluster, known):
    """A plugin that is not there yet has no driver to compare."""
    scripted = cluster("data", SINGLE, "nfs0")
    for plugin_id in ("csi0", "nfs0"):
        driver(scripted, plugin_id, known.get(plugin_id))

    refused = sharing.Users(context.connect()).refusal(document("data", SINGLE))

    assert refused.startswith("data is registered as bank/first already: ")


def test_two_volumes_of_one_run_see_each_other(context, cluster):
    """Neither is registered yet; the one that comes first has the storage, until it gets another."""
    scripted = cluster("other", SINGLE)
    scripted.reply("GET", "/v1/volume/csi/third", 404, "volume not found")

    done = applied.apply(
        context.connect(), volume_files.wanted([document(DISK, SINGLE), document(DISK, SINGLE, "third")])
    )
    users = sharing.Users(context.connect())
    moved = [document(external_id, SINGLE, "fourth") for external_id in (DISK, "vol-0fedcba9876543210")]

    assert [outcome.status for outcome in done] == ["registered", "refused"]
    assert f"{DISK} is registered as prod/second already" in done[1].reason
    assert [users.refusal(item) for item in (*moved, document(DISK, SINGLE))] == ["", "", ""]
    refused = users.refusal(document("vol-0fedcba9876543210", SINGLE))
    assert refused.startswith("vol-0fedcba9876543210 is registered as prod/fourth already: ")


def test_token_that_may_not_list_is_told_once_what_was_not_checked(context, cluster, heard):
    """It is registered all the same: the right to register does not need the list."""
    scripted = cluster(DISK, SINGLE)
    scripted.replies[("GET", "/v1/volumes")] = [(403, "Permission denied")]
    told = []

    applied.apply(context.connect(), volume_files.wanted([document(DISK, SINGLE)]), report=told.append)
    for _ in range(2):
        VOLUME.preflight(context, {}, inputs(DISK, SINGLE) | {"pluginId": "csi0"})

    line = (
        "whether other volumes have the same storage was not checked: the token lacks csi-list-volume in namespace prod"
    )
    assert line in told
    assert heard["warn"] == [line]


def test_volumes_of_all_namespaces_are_listed_once(context, cluster):
    """And the namespace of the one that is found is read again."""
    scripted = cluster(DISK, SINGLE)
    users = sharing.Users(context.connect())

    assert users.unlisted == ""
    assert users.list().within(storage_identity.identify(DISK)) == (("bank", "first"),)
    refused = users.refusal(document(DISK, SINGLE))
    assert refused.startswith(f"{DISK} is registered as bank/first already: ")
    assert refused.endswith("; to replace that one, deregister that one first")
    listed = [path for path, _ in scripted.sent("GET") if path.startswith("/v1/volumes")]
    assert listed == ["/v1/volumes?namespace=%2A&type=csi", "/v1/volumes?namespace=bank&type=csi&prefix=first"]
    cluster(f"{WHOLE}:/a", MULTI)
    users = sharing.Users(context.client).list(storage_identity.identify(WHOLE))
    assert users.within(storage_identity.identify(WHOLE)) == (("bank", "first"),)
    assert scripted.sent("GET")[-1][0].endswith("filter=ExternalID+contains+%22fs-0123456789abcdef0%22")
    row = {"Namespace": "bank", "ExternalID": DISK, "PluginID": "csi0"}
    scripted.replies["GET", "/v1/volumes"] = [(200, [row | {"ID": name} for name in "hgfedcba"])]
    scripted.reply("GET", "/v1/volume/csi/a", 404, "volume not found")
    users = sharing.Users(context.client).list()
    assert users.within(storage_identity.identify(DISK)) == tuple(("bank", name) for name in "abcdefgh")
    assert users.refusal(document(DISK, SINGLE)).startswith(f"{DISK} is registered as bank/a already: ")


def test_volume_that_has_other_storage_by_now_hides_no_other_one(context, cluster):
    """The list is a moment old for each of them."""
    scripted = cluster(DISK, SINGLE)
    row = {"Namespace": "bank", "PluginID": "csi0", "ExternalID": DISK}
    before = [row | {"ID": "first"}, row | {"ID": "zero"}]
    after = [row | {"ID": "first", "ExternalID": "vol-0fedcba9876543210"}, row | {"ID": "zero"}]
    scripted.replies[("GET", "/v1/volumes")] = [(200, before), (200, after)]
    scripted.reply("GET", "/v1/volume/csi/zero", 200, row | {"ID": "zero", "RequestedCapabilities": MODES})

    users = sharing.Users(context.connect())

    assert users.refusal(document(DISK, SINGLE)).startswith(f"{DISK} is registered as bank/zero already: ")


def test_volume_that_may_not_be_read_is_shared_where_the_spec_says_so(context, cluster):
    """Its access modes are not known; another error of Nomad is one."""
    scripted = cluster(SYSTEM, MULTI)
    forbidden = (403, "Permission denied")
    scripted.replies[("GET", OTHER)] = [forbidden, forbidden, (500, "No cluster leader")]
    shared = document(SYSTEM, MULTI, shared=True)

    assert sharing.Users(context.connect()).refusal(shared) == ""
    refused = sharing.Users(context.connect()).refusal(document(SYSTEM, MULTI))
    assert refused.startswith(f"{SYSTEM} is registered as bank/first already: set shares_storage: true on it")
    with pytest.raises(errors.NomadApiError, match="No cluster leader"):
        sharing.Users(context.connect()).refusal(shared)


@pytest.mark.parametrize(
    ("shown", "is_refused", "unlisted"),
    [
        ({"server": "NAS", "share": "/export/"}, True, ""),
        ({"server": "nas", "share": "/other"}, False, ""),
        (None, False, sharing.UNREAD.format("bank/first")),
    ],
)
def test_one_nfs_share_under_another_external_id_is_found_by_its_context(context, cluster, shown, is_refused, unlisted):
    """No list shows contexts, so the volumes of the driver are read; what may not be read is said to be unknown."""
    scripted = cluster("any", SINGLE, "nfs0")
    for plugin_id in ("csi0", "nfs0"):
        driver(scripted, plugin_id, "nfs.csi.k8s.io")
    driver(scripted, "ebs0", "ebs.csi.aws.com")
    [(_, [row])] = scripted.replies["GET", "/v1/volumes"]
    disk = {"ID": "disk", "Namespace": "bank", "ExternalID": DISK, "PluginID": "ebs0"}
    scripted.replies["GET", "/v1/volumes"] = [(200, [disk, row])]
    [(_, held)] = scripted.replies["GET", OTHER]
    scripted.replies["GET", OTHER] = [(200, held | {"Context": shown}) if shown else (403, "Permission denied")]
    users = sharing.Users(context.connect())
    wanted = dataclasses.replace(document("mine", SINGLE), context={"server": "nas", "share": "/export"})

    assert bool(users.refusal(wanted)) is is_refused
    assert users.unlisted == unlisted
    reads = len(scripted.sent("GET"))
    assert users.refusal(dataclasses.replace(wanted, external_id="x", context={"server": "nas", "share": "/x"})) == ""
    assert len(scripted.sent("GET")) == reads  # the contexts are known


OLDER, NEWER = {"CreateIndex": 5}, {"CreateIndex": 13}
RAN = {
    "after another": (OLDER, {}, f"{DISK} is registered as bank/first already"),
    "before another": (NEWER, {}, ""),
    "and has other storage by now": (OLDER, {"ExternalID": "vol-0fedcba9876543210"}, ""),
    "and is gone by now": (OLDER, {"ID": "gone"}, ""),
}


@pytest.mark.parametrize(("other", "own", "refused"), RAN.values(), ids=RAN)
def test_what_was_registered_later_is_taken_back(context, cluster, other, own, refused):
    """Nomad's index decides; a registration that is another one by now is not this run's."""
    scripted = cluster(DISK, SINGLE)
    [(_, [row])] = scripted.replies["GET", "/v1/volumes"]
    second = row | {"ID": "second", "Namespace": "prod", "CreateIndex": 9} | own
    scripted.replies["GET", "/v1/volumes"] = [(200, [row | other, second])]

    found = sharing.Users(context.connect()).older_refusal(document(DISK, SINGLE))

    assert (found.partition(": ")[0], bool(found)) == (refused, bool(refused))


@pytest.mark.parametrize(
    ("failing", "state"),
    [
        (("GET", "/v1/volumes"), "registered, and whether another volume has the same storage was not checked"),
        (
            ("DELETE", "/v1/volume/csi/second"),
            f"registered, and not deregistered again although {DISK} is registered as bank/first",
        ),
    ],
)
def test_what_was_not_done_after_a_simultaneous_registration_is_named(context, cluster, failing, state):
    """The comparison, or the deregistration that it requires."""
    scripted = cluster(DISK, SINGLE)
    [(_, [row])] = scripted.replies["GET", "/v1/volumes"]
    second = row | {"ID": "second", "Namespace": "prod", "CreateIndex": 9}
    scripted.replies["GET", "/v1/volumes"] = [(200, [row | {"CreateIndex": 5}, second])]
    scripted.replies[failing] = [(400, "no such rights")]

    client = context.connect()
    found = sharing.take_back_later(client, document(DISK, SINGLE), sharing.Users(client).list)

    assert state in str(found)
    assert found.kind == "ambiguous"


def test_concurrent_callers_share_a_list_that_began_after_them(context, scripted):
    """One that comes while a list is read may have registered too late for it, and waits for the next one."""
    lists = []
    is_listing, may_end = threading.Event(), threading.Event()

    def listed():
        lists.append(1)
        is_listing.set()
        assert may_end.wait(60)
        return []

    scripted.replies["GET", "/v1/volumes"] = [(200, listed)]
    storage = storage_identity.identify(SYSTEM)
    with futures.ThreadPoolExecutor(3) as pool:
        first = pool.submit(sharing.users_now, context, storage)
        assert is_listing.wait(60)
        others = [pool.submit(sharing.users_now, context, storage) for _ in range(2)]
        may_end.set()
        found = [each.result(60) for each in (first, *others)]

    assert found[0] not in found[1:]
    assert len(lists) == len({id(users) for users in found})
    scripted.replies["GET", "/v1/volumes"] = [(200, [])]
    sharing.users_now(context, storage_identity.identify(DISK))
    assert scripted.sent("GET")[-1][0].endswith(f"filter=ExternalID+contains+%22{DISK}%22")  # of no other one


NO_LEADER = errors.NomadApiError("GET", "/v1/volumes", "no leader", kind="retry")


def test_those_that_wait_for_a_list_share_no_older_one_where_the_next_fails():
    """What was read before it is too old for them."""
    answers = ["old", NO_LEADER, "new"]

    def read():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    latest = sharing.Latest(read)
    assert latest.read() == "old"
    with futures.ThreadPoolExecutor(2) as pool:
        with latest._lock:
            waiting = [pool.submit(latest.read) for _ in range(2)]
            threading.Event().wait(0.2)  # both come before the read that fails
        found = [each.exception(60) or each.result(60) for each in waiting]

    assert sorted(str(each).rpartition(": ")[2] for each in found) == ["new", "no leader"]
