"""The component of a volume that the plugin makes, and what a spec's classes, sets and own drivers become."""

import pulumi
import pytest

from nomad_csi import CsiVolume
from nomad_csi.plan import storage, volumes
from nomad_csi.volumes import desired, ownership, volume_resource

OWN = {
    "name": "made-up",
    "provider": "made-up.example",
    "image": "registry.example/made-up:1.2.3",
    "roles": {"monolith": {"job_type": "system", "privileged": True}},
    "capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
    "creates": True,
}
SCRATCH = {"plugin_id": "made-up", "driver": OWN, "capacity_min_gib": 1}


def test_an_output_may_have_parts_without_a_value(cloud):
    """A mapping of another resource has keys that are null, and whole numbers as floats; neither is a value here."""
    mount = pulumi.Output.from_input({"fs_type": "ext4", "mount_flags": None})
    given = SCRATCH | {"mount_options": mount, "capacity_min_gib": pulumi.Output.from_input(3.0)}

    cloud.settle(lambda: CsiVolume("scratch", given) and None)

    made = cloud.inputs("nomad-csi:index:CreatedVolume", "scratch")
    assert (made["mountOptions"], made["capacityMinBytes"]) == ({"fsType": "ext4"}, 3 * 2**30)


@pytest.mark.parametrize(
    "create",
    [
        {"capacity_min_gib": 1},
        {"capacity_min_bytes": 104_857_601, "capacity_max_gib": 2, "snapshot_id": "snap-1", "availability_zone": "a"},
        {"capacity_min_gib": 1, "clone_id": "vol-1", "on_destroy": "keep"},
    ],
)
def test_command_line_asks_for_what_the_component_declares(cloud, create):
    """`nomad-csi apply` and `pulumi up` want the same volume of one spec."""
    common = {"plugin_id": "made-up", "parameters": {"kind": "fast"}, "mount_options": {"mount_flags": ["noatime"]}}
    common |= {"capabilities": [{"access_mode": "single-node-writer"}], "adopt": True, "name": "readable"}
    own = OWN | {"topology_key": "made-up.example/zone"} if "availability_zone" in create else OWN
    spec = {"plugins": [{"id": "made-up", "driver": own}], "volumes": [{"id": "scratch", "create": create} | common]}
    [planned] = storage.plan_document(spec).volumes
    cloud.settle(lambda: CsiVolume("scratch", {"driver": own} | create | common) and None)
    kind = volume_resource.CreatedVolumeResource()

    who = ownership.Requester(owner="storage/prod")
    typed = desired.of_plan(planned, volumes.desired_document(planned, {}), who)
    declared, _ = kind.check(cloud.sent("nomad-csi:index:CreatedVolume", "scratch"))

    assert declared.pop("ownerId") == "9f86d081884c7d65"
    assert desired.of_properties(kind.declared, declared) == typed


def test_its_file_is_for_volume_create(cloud):
    """Sizes instead of an external id, which only the plugin will know."""
    cloud.settle(lambda: CsiVolume("scratch", SCRATCH | {"render_to": "out"}) and None)

    made = cloud.inputs("nomad-csi:index:RenderedFile", "scratch")
    assert made["path"] == "out/volumes/default/scratch.volume.hcl"
    assert (
        'plugin_id = "made-up"\n\n# The plugin creates the volume: `nomad-csi apply` with the spec.\n'
        in made["content"]
    )
    assert 'capacity_min = "1GiB"\n' in made["content"]
    assert "external_id" not in made["content"]


ZONED = OWN | {"topology_key": "topology.made-up.example/zone"}
BROAD = [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}, *OWN["capabilities"]]
OTHERWISE = {
    "provider": "other.example",
    "image": "registry.example/made-up:2.0.0",
    "capabilities": BROAD,
    "fs_types": ["ext4"],
    "parameters": {"allowed": ["kind"]},
    "topology_key": "topology.kubernetes.io/zone",
    "topology_keys": ["topology.made-up.example/rack"],
    "needs_capacity": True,
    "storage": "ebs",
}
"""Another value for each part of a driver's description that a volume may follow from."""


@pytest.fixture
def asked(cloud):
    """Return a function that gives the checked inputs of a volume in zone ``a``, of a driver: ``asked(OWN)``."""

    def ask(driver, **more):
        args = SCRATCH | {"driver": driver, "availability_zone": "a"} | more
        name = f"scratch-{len(cloud.recorder.made)}"
        cloud.settle(lambda: CsiVolume(name, args | {"volume_id": "scratch"}) and None)
        return volume_resource.CreatedVolumeResource().check(cloud.sent("nomad-csi:index:CreatedVolume", name))[0]

    return ask


@pytest.mark.parametrize("name", sorted(OTHERWISE))
def test_catalogue_change_replaces_no_volume_that_its_plugin_made(asked, name):
    """What the storage was made by stays as recorded; a change in place is left to Nomad."""
    before = asked(ZONED)
    after = asked(ZONED | {name: OTHERWISE[name]})

    found = volume_resource.CreatedVolumeResource().diff("default/scratch", before, {}, after)

    assert found.replaces == ()
    assert {path.partition("[")[0] for path in found.updates} <= {"capabilities"}


@pytest.mark.parametrize(("before", "after"), [(OWN, ZONED), (ZONED, OWN)], ids=["zoned", "not zoned any more"])
def test_driver_that_learns_of_zones_replaces_no_volume(asked, before, after):
    """Whether its volumes are bound to a zone is said by the catalogue, too."""
    found = volume_resource.CreatedVolumeResource().diff("default/scratch", asked(before), {}, asked(after))

    assert not found.any


@pytest.mark.parametrize("more", [{"availability_zone": "b"}, {"topologies": [{"topology.made-up.example/zone": "b"}]}])
def test_another_zone_replaces_it(asked, more):
    """That is the program's wish, and no change of the catalogue."""
    found = volume_resource.CreatedVolumeResource().diff("default/scratch", asked(ZONED), {}, asked(ZONED, **more))

    assert {path.partition("[")[0] for path in found.replaces} == {"requiredTopologies"}
