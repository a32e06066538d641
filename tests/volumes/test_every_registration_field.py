"""Each field of a registration is sent, compared, rendered and declared: one that is forgotten in a place fails here."""

import dataclasses
import typing
from collections.abc import Mapping

import pytest

from nomad_csi.findings import registry
from nomad_csi.hcl import documents
from nomad_csi.plan import registration
from nomad_csi.volumes import compare, desired, volume_properties

READER = registration.Capability(access_mode="multi-node-reader-only", attachment_mode="file-system")
WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
BASE = registration.VolumeRegistration(
    volume_id="data", name="data", external_id="vol-1", plugin_id="aws-ebs0", capabilities=(WRITER,)
)
OTHER = {
    str: "other",
    int: 8 * 2**30,
    Mapping[str, str]: {"key": "other"},
    tuple[Mapping[str, str], ...]: ({"zone": "us-east-1b"},),
    tuple[registration.Capability, ...]: (READER,),
    registration.MountOptions: registration.MountOptions(fs_type="xfs"),
}
KEY = {"volume_id", "namespace"}
"""What identifies a volume is not compared: another one is another volume."""

NOT_IN_A_FILE = {"preferred_topologies"}
"""No key of a spec asks for it; a program gives it to the resource."""

TYPES = typing.get_type_hints(registration.VolumeRegistration)
FIELDS = [item.name for item in dataclasses.fields(BASE) if item.metadata != registration.IS_OWN]


def changed(field):
    """Return the base with another value of the field."""
    return dataclasses.replace(BASE, **{field: OTHER[TYPES[field]]})


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in KEY])
def test_it_is_compared(field):
    """As a difference, or as what Nomad does not show; for a volume that exists, or one that its plugin makes."""
    registered = compare.registered_volume(BASE)

    found = [
        compare.compare_volume(changed(field), registered, made_by_plugin=by_plugin) for by_plugin in (False, True)
    ]

    assert any(item.differences or item.hidden for item in found)
    assert all(each.field in registry.code_of_field() for item in found for each in item.differences)


@pytest.mark.parametrize("field", FIELDS)
def test_it_is_sent(field):
    """In Nomad's JSON."""
    assert registration.write(changed(field), "api") != registration.write(BASE, "api")


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in NOT_IN_A_FILE])
def test_it_is_rendered(field):
    """In the file for `nomad volume register`, or in that for `nomad volume create`; of secrets, the names."""
    assert any(
        documents.volume_file(changed(field), made_by_plugin=by_plugin)
        != documents.volume_file(BASE, made_by_plugin=by_plugin)
        for by_plugin in (False, True)
    )


@pytest.mark.parametrize("field", FIELDS)
def test_it_is_a_property_of_a_resource(field):
    """Of `VolumeRegistration`, or of `CreatedVolume`."""
    before, after = desired.write_inputs(BASE), desired.write_inputs(changed(field))
    [name] = [name for name, value in after.items() if value != before.get(name)]

    assert name in {**volume_properties.REGISTRATION.inputs, **volume_properties.CREATED.inputs}
