"""Keys of KMS. Source: hashicorp/terraform-provider-aws, ``internal/service/kms``, read 2026-11."""

from typing import Any

from nomad_csi_sandbox.aws.provider import clients, forms
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Tagging, Values, Work, call


def _policy_and_rotation(aws: clients.Clients, identity: str, _found: Values) -> Properties:
    kms = aws.of("kms")
    policy = kms.get_key_policy(KeyId=identity, PolicyName="default")["Policy"]
    return {"policy": policy, "enableKeyRotation": kms.get_key_rotation_status(KeyId=identity)["KeyRotationEnabled"]}


def _key_id(key: Any) -> Any:
    """Return the id of a key that is named by id or ARN."""
    return str(key).rpartition("key/")[2]


def _switch(name: str, what: str) -> Work:
    """Return what enables or disables something of a key, as the input *name* says."""
    return lambda aws, identity, values: getattr(aws.of("kms"), f"{'enable' if values[name] else 'disable'}_{what}")(
        KeyId=identity
    )


KEY = Row(
    token="aws:kms/key:Key",
    title="KMS Key",
    inputs=(
        "customerMasterKeySpec deletionWindowInDays description? enableKeyRotation isEnabled keyUsage multiRegion "
        "policy?"
    ),
    outputs="arn keyId",
    create=call("create_key"),
    identity="KeyMetadata.KeyId",
    settings={
        "enableKeyRotation": _switch("enableKeyRotation", "key_rotation"),
        "isEnabled": _switch("isEnabled", "key"),
    },
    changes={
        "description": call("update_key_description", KeyId="$id"),
        "policy": call("put_key_policy", KeyId="$id", PolicyName="default"),
    },
    unsent="deletionWindowInDays",
    read=call("describe_key", KeyId="$id"),
    found="[KeyMetadata][?KeyState!='PendingDeletion'] | [0]",
    names={"customerMasterKeySpec": "KeySpec", "isEnabled": "Enabled"},
    more=_policy_and_rotation,
    delete=(call("schedule_key_deletion", KeyId="$id", PendingWindowInDays="$deletionWindowInDays"),),
    defaults={
        "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        "deletionWindowInDays": 30,
        "enableKeyRotation": False,
        "isEnabled": True,
        "keyUsage": "ENCRYPT_DECRYPT",
        "multiRegion": False,
    },
    forms={"policy": forms.DOCUMENT},
    tagging=Tagging(
        tag=call("tag_resource", KeyId="$id", Tags="$tags"),
        untag=call("untag_resource", KeyId="$id", TagKeys="$dropped"),
        listed=call("list_resource_tags", KeyId="$id"),
        key="TagKey",
        value="TagValue",
    ),
)

ROWS = (
    KEY,
    Row(
        token="aws:kms/alias:Alias",
        title="KMS Alias",
        inputs="name! targetKeyId!",
        outputs="arn targetKeyArn",
        create=call("create_alias"),
        identity="{name}",
        read=call("list_aliases"),
        found="Aliases[?AliasName=='{id}'] | [0]",
        names={"name": "AliasName", "arn": "AliasArn"},
        derived={"targetKeyArn": "arn:{partition}:kms:{region}:{account}:key/{targetKeyId}"},
        forms={"targetKeyId": forms.Form(meaning=_key_id)},
        delete=(call("delete_alias", AliasName="$id"),),
        delete_before_replace=True,
    ),
)
