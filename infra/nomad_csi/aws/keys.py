"""
Keys of KMS that volumes are encrypted with.

Needs ``kms:DescribeKey`` and ``kms:GetKeyPolicy`` on them. Source: AWS KMS API reference, ``KeyMetadata``, 2026-08.
"""

import json

from nomad_csi.aws import asking
from nomad_csi.aws.records import keys as records

Key = records.Key


def look(arn: str, aws_region: str) -> Key:
    """Return the key. Raises `errors.AwsError`."""
    with asking.told(aws_region):
        kms = asking.client("kms", aws_region)
        found = kms.describe_key(KeyId=arn)["KeyMetadata"]
        is_customers = found["KeyManager"] == "CUSTOMER"
        text = kms.get_key_policy(KeyId=arn, PolicyName="default")["Policy"] if is_customers else "{}"
    return Key(arn=found["Arn"], state=found["KeyState"], is_customers=is_customers, policy=json.loads(text))
