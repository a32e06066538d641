"""
Preflight check of a cluster and an account. Read-only, except for `fix`, which sets tags.

Data that cannot be read is reported, and does not block other checks.
"""

import dataclasses
from collections.abc import Mapping

from nomad_csi import nomad
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.diagnosis import doctor_report, judge, read_account, read_cluster
from nomad_csi.plan import iam
from nomad_csi.plan import model as plans

_NONE: Mapping[str, str] = {}


def examine(
    client: nomad.Nomad,
    plan: plans.StoragePlan | None = None,
    external_ids: Mapping[str, str] = _NONE,
    *,
    aws: regions.Choice = regions.BY_STORAGE,
) -> doctor_report.DoctorReport:
    """
    Return findings, and checks that could not be made.

    Args:
        client: the cluster.
        plan: the desired state, checked besides the observed one; ``None``: only the observed state is checked.
        external_ids: external ids of storage that the plan creates, by ``namespace/volume_id``.
        aws: region of the requests to AWS; by default the region of clients and volumes, or of the environment.

    Raises `errors.NomadApiError` if no request to the cluster succeeds.

    """
    found = read_cluster.add_claims(client, read_cluster.read_cluster(client, plan, external_ids))
    region = read_account.region_of(found, aws)
    judged = judge.judge(read_account.add_account(found, region))
    return dataclasses.replace(judged, aws_region=region.name)


def fix(found: doctor_report.DoctorReport) -> tuple[str, ...]:
    """Set the tag of the driver's policy on the volumes that lack it; return them. Raises `errors.AwsError`."""
    if found.untagged:
        ebs_volumes.tag(found.untagged, found.aws_region, key=iam.CLUSTER_TAG, value="true")
    return found.untagged
