"""The component of a volume that the plugin makes, and what a spec's classes, sets and own drivers become."""

import pulumi
import pytest

from nomad_csi import CsiVolume, errors
from nomad_csi.plan import storage, volumes
from nomad_csi.spec import plugin, volume
from nomad_csi.spec.driver import DriverSpec
from nomad_csi.volumes import desired, owner_records, volume_resource

OWN = {
    "name": "made-up",
    "provider": "made-up.example",
    "image": "registry.example/made-up:1.2.3",
    "roles": {"monolith": {"job_type": "system", "privileged": True}},
    "capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
    "creates": True,
}
SCRATCH = {"plugin_id": "made-up", "driver": OWN, "capacity_min_gib": 1}


def test_csi_volume_asks_the_plugin(cloud):
    """One resource, sizes in bytes, protected unless somebody says otherwise; no registration beside it."""
    cloud.settle(
        lambda: CsiVolume("scratch", SCRATCH | {"capacity_max_gib": 2, "parameters": {"kind": "fast"}}) and None
    )

    assert {f"{made.token} {made.name}" for made in cloud.recorder.made if "index" in made.token} == {
        "nomad-csi:index:CsiVolume scratch",
        "nomad-csi:index:StackIdentity nomad-csi",
        "nomad-csi:index:CreatedVolume scratch",
    }
    assert cloud.inputs("nomad-csi:index:CreatedVolume", "scratch") == {
        "adopt": False,
        "owner": "storage/prod",
        "ownerId": "9f86d081884c7d65",
        "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
        "capacityMaxBytes": 2 * 2**30,
        "capacityMinBytes": 2**30,
        "mountOptions": {},
        "name": "scratch",
        "namespace": "default",
        "onDestroy": "keep",
        "parameters": {"kind": "fast"},
        "pluginId": "made-up",
        "volumeId": "scratch",
    }


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

    who = owner_records.Requester(owner="storage/prod")
    typed = desired.of_plan(planned, volumes.desired_document(planned, {}), who)
    declared, _ = kind.check(cloud.sent("nomad-csi:index:CreatedVolume", "scratch"))

    assert declared.pop("ownerId") == "9f86d081884c7d65"
    assert desired.of_properties(kind.declared, declared) == typed


def test_storage_that_goes_says_how(cloud):
    """In the provider's words; what nobody said is left out."""
    how = {"endpoint": "client-1:9000", "accept_unguarded": True}
    cloud.settle(lambda: CsiVolume("scratch", SCRATCH | {"on_destroy": "delete", "deletion": how}) and None)

    made = cloud.inputs("nomad-csi:index:CreatedVolume", "scratch")
    assert made["onDestroy"] == "delete"
    assert made["deletion"] == {"endpoint": "client-1:9000", "acceptUnguarded": True}


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


def test_its_exact_size_is_handed_over(cloud):
    """Bytes are neither rounded nor counted in GiB: to Nomad, and in the file."""
    exact = {"plugin_id": "made-up", "driver": OWN, "capacity_min_bytes": 104_857_601, "capacity_max_bytes": 2**27}

    cloud.settle(lambda: CsiVolume("scratch", exact | {"render_to": "out"}) and None)

    made = cloud.inputs("nomad-csi:index:CreatedVolume", "scratch")
    assert (made["capacityMinBytes"], made["capacityMaxBytes"]) == (104_857_601, 134_217_728)
    content = cloud.inputs("nomad-csi:index:RenderedFile", "scratch")["content"]
    assert 'capacity_min = "104857601B"\ncapacity_max = "128MiB"\n' in content


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"capacity_min_gib": 0}, "capacity_min_gib: expected at least 1, got 0"),
        (
            {"capacity_min_bytes": 2**30},
            "create: expected exactly one of capacity_min_gib, capacity_min_bytes, got capacity_min_gib and "
            "capacity_min_bytes",
        ),
        (
            {"capacity_max_gib": 1, "capacity_min_gib": 2},
            "create: expected capacity_max_gib of at least capacity_min_gib, got a mapping",
        ),
        (
            {"clone_id": "a", "snapshot_id": "b"},
            "create: expected clone_id or snapshot_id, not both, got a mapping",
        ),
        (
            {"on_destroy": "delete"},
            "create: expected deletion, which says how, with on_destroy: delete, got a mapping",
        ),
        (
            {"on_destroy": "delete", "deletion": {"skip_final_snapshot": True}},
            "deletion: expected endpoint or aws_region: what deletes it, got a mapping",
        ),
        (
            {"on_destroy": "delete", "deletion": {"endpoint": "client-1:9000"}},
            "deletion.accept_unguarded: expected true: the storage of made-up does not refuse to be deleted while it",
        ),
        (
            {"on_destroy": "delete", "deletion": {"aws_region": "us-east-1"}},
            "deletion.aws_region: expected none: AWS knows nothing of the storage of made-up, got 'us-east-1'",
        ),
        (
            {"context": {"a": "b"}},
            "context: expected none: the plugin writes the context of a volume that it makes, got some; use parameters",
        ),
        ({"driver": "aws-s4"}, "driver: expected one of aws-ebs, "),
        ({"driver": OWN | {"creates": False}}, "create: expected existing under a plugin of made-up, got create"),
        ({"driver": OWN | {"roles": {}}}, "driver.roles: expected at least 1 item, got {}"),
    ],
)
def test_rejects_before_anything_is_declared(cloud, change, line):
    """The rules of the spec, with the names of the arguments."""
    with pytest.raises(errors.SpecError) as caught:
        cloud.settle(lambda: CsiVolume("scratch", SCRATCH | change) and None)

    assert any(str(problem).startswith(line) for problem in caught.value.problems), str(caught.value)
    assert not [made for made in cloud.recorder.made if "Created" in made.token]


def test_every_field_of_the_spec_is_an_argument():
    """
    What a spec can say of a plugin or a volume, a program can too.

    A former id (``moved_from``) is an alias there, and a file system that a spec names (``file_system``) an
    `EfsFileSystem`, whose id is given. Of schedules, EBS volumes alone name theirs: file systems are named by their schedule (`EfsBackups`).
    """
    from nomad_csi.components import argument_classes  # noqa: PLC0415  # of this test only

    def names(kind):
        return kind.__required_keys__ | kind.__optional_keys__

    own = {"render_to", "templates"}
    assert names(argument_classes.CsiPluginArgs) == (set(plugin.PluginSpec.model_fields) - {"id"}) | own
    common = (
        set(volume.VolumeSpec.model_fields) - {"id", "moved_from", "snapshots", *volume.SOURCES} | own | {"volume_id"}
    )
    assert names(argument_classes.EbsVolumeArgs) == common | set(volume.EbsSpec.model_fields) | {"snapshots"}
    assert names(argument_classes.EfsVolumeArgs) == (common | set(volume.EfsSpec.model_fields)) - {"file_system"}
    registered = names(argument_classes.ExistingVolumeArgs) | {"protect"}
    assert registered == common | set(volume.ExistingSpec.model_fields) | {"driver"}
    assert names(argument_classes.CsiVolumeArgs) == common | set(volume.CreateSpec.model_fields) | {"driver"}


def test_a_plugin_id_of_a_healthy_plugin_may_come_late(cloud):
    """As every volume, it waits for its plugin; its file names the plugin, too."""
    args = SCRATCH | {"plugin_id": pulumi.Output.from_input("late"), "render_to": "out"}
    cloud.settle(lambda: CsiVolume("scratch", args) and None)

    assert cloud.inputs("nomad-csi:index:CreatedVolume", "scratch")["pluginId"] == "late"
    assert 'plugin_id = "late"\n' in cloud.inputs("nomad-csi:index:RenderedFile", "scratch")["content"]


ZONED = OWN | {"topology_key": "topology.made-up.example/zone"}
BROAD = [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}, *OWN["capabilities"]]
OTHERWISE = {
    "needs_capacity": True,
    "name": "other",
    "title": "Other",
    "provider": "other.example",
    "image": "registry.example/made-up:2.0.0",
    "image_digest": f"sha256:{'0' * 64}",
    "version": "2.0.0",
    "vendor_version": "v2",
    "roles": {"monolith": {"job_type": "service", "privileged": False}},
    "capabilities": BROAD,
    "modes_advice": "none",
    "external_id": {"pattern": "x-.*"},
    "fs_types": ["ext4"],
    "refused_mount_flags": {"soft": "leave it out"},
    "context": {"required": ["share"]},
    "parameters": {"allowed": ["kind"]},
    "secrets": {"allowed": ["key"]},
    "topology_key": "topology.kubernetes.io/zone",
    "topology_keys": ["topology.made-up.example/rack"],
    "limits": ["3 for each client"],
    "log_levels": ["info"],
    "default_log_level": "info",
    "settings": {"pool": {"text": "a pool"}},
    "config_file": {"name": "other.yaml"},
    "tag_format": {"pair": ":"},
    "health_timeout_s": 99,
    "minimum_nomad": "1.9.0",
    "credentials_optional": True,
    "storage": "ebs",
    "registers": False,
}
"""Another value for everything that a driver's description says; without ``creates`` there is no volume."""


@pytest.fixture
def asked(cloud):
    """Return a function that gives the checked inputs of a volume in zone ``a``, of a driver: ``asked(OWN)``."""

    def ask(driver, **more):
        args = SCRATCH | {"driver": driver, "availability_zone": "a"} | more
        name = f"scratch-{len(cloud.recorder.made)}"
        cloud.settle(lambda: CsiVolume(name, args | {"volume_id": "scratch"}) and None)
        return volume_resource.CreatedVolumeResource().check(cloud.sent("nomad-csi:index:CreatedVolume", name))[0]

    return ask


def test_every_field_of_a_driver_is_changed_below():
    """A field that a later release adds is checked here, too."""
    assert OTHERWISE.keys() | {"creates"} == DriverSpec.model_fields.keys()


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


def test_volume_of_an_older_release_survives_another_topology_key(asked):
    """Its state has the place by the old key, and not the zone that was asked for."""
    before = {name: value for name, value in asked(ZONED).items() if name != "availabilityZone"}

    found = volume_resource.CreatedVolumeResource().diff(
        "default/scratch", before, {}, asked(ZONED | {"topology_key": "topology.kubernetes.io/zone"})
    )

    assert not found.any


@pytest.mark.parametrize("more", [{"availability_zone": "b"}, {"topologies": [{"topology.made-up.example/zone": "b"}]}])
def test_another_zone_replaces_it(asked, more):
    """That is the program's wish, and no change of the catalogue."""
    found = volume_resource.CreatedVolumeResource().diff("default/scratch", asked(ZONED), {}, asked(ZONED, **more))

    assert {path.partition("[")[0] for path in found.replaces} == {"requiredTopologies"}
