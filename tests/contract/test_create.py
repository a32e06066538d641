"""
Volumes that plugins make, through Nomad: two agents, and two drivers on each.

The driver is csi-driver-host-path, played by the sandbox, and itself where ``hostpathplugin`` is on PATH.
"""

import contextlib
import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import compare

MIB = 2**20
NODE_KEY = "topology.hostpath.csi/node"


@pytest.fixture
def wanted(plugin_id, fresh):
    """Write a volume that the plugin is to make: ``wanted("v", capacity_min_bytes=1)``; its id is no one else's."""

    def write(prefix, **fields):
        volume_id = fresh(prefix)
        common = {"volume_id": volume_id, "name": volume_id, "plugin_id": plugin_id}
        writer = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
        return registration.VolumeRegistration(**{**common, "capabilities": (writer,), **fields})

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


def test_changed_volume_grows_and_is_made_by_nobody(client, wanted):
    """What the product sends: a registration with the storage's id."""
    document = wanted("changed", capacity_min_bytes=MIB)
    made = volumes.create(client, document).volume
    larger = dataclasses.replace(document, capacity_min_bytes=4 * MIB)

    assert volumes.register(client, dataclasses.replace(larger, external_id=made.external_id)) == ""

    found = volumes.get(client, "default", document.volume_id)
    assert (found.external_id, found.capacity_bytes, found.capacity_min_bytes) == (made.external_id, 4 * MIB, 4 * MIB)


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
    volumes.register(client, compare.keep_actual_topologies(changed, found))

    assert len(volumes.get(client, "default", document.volume_id).capabilities) == 2


def test_what_the_plugin_refuses_is_not_registered(client, wanted):
    """With the driver's own words."""
    copy = wanted("copy", snapshot_id="gone")

    with pytest.raises(errors.NomadApiError, match="snapshot id gone does not exist in the snapshots list"):
        volumes.create(client, copy)

    assert volumes.get(client, "default", copy.volume_id) is None


def test_same_name_in_another_size_is_refused_by_the_driver(client, wanted):
    """CSI's names are the storage's names."""
    first = wanted("named", capacity_min_bytes=2 * MIB)
    volumes.create(client, first)

    with pytest.raises(errors.NomadApiError, match="code = AlreadyExists"):
        volumes.create(client, wanted("other", name=first.name, capacity_min_bytes=3 * MIB))


def test_forgotten_volume_is_found_again_by_its_name(client, wanted):
    """A deregistration leaves the storage; a creation finds it, under another id as well."""
    document = wanted("kept", capacity_min_bytes=MIB)
    first = volumes.create(client, document).volume

    volumes.deregister(client, "default", document.volume_id)
    again = volumes.create(client, document).volume
    other = volumes.create(client, wanted("another", name=document.name, capacity_min_bytes=MIB)).volume

    assert first.external_id == again.external_id == other.external_id


def test_unknown_namespace_is_found_out_after_the_plugin_made_it(client, wanted):
    """The storage is there then, and found again by its name: nothing is lost, nothing is doubled."""
    document = wanted("lost", capacity_min_bytes=MIB)
    nowhere = dataclasses.replace(document, namespace="nowhere")

    with pytest.raises(errors.NomadApiError, match="is in nonexistent namespace nowhere") as caught:
        volumes.create(client, nowhere)

    assert caught.value.kind == "refused"
    assert volumes.create(client, document).volume.capacity_bytes == MIB


def test_volume_in_use_grows_and_stays(agent, client, wanted, ran, consumer, fresh):
    """A claimed volume is larger at once, for the task as well; and no one forgets it."""
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
