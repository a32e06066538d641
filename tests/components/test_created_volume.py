"""The resource class of volumes that a plugin makes."""

from nomad_csi.components import resources
from nomad_csi.volumes import volume_resource

SECRET_MARKER = "4dabf18193072939515e22adb298388d"


def test_created_volume_declares_what_the_provider_checks(cloud):
    """Every input in the provider's own words, and secrets marked; the provider has nothing to complain about."""
    cloud.settle(
        lambda: (
            resources.CreatedVolume(
                "scratch",
                volume_id="scratch",
                plugin_id="hostpath",
                capabilities=[{"access_mode": "single-node-writer", "attachment_mode": "file-system"}],
                mount_options={"fs_type": "ext4", "mount_flags": ["noatime"]},
                required_topologies=[{"segments": {"zone": "a"}}],
                preferred_topologies=[{"segments": {"zone": "a"}}],
                parameters={"kind": "fast"},
                secrets={"key": "canary"},
                capacity_min_bytes=1 << 30,
                capacity_max_bytes=2 << 30,
                snapshot_id="snap-1",
            )
            and None
        )
    )

    made = dict(cloud.sent("nomad-csi:index:CreatedVolume", "scratch"))
    assert made.pop("secrets") == {"key": "canary"}
    given = {name: value for name, value in made.items() if value is not None}
    values, failures = volume_resource.CreatedVolumeResource().check(given)
    assert failures == ()
    assert values == given | {"namespace": "default", "name": "scratch"}
    assert given == {
        "volumeId": "scratch",
        "pluginId": "hostpath",
        "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
        "mountOptions": {"fsType": "ext4", "mountFlags": ["noatime"]},
        "requiredTopologies": [{"segments": {"zone": "a"}}],
        "preferredTopologies": [{"segments": {"zone": "a"}}],
        "parameters": {"kind": "fast"},
        "capacityMinBytes": 1 << 30,
        "capacityMaxBytes": 2 << 30,
        "snapshotId": "snap-1",
    }
    assert SECRET_MARKER in cloud.inputs("nomad-csi:index:CreatedVolume", "scratch")["secrets"]
