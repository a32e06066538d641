"""What the comparison of a volume says that a registration does, and what an agent does."""

import contextlib
import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import compare

HERE, THERE = ({"topology.kubernetes.io/zone": f"us-east-1{letter}"} for letter in "ab")
SHARED = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
READER = registration.Capability(access_mode="multi-node-reader-only", attachment_mode="file-system")
GIB = 2**30
BASE = {
    "external_id": "fs-0123456789abcdef0",
    "plugin_id": "efs",
    "capabilities": (SHARED,),
    "mount_options": registration.MountOptions(fs_type="nfs4"),
    "required_topologies": (HERE,),
    "parameters": {"p": "1"},
    "context": {"c": "1"},
}


@pytest.mark.parametrize(
    ("held", "desired", "kind"),
    [
        ({}, {}, "equal"),
        ({}, {"name": "other"}, "refused"),
        ({}, {"name": ""}, "equal"),
        ({}, {"external_id": "fs-1"}, "refused"),
        ({}, {"plugin_id": "ebs"}, "refused"),
        ({"snapshot_id": "a"}, {"snapshot_id": "b"}, "refused"),
        ({"clone_id": "a"}, {"clone_id": "b"}, "refused"),
        ({"clone_id": "a"}, {"clone_id": ""}, "equal"),
        ({}, {"parameters": {"p": "2"}}, "refused"),
        ({}, {"parameters": {}}, "ignored"),
        ({}, {"context": {"d": "1"}}, "changes"),
        ({}, {"context": {}}, "ignored"),
        ({}, {"required_topologies": ()}, "refused"),
        ({}, {"required_topologies": (THERE,)}, "refused"),
        ({"required_topologies": ()}, {"required_topologies": (HERE,)}, "ignored"),
        ({"required_topologies": (HERE, THERE)}, {"required_topologies": (THERE, HERE)}, "equal"),
        ({"preferred_topologies": (HERE,)}, {"preferred_topologies": ()}, "equal"),
        ({"preferred_topologies": (HERE,)}, {"preferred_topologies": (), "context": {"d": "1"}}, "changes"),
        ({"preferred_topologies": (HERE,)}, {"preferred_topologies": (THERE,)}, "refused"),
        ({}, {"preferred_topologies": (HERE,)}, "refused"),
        ({"required_topologies": ()}, {"required_topologies": (), "preferred_topologies": (HERE,)}, "ignored"),
        ({"capabilities": (SHARED, SHARED)}, {"capabilities": (SHARED,)}, "equal"),
        ({}, {"capabilities": (READER, SHARED)}, "changes"),
        ({}, {"capabilities": (READER,)}, "changes"),
        ({}, {"mount_options": registration.MountOptions(fs_type="nfs")}, "changes"),
        ({}, {"mount_options": registration.MountOptions(mount_flags=("tls",))}, "changes"),
        ({}, {"secrets": {"key": "value"}}, "hidden"),
        ({}, {"capacity_max_bytes": GIB}, "changes"),
        ({"capacity_max_bytes": GIB}, {"capacity_max_bytes": 0}, "equal"),
        ({}, {"capacity_min_bytes": 2 * GIB, "capacity_max_bytes": GIB}, "refused"),
    ],
)
def test_registration_does_what_the_comparison_says(client, fresh, held, desired, kind):
    """Refused, or accepted; what changes in place has changed, and the rest is as it was."""
    first = registration.VolumeRegistration(
        **{"volume_id": (volume_id := fresh("rule")), "name": volume_id, **BASE, **held}
    )
    volumes.register(client, first)
    wanted, before = dataclasses.replace(first, **desired), volumes.get(client, "default", volume_id)
    compared = compare.compare_volume(wanted, before)

    expected = pytest.raises(errors.NomadApiError) if kind == "refused" else contextlib.nullcontext()
    with expected:
        volumes.register(client, compare.keep_actual_topologies(wanted, before))

    after = compare.compare_volume(wanted, volumes.get(client, "default", volume_id))
    assert compared.kind == kind
    assert after.differences == tuple(item for item in compared.differences if kind != "changes")
    volumes.deregister(client, "default", volume_id)
