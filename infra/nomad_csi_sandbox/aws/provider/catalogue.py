"""Every resource type that the emulator knows, by Pulumi's token."""

from collections.abc import Mapping

from nomad_csi import errors
from nomad_csi_sandbox.aws.provider import backup, dlm, ebs, ec2, efs, efs_access, kinds, table

KINDS: Mapping[str, kinds.Kind] = {
    kind.token: kind
    for kind in (
        backup.PLAN,
        backup.SELECTION,
        backup.VAULT,
        dlm.LIFECYCLE_POLICY,
        ebs.VOLUME,
        ec2.EGRESS_RULE,
        ec2.GROUP_RULE,
        ec2.INGRESS_RULE,
        ec2.SECURITY_GROUP,
        efs.FILE_SYSTEM,
        efs_access.ACCESS_POINT,
        efs_access.MOUNT_TARGET,
        *(row.kind() for row in table.ROWS),
    )
}


def of_urn(urn: str) -> kinds.Kind:
    """Return the type of the resource *urn*. Raises `errors.AwsError` when this emulator lacks it."""
    token = urn.split("::")[2].rsplit("$", maxsplit=1)[-1]
    if token not in KINDS:
        raise errors.AwsError(
            f"the emulator of the aws provider does not know the resource type {token}; it knows those of the table "
            "nomad_csi_sandbox/aws/provider/table.py: add a row there, which names the calls that make, read and "
            "delete the type"
        )
    return KINDS[token]
