"""
Parameters of SSM and secrets of Secrets Manager.

Source: hashicorp/terraform-provider-aws, ``internal/service/ssm`` and ``internal/service/secretsmanager``.
"""

from nomad_csi_sandbox.aws.provider import clients
from nomad_csi_sandbox.aws.provider.rows import Row, Tagging, Values, call

PARAMETER = {"ResourceType": "Parameter", "ResourceId": "$id"}


def _delete_secret(aws: clients.Clients, identity: str, values: Values) -> None:
    """Delete a secret after its days of grace, at once when there are none."""
    days = values.get("recoveryWindowInDays")
    how = {"RecoveryWindowInDays": days} if days else {"ForceDeleteWithoutRecovery": True}
    aws.of("secretsmanager").delete_secret(SecretId=identity, **how)


ROWS = (
    Row(
        token="aws:ssm/parameter:Parameter",
        title="SSM Parameter",
        inputs="type! value description dataType? keyId name overwrite tier",
        outputs="arn version",
        create=call("put_parameter"),
        identity="{name}",
        changes={"value description": call("put_parameter", Name="$id", Type="$type", KeyId="$keyId", Overwrite=True)},
        read=call("get_parameter", Name="$id", WithDecryption=True),
        found="Parameter",
        names={"arn": "ARN"},
        delete=(call("delete_parameter", Name="$id"),),
        autonamed="name",
        tagging=Tagging(
            tag=call("add_tags_to_resource", **PARAMETER, Tags="$tags"),
            untag=call("remove_tags_from_resource", **PARAMETER, TagKeys="$dropped"),
            listed=call("list_tags_for_resource", **PARAMETER),
            path="TagList",
        ),
    ),
    Row(
        token="aws:secretsmanager/secret:Secret",
        title="Secrets Manager Secret",
        inputs="description kmsKeyId name recoveryWindowInDays",
        outputs="arn",
        create=call("create_secret"),
        identity="ARN",
        changes={"description kmsKeyId": call("update_secret", SecretId="$id")},
        unsent="recoveryWindowInDays",
        read=call("describe_secret", SecretId="$id"),
        found="[@][?!DeletedDate] | [0]",
        names={"arn": "ARN"},
        delete=(_delete_secret,),
        defaults={"recoveryWindowInDays": 30},
        autonamed="name",
        tagging=Tagging(
            tag=call("tag_resource", SecretId="$id", Tags="$tags"),
            untag=call("untag_resource", SecretId="$id", TagKeys="$dropped"),
        ),
    ),
    Row(
        token="aws:secretsmanager/secretVersion:SecretVersion",
        title="Secrets Manager Secret Version",
        inputs="secretId! secretString secretBinary versionStages?",
        outputs="arn secretArn versionId",
        create=call("put_secret_value", SecretId="$secretId"),
        identity="{secretId}|{VersionId}",
        separator="|",
        read=call("get_secret_value", SecretId="$1", VersionId="$2"),
        names={"secretId": "@.ARN", "arn": "ARN", "secretArn": "ARN"},
        delete=(),
    ),
)
