"""
The resource types that the emulator knows: which calls make, read, change and remove each.

**To add a type**, add a row to the module of its service, into ``ROWS``: `rows.Row` says what its fields mean. The
names of properties are those of the type in ``pulumi_aws``, the calls are boto3's, and moto must implement them. What a
row cannot say is a function in that module.

Source of what the real provider calls: hashicorp/terraform-provider-aws, ``internal/service``, read 2026-11.
"""

from collections.abc import Mapping

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import rows
from nomad_csi_sandbox.aws.provider.table import ebs, ec2, efs, groups, iam, kms, s3, secrets, snapshots

ROWS: Mapping[str, rows.Row] = {
    row.token: row for module in (ebs, ec2, efs, groups, iam, kms, s3, secrets, snapshots) for row in module.ROWS
}
"""By Pulumi's token."""


def of_urn(urn: str) -> rows.Row:
    """Return the type of the resource *urn*. Raises `errors.AwsError` when this emulator lacks it."""
    token = urn.split("::")[2].rsplit("$", maxsplit=1)[-1]
    if token not in ROWS:
        raise errors.AwsError(
            f"the emulator of the aws provider does not know the resource type {token}; it knows those of the table "
            "in nomad_csi_sandbox/aws/provider/table: add a row there, which names the calls that make, read and "
            "delete the type"
        )
    return ROWS[token]
