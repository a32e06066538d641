"""
The files of the public guides, imported and rendered again: equal but for a list of improvements, each of them told.

Both sides go through the emulator's parser of jobs, and through our reader of volume files.
"""

from pathlib import Path

import pytest

from nomad_csi.hcl import documents, files, read, volume
from nomad_csi.migration import adopt
from nomad_csi.plan import storage
from nomad_csi_sandbox.nomad.hcl import parse

CASES = Path(__file__).parents[1] / "cases"

EVERY_JOB = {
    "Namespace": "namespace: ",
    "NodePool": "node_pool: ",
    "Priority": "",  # 50, said, though it is the default
    "TaskGroups[0].RestartPolicy.Attempts": "restart.mode: fail becomes delay",
    "TaskGroups[0].RestartPolicy.Delay": "restart.mode: fail becomes delay",
    "TaskGroups[0].RestartPolicy.Interval": "restart.mode: fail becomes delay",
    "TaskGroups[0].RestartPolicy.Mode": "restart.mode: fail becomes delay",
    "TaskGroups[0].Tasks[0].Config.args": "arguments: --endpoint=unix://csi/csi.sock becomes ",
    "TaskGroups[0].Tasks[0].Env.AWS_REGION": "env.AWS_REGION is added",
}
"""What is rendered otherwise, and the beginning of the remark that says so."""

EBS = EVERY_JOB | {"TaskGroups[0].Tasks[0].CSIPluginConfig.HealthTimeout": ""}  # 30 s, said, though it is the default
CONTROLLER = EBS | {
    "TaskGroups[0].Count": "",  # 1, said, though it is the default
    "TaskGroups[0].Constraints[0].LTarget": "",  # distinct_hosts, no difference for one instance
    "TaskGroups[0].Constraints[0].Operand": "",
    "TaskGroups[0].Constraints[0].RTarget": "",
    "Type": "",  # service, said, though it is the default
}
EFS = EVERY_JOB | {
    "Constraints[0].LTarget": "",
    "Constraints[0].Operand": "",
    "Constraints[0].RTarget": "",
    "TaskGroups[0].Tasks[0].CSIPluginConfig.HealthTimeout": "",  # 30 s, said, though it is the default
    "TaskGroups[0].Tasks[0].Config.network_mode": "config.network_mode: none becomes host",
    "TaskGroups[0].Tasks[0].Config.volumes": "config.volumes: ",
    "TaskGroups[0].Tasks[0].Resources.CPU": "",  # 100 MHz, said, though it is the default
    "TaskGroups[0].Tasks[0].Resources.MemoryMB": "",  # 300 MiB, said, though it is the default
}
JOBS = [
    (
        ("tutorial-ebs-controller.nomad.hcl", "tutorial-ebs-nodes.nomad.hcl"),
        {"aws-ebs0-controller": CONTROLLER, "aws-ebs0-node": EBS},
    ),
    (("docs-efs-node.nomad.hcl",), {"aws-efs0-node": EFS}),
]


def load(names):
    return [files.parse((CASES / name).read_text(encoding="utf-8"), name) for name in names]


def leaves(value, path=""):
    """Yield every value of a document with its path; a list of plain values is one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def different(theirs, ours):
    theirs, ours = dict(leaves(theirs)), dict(leaves(ours))
    return {path for path in theirs | ours if theirs.get(path) != ours.get(path)}


@pytest.mark.parametrize(("names", "expected"), JOBS, ids=["ebs", "efs"])
def test_jobs_come_out_equal_but_for_what_is_told(names, expected):
    """Every difference is on the list and told; everything on the list is a difference."""
    adoption = adopt.adopt(load(names), aws_region="us-east-1")

    rendered = documents.render_plan(storage.plan_document(adoption.document), {})

    assert set(rendered) == {f"jobs/{name}.nomad.hcl" for name in expected}
    for source, (name, improvements) in zip(names, expected.items(), strict=True):
        theirs = parse.parse((CASES / source).read_text(encoding="utf-8"))
        assert different(theirs, parse.parse(rendered[f"jobs/{name}.nomad.hcl"])) == set(improvements)
        told = [remark.text for remark in adoption.remarks if remark.file == source]
        assert [start for start in improvements.values() if not any(text.startswith(start) for text in told)] == []
    assert adoption.is_complete


def test_the_two_jobs_of_the_tutorial_become_one_plugin():
    """Controller and node job with one plugin id are one plugin, with what both say said once."""
    adoption = adopt.adopt(load(JOBS[0][0]), aws_region="us-east-1")

    assert adoption.document == {
        "plugins": [
            {
                "id": "aws-ebs0",
                "driver": "aws-ebs",
                "datacenters": ["dc1"],
                "priority": 50,
                "job_ids": {"controller": "plugin-aws-ebs-controller", "node": "plugin-aws-ebs-nodes"},
                "image": "amazon/aws-ebs-csi-driver:v0.10.1",
                "log_verbosity": 5,
                "controller": {"count": 1},
                "health_timeout_s": 30,
                "resources": {"cpu_mhz": 500},
                "aws_region": "us-east-1",
            }
        ]
    }


def test_the_jobs_of_the_tutorial_keep_the_arguments_of_their_driver():
    """Of what v0.10.1 takes, but for a flag that is its default: in v1.64.0's words its containers would end at once."""
    adoption = adopt.adopt(load(JOBS[0][0]), aws_region="us-east-1")

    [plugin] = storage.plan_document(adoption.document).plugins

    assert [job.image for job in plugin.jobs] == ["amazon/aws-ebs-csi-driver:v0.10.1"] * 2
    assert [job.arguments for job in plugin.jobs] == [
        (mode, "--endpoint=${CSI_ENDPOINT}", "--v=5") for mode in ("controller", "node")
    ]


def test_a_lone_controller_is_told_what_is_missing():
    """Its other half is rendered all the same; the region nobody knows."""
    adoption = adopt.adopt(load(["tutorial-ebs-controller.nomad.hcl"]))

    assert [(remark.kind, remark.text) for remark in adoption.remarks if remark.kind == "missing"] == [
        ("missing", "aws_region of plugin aws-ebs0: expected a value, got nothing; add aws_region")
    ]
    notes = [remark.text for remark in adoption.remarks if remark.kind == "note"]
    assert "no file runs the node of aws-ebs0: a system job is rendered for it, as AWS EBS needs one" in notes
    assert not adoption.is_complete


def test_the_tutorials_volume_comes_out_equal_but_for_its_zone():
    """With the zone that no file says, the same registration; its plugin stands in the spec by its id."""
    name = "tutorial-volume.hcl"
    adoption = adopt.adopt(load([name]), aws_region="us-east-1")
    assert [remark.text for remark in adoption.remarks if remark.kind == "missing"] == [
        "existing.availability_zone of volume mysql: expected a zone: without one Nomad places jobs where the volume cannot be attached, got nothing; add the zone of the volume"
    ]

    [described] = adoption.document["volumes"]
    completed = described | {"existing": described["existing"] | {"availability_zone": "us-east-1a"}}
    plan = storage.plan_document({**adoption.document, "volumes": [completed]})
    text = documents.render_plan(plan, {})["volumes/default/mysql.volume.hcl"]

    theirs = volume.volume_payload(read.read_volume((CASES / name).read_text(encoding="utf-8")))
    assert different(theirs, volume.volume_payload(read.read_volume(text))) == {
        "Namespace",
        "RequestedTopologies.Required[0].Segments.topology.ebs.csi.aws.com/zone",
    }


def test_the_volume_of_the_wiki_comes_out_as_nomad_wants_it_today():
    """The modes of 2021 become a capability, the block a map; nothing else differs."""
    name = "democratic-volume-legacy.hcl"
    adoption = adopt.adopt(load([name]))
    changed = [remark.text for remark in adoption.remarks if remark.kind == "changed"]
    assert changed == [
        "access_mode and attachment_mode at the top of the file, which current Nomad drops; move them into a capability",
        "context as a block; write context = { ... }",
    ]

    assert [remark.text for remark in adoption.remarks if remark.kind == "missing"] == [
        "config.driver of plugin kowlan: expected a value: democratic-csi does not start without, got nothing"
    ]
    [plugin] = adoption.document["plugins"]
    assert plugin == {"id": "kowlan", "driver": "democratic-csi"}
    completed = plugin | {"config": {"driver": "zfs-generic-nfs"}}
    plan = storage.plan_document({"plugins": [completed], "volumes": adoption.document["volumes"]})
    text = documents.render_plan(plan, {})["volumes/default/traefik-acme.volume.hcl"]

    theirs = volume.volume_payload(read.read_volume((CASES / name).read_text(encoding="utf-8")))
    assert different(theirs, volume.volume_payload(read.read_volume(text))) == {
        "Namespace",
        "RequestedCapabilities[0].AccessMode",
        "RequestedCapabilities[0].AttachmentMode",
    }


def test_the_job_that_uses_the_volume_is_no_plugin():
    """It is said, and nothing of it gets into the spec."""
    adoption = adopt.adopt(load(["tutorial-mysql.nomad.hcl"]))

    assert adoption.document == {}
    assert [str(remark) for remark in adoption.remarks] == [
        "tutorial-mysql.nomad.hcl:1: note: job mysql-server runs no CSI plugin, so nothing of it goes into the spec: "
        "it uses mysql"
    ]
    assert not adoption.is_complete


def test_a_policy_belongs_to_no_spec():
    """What to write instead of it is said."""
    adoption = adopt.adopt(load(["tutorial-iam-policy.json"]))

    assert adoption.document == {}
    assert [(remark.kind, remark.text.partition(":")[0]) for remark in adoption.remarks] == [
        ("note", "a spec contains no IAM policies")
    ]
