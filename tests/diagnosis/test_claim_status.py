"""The claims of volumes as data."""

import dataclasses
import json
from pathlib import Path

from nomad_csi.aws import records as aws_records
from nomad_csi.aws import regions
from nomad_csi.diagnosis import claim_status, claims_report
from nomad_csi.findings import finding
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

ID = "vol-0123456789abcdef0"
CLAIM = volumes.Claim(
    alloc_id="d804ce80-e7a4-8b61-81db-35a85450e0fa",
    mode="write",
    node_id="id-a",
    node_name="a",
    job_id="web",
    namespace="prod",
    client_status="complete",
    desired_status="stop",
    since_ns=1_795_265_561_000_000_000,
)
VOLUME = volumes.Volume(
    volume_id="data",
    namespace="prod",
    name="data",
    external_id=ID,
    plugin_id="aws-ebs0",
    capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    topologies=(),
    schedulable=True,
    controller_required=True,
    claims=(CLAIM,),
)
ON_I1 = aws_records.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running")


def test_report_as_data(node):
    """Every key, empty or not; a volume without claims is there for its finding, and left out without one."""
    attached = aws_records.AttachedVolume(external_id=ID, state="in-use", attachments=(ON_I1,))
    judged = claim_status.judge(
        [VOLUME, *(dataclasses.replace(VOLUME, volume_id=name, claims=()) for name in ("free", "alone"))],
        [node("a", attributes={"unique.platform.aws.instance-id": "i-1"})],
        aws_records.ObservedAttachments(volumes={ID: attached}, instances={"i-1": "running"}),
    )
    found = (
        finding("claim-ended", "volume prod/data", found="x"),
        finding("attached-unclaimed", "volume prod/alone", found="y"),
    )
    unread = volumes.Unread(namespace="hidden", volume_ids=("a", "b"), reason="refused")
    report = claims_report.ClaimsReport(
        volumes=judged,
        raw_findings=found,
        ec2=regions.Region(name="us-east-1", reason="of the zones"),
        unread=(unread,),
    )

    shown = report.as_json()

    assert json.loads(json.dumps(shown)) == shown
    assert (shown["ok"], shown["asked_ec2"], len(shown["findings"])) == (False, True, 2)
    assert shown["not_read"] == [{"namespace": "hidden", "volume_ids": ["a", "b"], "reason": "refused"}]
    assert report.as_table(150) == Path(__file__).with_name("claims.txt").read_text(encoding="utf-8")
    assert [(item["volume_id"], item["claims"]) for item in shown["volumes"][1:]] == [("alone", [])]
    assert shown["volumes"][:1] == [
        {
            "namespace": "prod",
            "volume_id": "data",
            "plugin_id": "aws-ebs0",
            "external_id": ID,
            "claims": [
                {
                    "alloc_id": CLAIM.alloc_id,
                    "mode": "write",
                    "namespace": "prod",
                    "job_id": "web",
                    "node_id": "id-a",
                    "node_name": "a",
                    "client_status": "complete",
                    "desired_status": "stop",
                    "since": "2026-11-21T12:52:41Z",
                    "status": "ended",
                    "node_status": "ready",
                    "instance_id": "i-1",
                    "instance_state": "running",
                }
            ],
            "ebs": {
                "state": "in-use",
                "attachments": [
                    {"instance_id": "i-1", "state": "attached", "device": "/dev/xvdba", "instance_state": "running"}
                ],
            },
        }
    ]
