"""
Volumes that plugins make, through Nomad: two agents, and two drivers on each.

The driver is csi-driver-host-path, played by the sandbox, and itself where ``hostpathplugin`` is on PATH.
"""

import contextlib
import dataclasses
import shutil

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import compare

MIB = 2**20
ONE = "1 error occurred:\n\t* {}\n\n"
CREATE = "controller create volume: CSI.ControllerCreateVolume: "
LONE = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
NODE_KEY = "topology.hostpath.csi/node"
PLAYED, ITSELF = "played", "itself"
_PROGRAMS = {
    PLAYED: ("nomad-csi-sandbox-csi-plugin", ["--driver", "csi-hostpath"]),
    ITSELF: ("hostpathplugin", []),
}


@pytest.fixture(params=[PLAYED, pytest.param(ITSELF, marks=pytest.mark.real_driver)])
def plugin_id(request, world, job):
    """The id of a healthy monolith, started once on each agent."""
    program, words = _PROGRAMS[request.param]
    found = f"hostpath-{request.param}"
    if request.param == ITSELF and shutil.which(program) is None:
        pytest.skip(f"{program} is not on PATH")
    started = world.__dict__.setdefault("_monoliths", set())
    if found not in started:
        started.add(found)
        _run(world.agent, job, found, program, words)
    world.agent.until(
        lambda: world.agent.get(f"/v1/plugin/csi/{found}"),
        lambda seen: (seen["ControllersHealthy"], seen["NodesHealthy"]) == (1, 1),
    )
    return found


def _run(agent, job, plugin_id, program, words):
    state = agent.data_dir / plugin_id
    block = f"""
      csi_plugin {{
        id                     = "{plugin_id}"
        type                   = "monolith"
        stage_publish_base_dir = "{agent.data_dir}/client/csi/monolith/{plugin_id}"
      }}
"""
    more = [f"--drivername={plugin_id}.csi.test", f"--statedir={state}", "--nodeid=n1", "--endpoint=${CSI_ENDPOINT}"]
    agent.run(job(plugin_id, kind="system", task=block, command=program, args=[*words, *more]))


@pytest.fixture
def wanted(plugin_id, fresh):
    """Write a volume that the plugin is to make: ``wanted("v", capacity_min_bytes=1)``; its id is nobody else's."""

    def write(prefix, **fields):
        volume_id = fresh(prefix)
        common = {"volume_id": volume_id, "name": volume_id, "plugin_id": plugin_id}
        writer = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
        return registration.VolumeRegistration(**{**common, "capabilities": (writer,), **fields})

    return write


@pytest.fixture
def put(agent):
    """Send a creation as it is: status, body, headers."""

    def send(*items, namespace="default"):
        path = f"/v1/volume/csi/{items[0].get('ID', 'x')}/create?namespace={namespace}"
        return agent.call("PUT", path, {"Volumes": list(items)})

    return send


@pytest.fixture
def item(plugin_id, fresh):
    """Write a `CSIVolume` to be made: ``item("v", RequestedCapacityMin=1)``."""

    def write(prefix, **fields):
        volume_id = fresh(prefix)
        base = {"ID": volume_id, "Name": volume_id, "PluginID": plugin_id, "RequestedCapabilities": [LONE]}
        return base | {"MountOptions": {}} | fields

    return write


def test_created_volume_is_what_the_plugin_made(agent, client, wanted):
    """Id, size, context and place are the plugin's, in the answer and afterwards."""
    document = wanted("made", capacity_min_bytes=2 * MIB, capacity_max_bytes=9 * MIB, parameters={"tier": "fast"})

    created = volumes.create(client, document)
    found = volumes.get(client, "default", document.volume_id)

    assert (found.capacity_bytes, found.capacity_min_bytes, found.capacity_max_bytes) == (2 * MIB, 2 * MIB, 9 * MIB)
    assert (found.context, found.parameters) == ({"tier": "fast"}, {"tier": "fast"})
    assert found.topologies == ({NODE_KEY: "n1"},)
    assert found.required_topologies == ()
    assert (found.schedulable, found.controller_required) == (True, True)
    assert created.volume.external_id == found.external_id != ""
    assert (created.volume.capacity_bytes, created.volume.topologies) == (2 * MIB, found.topologies)
    assert created.volume.schedulable is False
    raw = agent.get(f"/v1/volume/csi/{document.volume_id}")
    assert raw["Topologies"] == [None, {"Segments": {NODE_KEY: "n1"}}]


def test_answer_has_the_form_of_a_registration(agent, put, item):
    """The same keys, and zeros where nothing was counted yet."""
    status, body, headers = put(item("form", RequestedCapacityMin=MIB))

    assert (status, headers["Content-Type"]) == (200, "application/json")
    warnings = {"Warnings"} if agent.has("warnings-of-policies") else set()
    assert set(body) == {"Index", "KnownLeader", "LastContact", "NextToken", "Volumes", *warnings}
    [shown] = body["Volumes"]
    assert (shown["CreateIndex"], shown["ModifyIndex"], shown["ControllersHealthy"]) == (0, 0, 0)
    assert (shown["Secrets"], shown["Schedulable"]) == (None, False)
    assert shown["Topologies"][0] is None


def test_places_and_source_are_kept_as_they_were_asked(client, wanted):
    """They are what the product compares."""
    document = wanted("placed", required_topologies=({NODE_KEY: "n1"},), preferred_topologies=({NODE_KEY: "n1"},))

    volumes.create(client, document)
    found = volumes.get(client, "default", document.volume_id)

    assert found.required_topologies == found.preferred_topologies == ({NODE_KEY: "n1"},)


def test_created_again_is_the_same_volume(client, wanted):
    """An update that changes nothing."""
    document = wanted("again", capacity_min_bytes=MIB)

    first = volumes.create(client, document)
    second = volumes.create(client, document)

    assert first.volume.external_id == second.volume.external_id


def test_created_again_larger_grows(client, wanted, put, plugin_id):
    """The same storage, with more room."""
    document = wanted("grows", capacity_min_bytes=MIB)
    first = volumes.create(client, document)
    base = {"ID": document.volume_id, "Name": document.name, "PluginID": plugin_id, "RequestedCapabilities": [LONE]}

    status, body, _ = put(base | {"MountOptions": {}, "RequestedCapacityMin": 3 * MIB})

    assert status == 200, body
    found = volumes.get(client, "default", document.volume_id)
    assert (found.external_id, found.capacity_bytes) == (first.volume.external_id, 3 * MIB)


def test_changed_volume_grows_and_is_made_by_nobody(client, wanted):
    """What the product sends: a registration with the storage's id."""
    document = wanted("changed", capacity_min_bytes=MIB)
    made = volumes.create(client, document).volume
    larger = dataclasses.replace(document, capacity_min_bytes=4 * MIB)

    assert volumes.register(client, dataclasses.replace(larger, external_id=made.external_id)) == ""

    found = volumes.get(client, "default", document.volume_id)
    assert (found.external_id, found.capacity_bytes, found.capacity_min_bytes) == (made.external_id, 4 * MIB, 4 * MIB)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"RequestedCapacityMin": MIB, "RequestedCapacityMax": MIB},
            "max requested capacity (1.0 MB) less than or equal to current (2.1 MB)",
        ),
        (
            {"RequestedCapacityMin": 3 * MIB, "RequestedCapacityMax": MIB},
            "max requested capacity (1.0 MB) less than or equal to min (3.1 MB)",
        ),
        ({"Name": "other"}, ONE.format("volume name cannot be updated")),
        ({"SnapshotID": "s"}, ONE.format("volume snapshot ID cannot be updated")),
        ({"Parameters": {"a": "b"}}, ONE.format("volume parameters cannot be updated")),
        (
            {"RequestedTopologies": {"Required": [{"Segments": {"a": "b"}}]}},
            ONE.format("volume topology request update was not compatible with existing topology"),
        ),
    ],
)
def test_what_was_made_cannot_become_another(agent, put, item, change, words):
    """A creation says so without the words of a registration in front."""
    volume = item("fixed", RequestedCapacityMin=2 * MIB)
    assert put(volume)[0] == 200

    status, text, _ = put(volume | change)
    registered = agent.refused("PUT", f"/v1/volume/csi/{volume['ID']}", {"Volumes": [volume | change]})

    assert (status, text) == (500, ONE.format(words))
    assert registered == (500, f"unable to update volume: {words}")


@pytest.mark.parametrize(
    ("sizes", "kind"),
    [
        ((2, 9), "equal"),
        ((2, 8), "changes"),
        ((2, 2), "changes"),
        ((2, 0), "changes"),
        ((0, 9), "changes"),
        ((0, 0), "equal"),
        ((3, 9), "changes"),
        ((1, 1), "refused"),
        ((4, 3), "refused"),
    ],
)
def test_another_size_does_what_the_comparison_says(client, wanted, sizes, kind):
    """Smallest and largest, in MiB, of a volume that was made with 2 and 9; a smaller one is refused before Nomad is asked."""
    document = wanted("sized", capacity_min_bytes=2 * MIB, capacity_max_bytes=9 * MIB)
    made = volumes.create(client, document).volume
    least, most = (size * MIB for size in sizes)
    resized = dataclasses.replace(document, capacity_min_bytes=least, capacity_max_bytes=most)

    def compared():
        found = volumes.get(client, "default", document.volume_id)
        return compare.compare_volume(resized, found, made_by_plugin=True)

    before = compared()
    expected = pytest.raises(errors.NomadApiError) if kind == "refused" else contextlib.nullcontext()
    with expected:
        volumes.register(client, dataclasses.replace(resized, external_id=made.external_id))

    assert before.kind == kind
    assert compared().differences == (before.differences if kind == "refused" else ())


def test_less_than_it_has_is_refused_here_and_not_by_nomad(client, wanted):
    """Nomad takes the request and changes nothing: storage never shrinks."""
    document = wanted("shrinks", capacity_min_bytes=2 * MIB)
    made = volumes.create(client, document).volume
    less = dataclasses.replace(document, external_id=made.external_id, capacity_min_bytes=MIB)

    before = compare.compare_volume(less, volumes.get(client, "default", document.volume_id), made_by_plugin=True)
    volumes.register(client, less)

    assert before.kind == "refused"
    assert volumes.get(client, "default", document.volume_id).capacity_bytes == made.capacity_bytes


def test_places_that_the_plugin_chose_are_no_difference(client, wanted):
    """Nomad refuses a request for them; sent as it has them, the rest of the volume can change."""
    document = wanted("placed")
    made = volumes.create(client, document).volume
    reader = registration.Capability(access_mode="single-node-reader-only", attachment_mode="file-system")
    placed = dataclasses.replace(document, external_id=made.external_id, required_topologies=made.topologies)
    found = volumes.get(client, "default", document.volume_id)

    with pytest.raises(errors.NomadApiError, match="topology request update was not compatible"):
        volumes.register(client, placed)
    assert made.topologies == ({NODE_KEY: "n1"},)
    assert compare.compare_volume(dataclasses.replace(placed, context=found.context), found).differences == ()
    changed = dataclasses.replace(placed, capabilities=(*placed.capabilities, reader))
    volumes.register(client, compare.keep_actual_places(changed, found))

    assert len(volumes.get(client, "default", document.volume_id).capabilities) == 2


def test_growth_beyond_the_driver_is_told_in_its_words(put, item, agent):
    """Behind Nomad's own."""
    volume = item("limit", RequestedCapacityMin=MIB)
    assert put(volume)[0] == 200

    status, text, _ = put(volume | {"RequestedCapacityMin": 2**41})

    external_id = agent.get(f"/v1/volume/csi/{volume['ID']}")["ExternalID"]
    assert status == 500
    assert text == ONE.format(
        "unable to expand volume: controller expand volume: CSI.ControllerExpandVolume: "
        f'unsupported capacity_range for volume "{external_id}": rpc error: code = OutOfRange desc = '
        "Requested capacity 2199023255552 exceeds maximum allowed 1099511627776"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"Name": ""}, f"{CREATE}missing Name"),
        (
            {"RequestedCapacityMin": 2, "RequestedCapacityMax": 1},
            f"{CREATE}LimitBytes cannot be less than RequiredBytes",
        ),
        (
            {"RequestedCapabilities": [LONE | {"AccessMode": "bogus"}]},
            f"{CREATE}unknown volume access mode: bogus",
        ),
        (
            {"RequestedCapabilities": [LONE | {"AttachmentMode": "disk"}]},
            f"{CREATE}unknown volume attachment mode: disk",
        ),
        (
            {"Name": "big", "RequestedCapacityMin": 2**41},
            f'{CREATE}unsupported capacity_range for volume "big": rpc error: code = OutOfRange desc = '
            "Requested capacity 2199023255552 exceeds maximum allowed 1099511627776",
        ),
        (
            {"Name": "copy", "SnapshotID": "gone"},
            f'{CREATE}volume "copy" content source &{{"gone" ""}} does not exist: rpc error: code = NotFound desc = '
            "snapshot id gone does not exist in the snapshots list",
        ),
        (
            {"Name": "copy", "CloneID": "gone"},
            f'{CREATE}volume "copy" content source &{{"" "gone"}} does not exist: rpc error: code = NotFound desc = '
            "volume id gone does not exist in the volumes list",
        ),
    ],
)
def test_what_cannot_be_made_is_told_and_nothing_is_kept(agent, put, item, fields, words):
    """Nomad's sentence, then the driver's."""
    volume = item("never") | fields

    status, text, _ = put(volume)

    assert (status, text) == (500, ONE.format(words))
    assert agent.refused("GET", f"/v1/volume/csi/{volume['ID']}") == (404, "volume not found")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"PluginID": ""}, "validation: missing plugin id"),
        ({"RequestedCapabilities": []}, "validation: must include at least one capability block"),
        (
            {"SnapshotID": "s", "CloneID": "c"},
            "validation: only one of snapshot_id and clone_id is allowed",
        ),
        ({"PluginID": "ghost"}, "no CSI plugin named: ghost could be found"),
        ({"PluginID": "efs"}, "plugin has no controller"),
        ({"PluginID": "mute"}, "plugin has no controller"),
    ],
)
def test_what_is_refused_before_any_plugin_is_asked(put, item, fields, words):
    """These sentences stand alone."""
    status, text, _ = put(item("refused") | fields)

    assert (status, text) == (500, words)


def test_same_name_in_another_size_is_refused_by_the_driver(put, item):
    """CSI's names are the storage's names."""
    first = item("named", RequestedCapacityMin=2 * MIB)
    assert put(first)[0] == 200

    status, text, _ = put(item("other", Name=first["Name"], RequestedCapacityMin=3 * MIB))

    assert status == 500
    assert text == ONE.format(
        f'{CREATE}volume "{first["Name"]}" already exists but is incompatible with these parameters: rpc error: '
        f"code = AlreadyExists desc = Volume with the same name: {first['Name']} but with different size already exist"
    )


def test_forgotten_volume_is_found_again_by_its_name(client, wanted):
    """A deregistration leaves the storage; a creation finds it, under another id as well."""
    document = wanted("kept", capacity_min_bytes=MIB)
    first = volumes.create(client, document).volume

    volumes.deregister(client, "default", document.volume_id)
    again = volumes.create(client, document).volume
    other = volumes.create(client, wanted("another", name=document.name, capacity_min_bytes=MIB)).volume

    assert first.external_id == again.external_id == other.external_id


def test_of_several_volumes_the_good_ones_stay(agent, put, item):
    """A list is not made as a whole: the answer names what failed, and nothing else."""
    good, bad = item("good", RequestedCapacityMin=MIB), item("bad", Name="")

    status, text, _ = put(good, bad)

    assert (status, text) == (500, ONE.format(f"{CREATE}missing Name"))
    assert agent.get(f"/v1/volume/csi/{good['ID']}")["Capacity"] == MIB
    assert agent.call("GET", f"/v1/volume/csi/{bad['ID']}")[0] == 404


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"Volumes": []}, (500, "missing volume definition")),
        ({}, (500, "missing volume definition")),
        (
            {"Volumes": [{"ID": "x", "RequestedCapacityMin": "1"}]},
            (
                400,
                "json: cannot unmarshal string into Go struct field CSIVolume.Volumes.RequestedCapacityMin of type "
                "int64",
            ),
        ),
    ],
)
def test_bodies_that_are_none_are_refused(agent, body, answer):
    """As for registrations."""
    assert agent.refused("PUT", "/v1/volume/csi/x/create", body) == answer


def test_creation_is_put(agent):
    """Another method is refused."""
    assert agent.refused("POST", "/v1/volume/csi/x/create", {}) == (405, "Invalid method")


def test_unknown_namespace_is_found_out_after_the_plugin_made_it(client, wanted):
    """The storage is there then, and found again by its name: nothing is lost, nothing is doubled."""
    document = wanted("lost", capacity_min_bytes=MIB)
    nowhere = dataclasses.replace(document, namespace="nowhere")

    with pytest.raises(errors.NomadApiError, match="is in nonexistent namespace nowhere") as caught:
        volumes.create(client, nowhere)

    assert caught.value.kind == "refused"
    assert volumes.create(client, document).volume.capacity_bytes == MIB


def test_volume_in_use_grows_and_stays(agent, client, wanted, ran, consumer, fresh):
    """A claimed volume is larger at once, for the task as well; and nobody forgets it."""
    document = wanted("used", capacity_min_bytes=MIB)
    made = volumes.create(client, document).volume
    job_id = fresh("holder")
    ran(job_id, consumer(job_id, document.volume_id, mode="single-node-writer"))
    agent.until_status(job_id, "running")

    larger = dataclasses.replace(document, capacity_min_bytes=4 * MIB)
    volumes.register(client, dataclasses.replace(larger, external_id=made.external_id))

    found = volumes.get(client, "default", document.volume_id)
    assert (found.capacity_bytes, [claim.job_id for claim in found.claims]) == (4 * MIB, [job_id])
    with pytest.raises(errors.NomadApiError, match="volume in use"):
        volumes.deregister(client, "default", document.volume_id)
