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
    namespace="apps",
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
    bare = dataclasses.replace(CLAIM, alloc_id="x", node_name="", job_id="", client_status="", since_ns=0)
    nowhere = dataclasses.replace(bare, node_id="")
    judged = claim_status.judge(
        [
            dataclasses.replace(VOLUME, claims=(CLAIM, bare, nowhere)),
            *(dataclasses.replace(VOLUME, volume_id=name, claims=()) for name in ("free", "alone")),
        ],
        [node("a", attributes={"unique.platform.aws.instance-id": "i-1"})],
        aws_records.ObservedAttachments(volumes={ID: attached}, instances={"i-1": "running"}),
    )
    found = (
        finding("claim-ended", "client a", found="x"),
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
    assert shown == json.loads(Path(__file__).with_name("claims.json").read_text(encoding="utf-8"))
    assert dataclasses.replace(report, raw_findings=(), unread=()).exit_code == 0
    assert report.as_table(150) == Path(__file__).with_name("claims.txt").read_text(encoding="utf-8")
