"""Volumes that are registered beside others: of the same storage, around it, within it; of other drivers; not shown."""

import dataclasses
import itertools

from nomad_csi import errors
from nomad_csi.plan import registration
from nomad_csi.volumes import sharing
from nomad_csi_sandbox.nomad import state
from tests.deeds import agent as agents
from tests.deeds.deeds import Case

DISK, OTHER_DISK, SYSTEM = "vol-0123456789abcdef0", "vol-0123456789abcdef1", "fs-0123456789abcdef0"
SINGLE, MULTI = "single-node-writer", "multi-node-multi-writer"
PROVIDERS = {"nfs": "nfs.csi.k8s.io", "nfs-2": "nfs.csi.k8s.io", "silent": ""}
SHARE = {"server": "nas", "share": "/export"}


def _row(volume_id, external_id, plugin_id="ebs", mode=SINGLE, context=()):
    capabilities = [{"AccessMode": mode, "AttachmentMode": "file-system"}]
    row = {"ID": volume_id, "PluginID": plugin_id, "ExternalID": external_id, "RequestedCapabilities": capabilities}
    return row | {"Context": dict(context)}


HELD = {
    "nothing": [],
    "the disk": [_row("a", DISK)],
    "the disk, by an unknown plugin": [_row("a", DISK, "gone")],
    "the disk, by a plugin without a name": [_row("a", DISK, "silent")],
    "the text, by another driver": [_row("a", DISK, "nfs")],
    "two: of another driver, and the disk": [_row("a", DISK, "nfs"), _row("b", DISK, mode=MULTI)],
    "the system, for several": [_row("a", SYSTEM, "efs", MULTI)],
    "the system, for several and for one": [_row("a", SYSTEM, "efs", MULTI), _row("b", SYSTEM, "efs")],
    "a folder": [_row("a", f"{SYSTEM}:/x", "efs")],
    "a folder, for several": [_row("a", f"{SYSTEM}:/x", "efs", MULTI)],
    "shares": [_row("a", "n-1", "nfs", context=SHARE | {"share": "/other"}), _row("b", "n-2", "nfs-2", context=SHARE)],
    "the share by another driver": [_row("a", "n-2", "ebs", context=SHARE)],
    "itself": [_row("mine", DISK)],
    "itself, and the disk": [_row("mine", DISK), _row("a", DISK)],
}
WANTED = {
    "disk": (DISK, "ebs", SINGLE, {}),
    "disk of the other": (DISK, "nfs", MULTI, {}),
    "system": (SYSTEM, "efs", SINGLE, {}),
    "system for several": (SYSTEM, "efs", MULTI, {}),
    "folder": (f"{SYSTEM}:/x/y", "efs", MULTI, {}),
    "share": ("n-3", "nfs", MULTI, SHARE),
    "share by an unknown plugin": ("n-3", "gone", MULTI, SHARE),
}


def _document(external_id, plugin_id, mode, context, volume_id="mine", *, shares=False):
    return registration.VolumeRegistration(
        volume_id=volume_id,
        namespace="prod",
        name=volume_id,
        external_id=external_id,
        plugin_id=plugin_id,
        capabilities=(registration.Capability(access_mode=mode, attachment_mode="file-system"),),
        context=context,
        shares_storage=shares,
    )


def _register(agent, rows):
    known = agent.cluster.state
    known.volumes.clear()
    for plugin_id, provider in PROVIDERS.items():
        known.plugins[plugin_id] = state.PluginRecord(
            plugin_id=plugin_id, create_index=2, modify_index=3, provider=provider, version="v1"
        )
    for row in rows:
        body = {"Volumes": [row | {"PluginID": "ebs"}]}
        agent.client().request("PUT", f"/v1/volume/csi/{row['ID']}", query={"namespace": "prod"}, body=body)
        known.volumes["prod", row["ID"]].spec["PluginID"] = row["PluginID"]
    agent.disks.calls.clear()
    agent.transport.requests = []


def _said(agent, given):
    """Return why the volume may not be registered, may not stay, may not share, and what was not compared."""
    users, document = sharing.Users(agent.client()), _document(*given)
    try:
        found = [users.refusal(document), users.older_refusal(document)]
        found.append(users.refusal(dataclasses.replace(document, shares_storage=True)))
    except errors.NomadApiError as error:
        found = [str(error)]
    asked = [sent[1].partition("?")[0].rpartition("/")[2] for sent, _ in agent.transport.requests]
    return [*(each and each.partition("; to replace")[0] for each in found), users.unlisted, " ".join(asked)]


def _table(agent, lacks):
    found = {}
    for (held, rows), (wanted, given) in itertools.product(HELD.items(), WANTED.items()):
        agent.transport.lacks = ""
        _register(agent, rows)
        agent.transport.lacks = lacks
        found[f"{wanted} beside {held}"] = _said(agent, given)
    agent.transport.requests, agent.transport.lacks = [], ""
    return found


def _of_each(agent, _context):
    """Show what is said of each volume beside each of others; and where a token lacks a right, what differs."""
    known = _table(agent, "")
    shown = {"": {place: said for place, said in known.items() if any(each for each in said[:-1] if each != "has it")}}
    for lacks in ("GET /v1/volumes", "GET /v1/volume", "GET /v1/plugin"):
        found = _table(agent, lacks)
        shown[lacks] = {place: said for place, said in found.items() if said[:4] != known[place][:4]}
    for lacks, rows in shown.items():
        alike = {}
        for place, said in rows.items():
            alike.setdefault(agents.as_text(said), []).append(place)
        agent.messages += [f"{lacks and f'no {lacks}: '}{'; '.join(each)}: {said}" for said, each in alike.items()]


def _meanwhile(change):
    """Return what shows whether another volume still counts that changed after the volumes were listed."""

    def run(agent, _context):
        _register(agent, [_row("a", DISK), _row("b", f"{SYSTEM}:/x", "efs")])
        users = sharing.Users(agent.client())
        users.list()
        agent.messages += change(agent, users) or []
        agent.messages += [users.refusal(_document(*given)) for given in WANTED.values()]

    return run


def _gone(agent, _users):
    agent.cluster.state.volumes.clear()


def _moved(agent, _users):
    for record in agent.cluster.state.volumes.values():
        record.spec["ExternalID"] = OTHER_DISK


def _replaced(_agent, users):
    mine = _document(*WANTED["disk"])
    return [users.refusal(mine, ("prod", "a")), users.refusal(dataclasses.replace(mine, volume_id="third"))]


def _this_run(_agent, users):
    """Another volume of the run has the storage of a further driver, and then other storage."""
    given = [("n-3", "nfs", SINGLE, SHARE), ("n-4", "nfs", SINGLE, SHARE), ("n-4", "nfs", SINGLE, {})]
    return [users.refusal(_document(*each, "third")) for each in given]


def _two(agent, _context):
    """Register four volumes, of which the second and the last have the storage of an older one."""
    rows = [_row("a", DISK), _row("b", OTHER_DISK), _row("one", "x"), _row("two", DISK), _row("three", "y")]
    _register(agent, [*rows, _row("four", OTHER_DISK)])


def _take_back(agent, _context):
    wanted = {"one": "x", "two": DISK, "three": "y", "four": OTHER_DISK}
    documents = [_document(external_id, "ebs", SINGLE, {}, name) for name, external_id in wanted.items()]
    client = agent.client()
    latest = sharing.LatestUsers(client)
    found = {each.key: sharing.take_back_later(client, each, latest.read) for each in documents}
    return {key: [type(each).__name__, str(each)] for key, each in found.items() if each is not None}


CASES = (
    Case("beside others", _of_each),
    *(
        Case(f"meanwhile: {each.__name__[1:].replace('_', ' ')}", _meanwhile(each))
        for each in (_gone, _moved, _replaced, _this_run)
    ),
    Case("at the same moment", _take_back, before=_two, fails=True),
)
