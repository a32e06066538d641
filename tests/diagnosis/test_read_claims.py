"""Claims are gathered by reading only: one list, what is claimed, its plugins and clients, and EC2 where it is asked."""

import dataclasses

import pytest

from nomad_csi import errors, exit_codes, nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import read_claims

ID = "vol-0123456789abcdef0"
ALLOC = "9d1b13f5-503d-3e7e-18c5-f969d58b9143"
CANARY = "canary-7a31"
VOLUME = {
    "ID": "mysql",
    "Namespace": "prod",
    "Name": "mysql",
    "ExternalID": ID,
    "PluginID": "aws-ebs0",
    "ControllerRequired": True,
    "Secrets": {"password": CANARY},
    "Context": {"key": CANARY},
    "WriteAllocs": {ALLOC: None},
    "Allocations": [
        {
            "ID": ALLOC,
            "JobID": "db",
            "Namespace": "prod",
            "NodeID": "id-a",
            "NodeName": "a",
            "ClientStatus": "running",
            "DesiredStatus": "run",
            "CreateTime": 1_795_272_761_821_435_190,
        }
    ],
}
LISTED = {name: VOLUME[name] for name in ("ID", "Namespace", "Name", "ExternalID", "PluginID")} | {"CurrentWriters": 1}
CONTROLLER = {"AllocID": "c", "Healthy": True, "ControllerInfo": {}}
ON_NODE = {"AllocID": "n", "Healthy": True, "NodeInfo": {}}
PLUGIN = {
    "ID": "aws-ebs0",
    "ControllerRequired": True,
    "Controllers": {"id-a": CONTROLLER},
    "Nodes": {"id-a": ON_NODE},
}
NODE = {"ID": "id-a", "Name": "a", "Status": "ready", "SchedulingEligibility": "eligible"}


@pytest.fixture
def cluster(scripted):
    """A Nomad with one claimed volume and one that is free."""
    free = LISTED | {"ID": "free", "ExternalID": "vol-0123456789abcdef1", "CurrentWriters": 0}
    other = LISTED | {"ID": "other", "PluginID": "aws-efs0", "ExternalID": "fs-1", "CurrentWriters": 0}
    scripted.reply("GET", "/v1/volumes", 200, [LISTED, free, other])
    scripted.reply("GET", "/v1/volume/csi/mysql", 200, VOLUME)
    unclaimed = VOLUME | {"WriteAllocs": {}, "Allocations": []}
    scripted.reply("GET", "/v1/volume/csi/free", 200, unclaimed | {"ID": "free", "ExternalID": free["ExternalID"]})
    scripted.reply("GET", "/v1/plugin/csi/aws-ebs0", 200, PLUGIN)
    scripted.reply("GET", "/v1/nodes", 200, [NODE])
    scripted.reply("GET", "/v1/allocations", 200, [])
    scripted.reply(
        "GET", "/v1/node/id-a", 200, NODE | {"Attributes": {"unique.platform.aws.instance-id": "i-1"}, "Meta": {}}
    )
    return scripted


@pytest.fixture
def report(cluster):
    """Gather and judge."""

    def run(namespace="*", **words):
        with nomad.Nomad(nomad.Connection(address=cluster.address), timeout_s=60.0) as client:
            return read_claims.report(client, namespace, **words)

    return run


def asked(scripted):
    return [f"{method} {path.partition('?')[0]}" for method, path, _ in scripted.requests]


@pytest.mark.parametrize("kind", ["CurrentReaders", "CurrentWriters"])
def test_only_claimed_volumes_are_read(report, cluster, kind):
    """And nothing is written."""
    listed = cluster.replies["GET", "/v1/volumes"][0][1]
    listed[0] = LISTED | {"CurrentReaders": 0, "CurrentWriters": 0, kind: 1}

    found = report()

    assert [(item.key, [claim.status for claim in item.claims]) for item in found.volumes] == [("prod/mysql", ["live"])]
    assert (found.ok, found.ec2.name) == (True, "")
    assert asked(cluster) == [
        "GET /v1/volumes",
        "GET /v1/volume/csi/mysql",
        "GET /v1/nodes",
        "GET /v1/plugin/csi/aws-ebs0",
        "GET /v1/allocations",
    ]
    assert "namespace=prod" in cluster.requests[1][1]


def test_volumes_are_those_that_are_asked_for(report, cluster):
    """One by its id, or those of a plugin; one that is not registered is an error."""
    found = [report(volume=("prod", "mysql")), report(volume=("prod", "free")), report(plugin_id="aws-efs0")]

    assert [[item.key for item in each.volumes] for each in found] == [["prod/mysql"], [], []]
    assert "namespace=prod" in cluster.requests[0][1]
    with pytest.raises(errors.RefusedError, match="volume prod/absent is not registered: nothing can claim it"):
        report(volume=("prod", "absent"))


def test_ec2_is_asked_about_free_volumes_too(report, monkeypatch):
    """One that nothing claims and that is attached is a finding; the client's instance comes from its attributes."""
    calls = []
    place = aws_records.Attachment(instance_id="i-9", state="attached", device="/dev/xvdba", instance_state="running")
    free = aws_records.AttachedVolume(external_id="vol-0123456789abcdef1", state="in-use", attachments=(place,))

    def look(external_ids, aws_region, *, instance_ids):
        calls.append((sorted(external_ids), aws_region, sorted(instance_ids)))
        gone = dataclasses.replace(free, external_id=ID, state=aws_records.MISSING, attachments=())
        seen = {ID: gone, free.external_id: free}
        return aws_records.ObservedAttachments(volumes=seen, instances={"i-1": "running"})

    monkeypatch.setattr(ebs_volumes, "read_attachments", look)

    found = report(aws=regions.Choice(named="us-east-1"))

    assert calls == [([ID, free.external_id], "us-east-1", ["i-1"])]
    assert [(item.code, item.subject) for item in found.findings] == [
        ("storage-missing", "volume prod/mysql"),
        ("attached-unclaimed", "volume prod/free"),
    ]
    assert found.ec2.name == "us-east-1"
    [claim] = [claim for item in found.volumes for claim in item.claims]
    assert (claim.instance_id, claim.instance_state) == ("i-1", "running")


def test_claims_of_a_namespace_that_may_not_be_read_are_told(report, cluster):
    """The list counts them; who holds them is not known, and the exit code says so."""
    hidden = LISTED | {"Namespace": "secret", "PluginID": "aws-efs0", "ControllerRequired": True}
    cluster.replies["GET", "/v1/volumes"] = [(200, [LISTED, hidden | {"ID": "hidden"}, hidden | {"ID": "too"}])]
    cluster.reply("GET", "/v1/volume/csi/hidden", 403, "Permission denied")
    cluster.reply("GET", "/v1/volume/csi/too", 403, "Permission denied")

    found = report()

    assert [item.key for item in found.volumes] == ["prod/mysql"]
    assert (found.ok, found.exit_code) == (False, exit_codes.ERROR)
    [unread] = found.as_json()["not_read"]
    assert (unread["namespace"], unread["volume_ids"]) == ("secret", ["hidden", "too"])
    assert unread["reason"].endswith("csi-read-volume in namespace secret (or csi-mount-volume, read-job)")
    shown = found.as_table()
    assert "\nnot read: 2 volumes of namespace secret (hidden, too): GET /v1/volume/csi/hidden: status 403" in shown
    assert shown.endswith("1 claim: 0 errors, 0 warnings; 2 claimed volumes not read; AWS was not queried (--no-aws)\n")


def test_allocations_that_may_not_be_listed_are_a_warning(report, cluster):
    """Any other error ends the command."""
    cluster.replies["GET", "/v1/allocations"] = [(403, "Permission denied"), (500, "No cluster leader")]

    assert [(item.severity, item.code, item.subject) for item in report().findings] == [
        ("warning", "mounts-unread", "namespace prod")
    ]
    with pytest.raises(errors.NomadApiError, match="No cluster leader"):
        report()


@pytest.mark.parametrize(
    ("namespace", "plugin_id", "there", "said"),
    [
        ("other", "", [], "namespace: expected "),
        ("*", "absent", [], "plugin: expected a CSI plugin of the cluster (it has none), got 'absent'"),
        ("*", "absent", ["a", "b"], "plugin: expected a CSI plugin of the cluster (a, b), got 'absent'"),
    ],
)
def test_nothing_found_in_what_does_not_exist_is_an_error(report, cluster, namespace, plugin_id, there, said):
    """Else a typing error would read as "nothing is claimed"."""
    cluster.replies["GET", "/v1/volumes"] = [(200, [])]
    cluster.reply("GET", "/v1/namespaces", 200, [{"Name": "prod"}])
    cluster.reply("GET", "/v1/namespace/other", 404, "Namespace not found")
    cluster.reply("GET", "/v1/plugin/csi/absent", 404, "plugin not found")
    cluster.reply("GET", "/v1/plugins", 200, [{"ID": name} for name in there])

    with pytest.raises(errors.SpecError) as caught:
        report(namespace, plugin_id=plugin_id)

    assert said in str(caught.value)
    assert f"namespace={namespace.replace('*', '%2A')}" in cluster.requests[0][1]
