"""The cases of `VolumeRegistration`."""

from nomad_csi.frame import resource
from nomad_csi.volumes import volume_resource
from tests.deeds.deeds import Case, checked_inputs

VOLUME = volume_resource.VolumeRegistrationResource()
ZONE = {"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}
SYSTEM = "fs-0123456789abcdef0"
GIVEN = {
    "volumeId": "mysql",
    "namespace": "prod",
    "name": "mysql-data",
    "externalId": "vol-1",
    "pluginId": "ebs",
    "capabilities": [
        {"accessMode": "single-node-writer", "attachmentMode": "file-system"},
        {"accessMode": "single-node-reader-only", "attachmentMode": "block-device"},
    ],
    "mountOptions": {"fsType": "ext4", "mountFlags": ["noatime"]},
    "requiredTopologies": [ZONE],
    "parameters": {"tier": "fast"},
    "context": {"partition": "1"},
    "secrets": {"key": "canary-77"},
    "owner": "shop/prod",
    "ownerId": "00112233aabbccdd",
    "protect": True,
}
CHANGES = {
    "name": {"name": "other"},
    "external id": {"externalId": "vol-2"},
    "plugin": {"pluginId": "efs"},
    "capabilities": {"capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]},
    "mount options": {"mountOptions": {"fsType": "xfs", "mountFlags": ["noatime"]}},
    "zone": {"requiredTopologies": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}]},
    "parameters": {"parameters": {"tier": "slow"}},
    "context": {"context": {"partition": "2"}},
    "secrets": {"secrets": {"key": "canary-78"}},
    "owner": {"owner": "shop/test", "ownerId": "ffeeddccbbaa9988"},
    "protect": {"protect": False},
}


SHOWN = {"secrets": {}, "mountOptions": {"fsType": "ext4"}}
"""A volume of which Nomad shows all, so that a read says whether an update has arrived."""


TO_BE_MADE = {"externalId": resource.UNKNOWN, "storage": {"owned": True}}


def checked(**changes):
    """Return checked inputs."""
    return checked_inputs(VOLUME, GIVEN | changes)


def create(_agent, context, _before=None, **changes):
    """Register the volume."""
    return VOLUME.create(context, checked(**changes))


def _without_owner(_agent, context):
    return VOLUME.create(context, {name: value for name, value in checked().items() if not name.startswith("owner")})


def _adopt(agent, context, _before):
    return create(agent, context, adopt=True)


def _create_beside(**changes):
    return lambda agent, context, _before=None: create(agent, context, **changes)


def _other_volume(external_id):
    def other(agent, context):
        create(agent, context, volumeId="other", name="other", externalId=external_id)

    return other


def created(agent, context):
    """Register the volume, and return its outputs."""
    return create(agent, context)[1]


def _shown(agent, context):
    return create(agent, context, **SHOWN)[1]


def _update(change):
    return lambda _agent, context, outputs: VOLUME.update(context, "prod/mysql", outputs, checked(**change))


def _by_hand(**changes):
    """Change what Nomad holds, as another program would."""

    def change(agent, context):
        outputs = created(agent, context)
        agent.cluster.state.volumes["prod", "mysql"].spec.update(changes)
        return outputs

    return change


def _gone(agent, context):
    outputs = created(agent, context)
    agent.cluster.state.volumes.clear()
    return outputs


def _of_other(agent, context):
    return create(agent, context, owner="web/prod", ownerId="9999999999999999")[1]


def _taken(agent, context):
    outputs = created(agent, context)
    create(agent, context, owner="web/prod", ownerId="9999999999999999", adopt=True)
    return outputs


def _read(_agent, context, outputs):
    return VOLUME.read(context, "prod/mysql", checked(), outputs)


def _delete(_agent, context, outputs):
    return VOLUME.delete(context, "prod/mysql", outputs)


def _claimed(agent, context):
    outputs = created(agent, context)
    claim = {"Mode": "write", "AccessMode": "single-node-writer", "AttachmentMode": "file-system", "NodeID": "n"}
    agent.cluster.state.volumes["prod", "mysql"].claims["a"] = claim
    return outputs


def _preview(change):
    return lambda _agent, context, outputs: VOLUME.preflight(context, outputs, checked(**change))


def _preview_new(**unknown):
    return lambda _agent, context, _before=None: VOLUME.preflight(context, {}, checked() | unknown)


def _unowned(agent, context):
    return _without_owner(agent, context)[1]


def _diff(change, **recorded):
    old = {"nonce": "1"} | recorded
    return lambda _agent, _context: VOLUME.diff("prod/mysql", checked(), checked() | old, checked(**change))


CASES = (
    Case("create", create, fails=True),
    Case("create: registered already, equal", create, before=created, fails=True),
    Case("create: differs in Nomad", create, before=_by_hand(Context={"partition": "9"})),
    Case(
        "create with adopt: differs in Nomad",
        _adopt,
        before=_by_hand(Context={"partition": "9"}),
    ),
    Case("create: of another stack", create, before=_of_other),
    Case("create with adopt: of another stack", _adopt, before=_of_other, fails=True),
    Case("create without owner", _without_owner),
    Case("create: storage of another volume", _create_beside(externalId="vol-1"), before=_other_volume("vol-1")),
    Case("create: contains another volume", _create_beside(externalId=SYSTEM), before=_other_volume(f"{SYSTEM}:/a")),
    Case("create: part of another volume", _create_beside(externalId=f"{SYSTEM}:/a"), before=_other_volume(SYSTEM)),
    Case("update: unchanged", _update({}), before=created),
    *(Case(f"diff: {name}", _diff(change)) for name, change in CHANGES.items()),
    Case("diff: deregistered by hand", _diff({}, deregistered=True)),
    Case("diff: mount flags by hand", _diff({}, foreignMountFlags=True)),
    Case("diff: no nonce", _diff({}, nonce="")),
    Case("diff: storage of one's own", _diff({"externalId": resource.UNKNOWN}, storage={"owned": True})),
    *(
        Case(
            f"update: {name}",
            _update(change | {"protect": False}),
            before=created,
            fails=name in {"mount options", "external id"},
        )
        for name, change in CHANGES.items()
    ),
    Case("update: context, without secrets", _update(CHANGES["context"] | SHOWN), before=_shown, fails=True),
    Case("update: external id, protected", _update(CHANGES["external id"]), before=created),
    Case("update: external id, claimed", _update(CHANGES["external id"] | {"protect": False}), before=_claimed),
    Case("preview: new", _preview_new()),
    Case("preview: new, there already", _preview_new(), before=created),
    Case("preview: new, of another stack", _preview_new(), before=_of_other),
    Case("preview: new storage, there already", _preview_new(**TO_BE_MADE), before=_unowned),
    Case("preview: new, differs in Nomad", _preview_new(), before=_by_hand(Context={"partition": "9"})),
    *(
        Case(f"preview: {name}", _preview(change | {"protect": False}), before=created)
        for name, change in CHANGES.items()
    ),
    Case("preview: external id, protected", _preview(CHANGES["external id"]), before=created),
    Case("preview: external id, claimed", _preview(CHANGES["external id"] | {"protect": False}), before=_claimed),
    Case("preview: other id", _preview({"volumeId": "other", "protect": False}), before=created),
    Case("read", _read, before=created, fails=True),
    Case("read: gone", _read, before=_gone),
    Case("read: other storage", _read, before=_by_hand(ExternalID="vol-9")),
    Case("read: other context", _read, before=_by_hand(Context={"partition": "9"})),
    Case("import", lambda _agent, context, _outputs: VOLUME.read(context, "prod/mysql", {}, {}), before=created),
    Case("delete", _delete, before=created, fails=True),
    Case("delete: gone", _delete, before=_gone),
    Case("delete: claimed", _delete, before=_claimed),
    Case("delete: other storage", _delete, before=_by_hand(ExternalID="vol-9")),
    Case("delete: by an older state", lambda _a, c, outputs: _delete(_a, c, outputs | {"nonce": "0"}), before=created),
    Case("delete: of another stack by now", _delete, before=_taken),
)
