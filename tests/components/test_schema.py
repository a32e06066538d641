"""What programs in other languages see of the components."""

import json

from pulumi.provider.experimental.component import ComponentProvider

from nomad_csi import COMPONENTS

SCHEMA = json.loads(ComponentProvider(list(COMPONENTS), "nomad-csi", None, "0.0.0").schema)


def test_every_component_can_be_analysed():
    """Pulumi's analyzer reads the argument classes; a future import in their modules would break it."""
    assert sorted(SCHEMA["resources"]) == [
        "nomad-csi:index:CsiPlugin",
        "nomad-csi:index:EbsVolume",
        "nomad-csi:index:EfsVolume",
        "nomad-csi:index:ExistingVolume",
    ]


def test_required_inputs_are_those_without_a_default():
    """What must be given is what the spec demands."""
    required = {name: sorted(item["requiredInputs"]) for name, item in SCHEMA["resources"].items()}

    assert required == {
        "nomad-csi:index:CsiPlugin": ["awsRegion", "driver"],
        "nomad-csi:index:EbsVolume": ["availabilityZone", "pluginId", "sizeGib"],
        "nomad-csi:index:EfsVolume": ["clients", "mountTargets", "pluginId"],
        "nomad-csi:index:ExistingVolume": ["driver", "externalId", "pluginId"],
    }
