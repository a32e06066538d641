"""
Snapshots, through Nomad: made, listed, restored and deleted, by two agents, and two drivers on each.

The driver is csi-driver-host-path, played by the sandbox, and itself where ``hostpathplugin`` is on PATH.
"""

import shutil

import pytest

from nomad_csi import errors
from nomad_csi.nomad import snapshots, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import volume_snapshots

MIB = 2**20
ONE = "1 error occurred:\n\t* {}\n\n"
CREATE = "could not create snapshot: controller create snapshot: CSI.ControllerCreateSnapshot: "
PATH = "/v1/volumes/snapshot"
PLAYED, ITSELF = "played", "itself"
_PROGRAMS = {
    PLAYED: ("nomad-csi-sandbox-csi-plugin", ["--driver", "csi-hostpath"]),
    ITSELF: ("hostpathplugin", []),
}


@pytest.fixture(params=[PLAYED, pytest.param(ITSELF, marks=pytest.mark.real_driver)])
def plugin_id(request, world, job):
    """The id of a healthy monolith, started once on each agent."""
    program, words = _PROGRAMS[request.param]
    found = f"snapshots-{request.param}"
    if request.param == ITSELF and shutil.which(program) is None:
        pytest.skip(f"{program} is not on PATH")
    started = world.__dict__.setdefault("_snapshot_plugins", set())
    if found not in started:
        started.add(found)
        _run(world.agent, job, found, program, words)
    world.agent.until(
        lambda: world.agent.get(f"/v1/plugin/csi/{found}"),
        lambda seen: (seen["ControllersHealthy"], seen["NodesHealthy"]) == (1, 1),
    )
    return found


def _run(agent, job, plugin_id, program, words):
    block = f"""
      csi_plugin {{
        id                     = "{plugin_id}"
        type                   = "monolith"
        stage_publish_base_dir = "{agent.data_dir}/client/csi/monolith/{plugin_id}"
      }}
"""
    more = [f"--drivername={plugin_id}.csi.test", f"--statedir={agent.data_dir / plugin_id}", "--nodeid=n1"]
    args = [*words, *more, "--endpoint=${CSI_ENDPOINT}"]
    agent.run(job(plugin_id, kind="system", task=block, command=program, args=args))


@pytest.fixture
def document(plugin_id, fresh):
    """Write a volume that the plugin is to make: ``document("v", snapshot_id="s")``."""

    def write(prefix, **fields):
        volume_id = fresh(prefix)
        writer = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
        common = {"volume_id": volume_id, "name": volume_id, "plugin_id": plugin_id, "capabilities": (writer,)}
        return registration.VolumeRegistration(**common | {"capacity_min_bytes": MIB} | fields)

    return write


@pytest.fixture
def made(client, document):
    """Have a volume made, and return it: ``made("v")``."""
    return lambda prefix, **fields: volumes.create(client, document(prefix, **fields)).volume


@pytest.fixture
def snapshot(client, made, fresh):
    """A snapshot of a volume of its own."""
    volume = made("source")
    wanted = snapshots.NewSnapshot(namespace="default", volume_id=volume.volume_id, name=fresh("snap"))
    return volume_snapshots.create(client, wanted, wait_s=30, report=print)


def test_snapshot_is_of_the_volume_and_listed(client, snapshot, plugin_id):
    """With its size and the time, and ready."""
    listed = volume_snapshots.list_of_plugin(client, plugin_id)

    assert (snapshot.is_ready, snapshot.size_bytes) == (True, MIB)
    assert snapshot in listed
    assert snapshot.created.year >= 2025


def test_snapshots_of_one_volume(client, made, fresh):
    """Oldest first; those of others are not among them."""
    volume, other = made("one"), made("other")
    wanted = [
        snapshots.NewSnapshot(namespace="default", volume_id=item.volume_id, name=fresh("s"))
        for item in (volume, other, volume)
    ]
    ids = [snapshots.create(client, item).snapshot_id for item in wanted]

    found = volume_snapshots.list_of_volume(client, "default", volume.volume_id)

    assert {item.snapshot_id for item in found} == {ids[0], ids[2]}
    assert {item.external_id for item in found} == {volume.external_id}


def test_same_name_is_the_same_snapshot(client, made, fresh):
    """Sent again after a lost answer, it makes no second one."""
    wanted = snapshots.NewSnapshot(namespace="default", volume_id=made("v").volume_id, name=fresh("s"))

    assert snapshots.create(client, wanted).snapshot_id == snapshots.create(client, wanted).snapshot_id


def test_volume_is_restored_from_a_snapshot(client, snapshot, made):
    """Another storage, and Nomad tells where it came from."""
    restored = made("restored", snapshot_id=snapshot.snapshot_id)

    found = volumes.get(client, "default", restored.volume_id)
    assert (found.snapshot_id, found.external_id != snapshot.external_id) == (snapshot.snapshot_id, True)


def test_volume_is_cloned(client, made):
    """From one that is there."""
    source = made("source")
    clone = made("clone", clone_id=source.external_id)

    found = volumes.get(client, "default", clone.volume_id)
    assert (found.clone_id, found.external_id != source.external_id) == (source.external_id, True)


def test_pages_follow_each_other(client, made, fresh, plugin_id, monkeypatch):
    """As many as there are, none twice."""
    volume = made("paged")
    for _ in range(3):
        wanted = snapshots.NewSnapshot(namespace="default", volume_id=volume.volume_id, name=fresh("s"))
        snapshots.create(client, wanted)
    whole = [item.snapshot_id for item in snapshots.list_snapshots(client, plugin_id)]

    monkeypatch.setattr(snapshots, "PAGE", 2)

    assert sorted(item.snapshot_id for item in snapshots.list_snapshots(client, plugin_id)) == sorted(whole)
    assert len(whole) == len(set(whole)) >= 3


def test_answers_have_nomads_form(agent, made, fresh, plugin_id):
    """Keys, and a deletion without a body."""
    item = {"SourceVolumeID": made("form").volume_id, "Name": fresh("s")}

    status, body, headers = agent.call("PUT", PATH, {"Snapshots": [item]})
    assert (status, set(body)) == (200, {"Index", "KnownLeader", "LastContact", "NextToken", "Snapshots"})
    assert headers["X-Nomad-Index"] == "0"
    [shown] = body["Snapshots"]
    kept = {name: value for name, value in shown.items() if not value}
    assert kept == {"Name": "", "Parameters": None, "PluginID": "", "Secrets": None, "SourceVolumeID": ""}

    listed = agent.get(f"{PATH}?plugin_id={plugin_id}")
    assert set(listed) == set(body)
    assert shown | {"PluginID": plugin_id} in listed["Snapshots"]
    assert agent.call("DELETE", f"{PATH}?plugin_id={plugin_id}&snapshot_id={shown['ID']}")[:2] == (200, "")


def test_refusals_have_nomads_sentences(agent, made, fresh, plugin_id):
    """Before the plugin is asked, and what it says."""
    volume, other = made("v"), made("other")
    name = fresh("s")

    def put(**item):
        return agent.refused("PUT", PATH, {"Snapshots": [item]})

    agent.call("PUT", PATH, {"Snapshots": [{"SourceVolumeID": volume.volume_id, "Name": name}]})
    assert put(SourceVolumeID="nowhere", Name="s") == (500, ONE.format('no such volume "nowhere"'))
    assert put(SourceVolumeID=volume.volume_id) == (500, ONE.format(f"{CREATE}missing Name"))
    assert put(SourceVolumeID=volume.volume_id, Name="s", PluginID="nowhere") == (
        500,
        ONE.format('no such plugin "nowhere"'),
    )
    assert put(SourceVolumeID=volume.volume_id, Name="s", PluginID="efs") == (
        500,
        ONE.format('plugin "efs" does not support snapshot'),
    )
    assert put(SourceVolumeID=other.volume_id, Name=name) == (
        500,
        ONE.format(
            f'{CREATE}snapshot "{name}" already exists but is incompatible with volume ID "{other.external_id}": rpc '
            f"error: code = AlreadyExists desc = snapshot with the same name: {name} but with different SourceVolumeId "
            "already exist"
        ),
    )
    assert agent.refused("GET", f"{PATH}?plugin_id=nowhere") == (500, "no such plugin")
    assert agent.refused("GET", f"{PATH}?plugin_id=efs") == (500, "plugin does not support listing snapshots")
    assert agent.refused("DELETE", f"{PATH}?plugin_id=nowhere&snapshot_id=s") == (500, ONE.format("no such plugin"))
    assert agent.refused("DELETE", f"{PATH}?plugin_id=efs&snapshot_id=s") == (
        500,
        ONE.format("plugin does not support snapshot"),
    )
    wrong = f"{PATH}?plugin_id={plugin_id}&next_token=wrong"
    status, text = agent.refused("GET", wrong)
    assert (
        status,
        text.startswith('controller list snapshots: CSI.ControllerListSnapshots: invalid starting token "wrong"'),
    ) == (
        500,
        True,
    ), text
    assert agent.refused("DELETE", f"{PATH}?plugin_id={plugin_id}") == (
        500,
        ONE.format('could not delete "": controller delete snapshot: CSI.ControllerDeleteSnapshot: missing SnapshotID'),
    )


def test_snapshot_of_storage_that_is_not_of_this_cluster_is_kept(client, snapshot, plugin_id):
    """A registered volume has its storage; once none has, the user names it."""
    taken = snapshot
    volume_snapshots.refuse_unproven(client, plugin_id, [taken.snapshot_id])
    [held] = [item for item in volumes.list_volumes(client, "*") if item.external_id == taken.external_id]
    volumes.deregister(client, held.namespace, held.volume_id)

    with pytest.raises(errors.RefusedError, match=f"the storage of snapshot {taken.snapshot_id} of storage"):
        volume_snapshots.refuse_unproven(client, plugin_id, [taken.snapshot_id])
    volume_snapshots.refuse_unproven(client, plugin_id, [taken.snapshot_id], [taken.external_id])
