"""The cases of `CreatedVolume`."""

from nomad_csi.volumes import volume_resource
from tests.deeds.agent import GIB
from tests.deeds.deeds import Case, checked_inputs

VOLUME = volume_resource.CreatedVolumeResource()
ZONE_A = {"segments": {"topology.kubernetes.io/zone": "us-east-1a"}}
ZONE_B = {"segments": {"topology.kubernetes.io/zone": "us-east-1b"}}
GIVEN = {
    "volumeId": "scratch",
    "namespace": "prod",
    "pluginId": "ebs",
    "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
    "mountOptions": {"fsType": "ext4", "mountFlags": ["noatime"]},
    "requiredTopologies": [ZONE_A, ZONE_B],
    "preferredTopologies": [ZONE_B],
    "parameters": {"type": "gp3"},
    "capacityMinBytes": 5 * GIB,
    "capacityMaxBytes": 8 * GIB,
    "secrets": {"key": "canary-41"},
    "owner": "shop/prod",
    "ownerId": "00112233aabbccdd",
    "onDestroy": "keep",
}
CHANGES = {
    "plugin": {"pluginId": "efs"},
    "capabilities": {"capabilities": [{"accessMode": "multi-node-reader-only", "attachmentMode": "file-system"}]},
    "mount options": {"mountOptions": {"fsType": "xfs"}},
    "places": {"requiredTopologies": [ZONE_B]},
    "preferred places": {"preferredTopologies": [ZONE_A]},
    "parameters": {"parameters": {"type": "io2"}},
    "larger": {"capacityMinBytes": 7 * GIB},
    "smaller": {"capacityMinBytes": GIB, "capacityMaxBytes": 2 * GIB},
    "snapshot": {"snapshotId": "snap-1"},
    "secrets": {"secrets": {"key": "canary-42"}},
    "owner": {"owner": "shop/test", "ownerId": "ffeeddccbbaa9988"},
    "on destroy": {"onDestroy": "delete", "deletion": {"awsRegion": "us-east-1"}},
}
FAILING = ("larger", "secrets")
REPLACING = ("plugin", "places", "preferred places", "parameters", "snapshot")
SHOWN = {"secrets": {}, "mountOptions": {"fsType": "ext4"}}
"""A volume of which Nomad shows all, so that a read says whether an update has arrived."""


def checked(**changes):
    """Return checked inputs."""
    return checked_inputs(VOLUME, GIVEN | changes)


def create(_agent, context, _before=None, **changes):
    """Have the volume created."""
    return VOLUME.create(context, checked(**changes))


def created(agent, context):
    """Have the volume created, and return its outputs."""
    return create(agent, context)[1]


def _outputs(**changes):
    return lambda agent, context: create(agent, context, **changes)[1]


def _by_hand(**changes):
    def change(agent, context):
        outputs = created(agent, context)
        agent.cluster.state.volumes["prod", "scratch"].spec.update(changes)
        return outputs

    return change


def _gone(agent, context):
    outputs = created(agent, context)
    agent.cluster.state.volumes.clear()
    return outputs


def _update(change):
    return lambda _agent, context, outputs: VOLUME.update(context, "prod/scratch", outputs, checked(**change))


def _diff(change):
    return lambda _agent, _context, outputs: VOLUME.diff("prod/scratch", checked(), outputs, checked(**change))


def _read(_agent, context, outputs):
    return VOLUME.read(context, "prod/scratch", checked(), outputs)


def _delete(_agent, context, outputs):
    return VOLUME.delete(context, "prod/scratch", outputs)


def _preview(change):
    return lambda _agent, context, outputs: VOLUME.preflight(context, outputs, checked(**change))


CASES = (
    Case("create", create, fails=True),
    Case("create: there already, equal", create, before=created, fails=True),
    Case(
        "create: there already, of another stack", create, before=_outputs(owner="web/prod", ownerId="9999999999999999")
    ),
    Case("create: there already, smaller", create, before=_outputs(capacityMinBytes=GIB, capacityMaxBytes=2 * GIB)),
    Case(
        "create with adopt: there already, smaller",
        lambda agent, context, _: create(agent, context, adopt=True),
        before=_outputs(capacityMinBytes=GIB, capacityMaxBytes=2 * GIB),
    ),
    Case("create: no such plugin", lambda agent, context: create(agent, context, pluginId="none")),
    Case("update: unchanged", _update({}), before=created),
    Case("update: not registered any more", _update({}), before=_gone, fails=True),
    *(Case(f"diff: {name}", _diff(change), before=created) for name, change in CHANGES.items()),
    *(
        Case(f"update: {name}", _update(change), before=created, fails=name in FAILING)
        for name, change in CHANGES.items()
        if name not in REPLACING
    ),
    Case("update: larger, without secrets", _update(CHANGES["larger"] | SHOWN), before=_outputs(**SHOWN), fails=True),
    Case("preview: new", lambda _agent, context: VOLUME.preflight(context, {}, checked())),
    Case("preview: there already", lambda _agent, context, _: VOLUME.preflight(context, {}, checked()), before=created),
    Case("preview: replaced", _preview(CHANGES["parameters"]), before=created),
    Case(
        "preview: not registered any more",
        lambda _a, c, o: VOLUME.preflight(c, o | {"deregistered": True}, checked()),
        before=_gone,
    ),
    Case("read", _read, before=created),
    Case("read: gone", _read, before=_gone),
    Case("read: other storage", _read, before=_by_hand(ExternalID="vol-9")),
    Case("read: larger", _read, before=_by_hand(Capacity=6 * GIB)),
    Case("import", lambda _agent, context, _outputs: VOLUME.read(context, "prod/scratch", {}, {}), before=created),
    Case("delete", _delete, before=created, fails=True),
    Case("delete: gone", _delete, before=_gone),
    Case("delete: other storage", _delete, before=_by_hand(ExternalID="vol-9")),
)
