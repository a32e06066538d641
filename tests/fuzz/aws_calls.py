"""All that is asked of AWS, and a reply of AWS's shape to each operation."""

import json

from nomad_csi.aws import deletion, ebs_volumes, file_systems, instances

REGION = "us-east-1"
VOLUME = "vol-0123456789abcdef0"
INSTANCE = "i-0123456789abcdef0"
POINT = "fs-0123456789abcdef0::fsap-0123456789abcdef0"
KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
PROFILE = "arn:aws:iam::123456789012:instance-profile/nomad-client"
ROLE = "arn:aws:iam::123456789012:role/nomad-client"

CALLS = {
    "attachments": lambda: ebs_volumes.read_attachments([VOLUME], REGION, instance_ids=[INSTANCE]),
    "volumes": lambda: ebs_volumes.read_volumes([VOLUME], REGION),
    "many volumes": lambda: ebs_volumes.read_volumes([f"vol-{number:017x}" for number in range(201)], REGION),
    "ours": lambda: ebs_volumes.ours(REGION),
    "key": lambda: ebs_volumes.key_state(KEY, REGION),
    "file systems": lambda: file_systems.read_file_systems(REGION),
    "some file systems": lambda: file_systems.find([POINT], REGION),
    "instances": lambda: instances.read_instances([INSTANCE], REGION),
    "role": lambda: instances.read_role(PROFILE, REGION),
    "snapshot": lambda: deletion.create_snapshot(VOLUME, REGION, {}),
    "snapshot progress": lambda: deletion._progress("snap-1", REGION),
    "storage": lambda: deletion.read_storage(VOLUME, REGION),
    "access point": lambda: deletion.read_storage(POINT, REGION),
}


def _xml(operation, body, *, namespace="http://ec2.amazonaws.com/doc/2016-11-15/"):
    return f'<{operation}Response xmlns="{namespace}"><requestId>r</requestId>{body}</{operation}Response>'


def _iam(operation, body):
    result = f"<{operation}Result>{body}<IsTruncated>false</IsTruncated></{operation}Result>"
    return _xml(operation, result, namespace="https://iam.amazonaws.com/doc/2010-05-08/")


_TAGS = (
    "<tagSet><item><key>nomad-csi:owner</key><value>shop/prod</value></item>"
    "<item><key>nomad-csi:volume</key><value>default/mysql</value></item></tagSet>"
)
_SNAPSHOT = (
    f"<snapshotId>snap-1</snapshotId><volumeId>{VOLUME}</volumeId><status>pending</status><progress>3%</progress>"
    f"<startTime>2026-01-01T00:00:00.000Z</startTime>{_TAGS}"
)
_DOCUMENT = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%5D%7D"

REPLIES = {
    "DescribeVolumes": _xml(
        "DescribeVolumes",
        f"<volumeSet><item><volumeId>{VOLUME}</volumeId><size>8</size><availabilityZone>us-east-1a</availabilityZone>"
        f"<status>in-use</status><encrypted>true</encrypted><kmsKeyId>{KEY}</kmsKeyId><volumeType>gp3</volumeType>"
        f"<iops>3000</iops><throughput>125</throughput><attachmentSet><item><volumeId>{VOLUME}</volumeId>"
        f"<instanceId>{INSTANCE}</instanceId><device>/dev/xvdba</device><status>attached</status></item></attachmentSet>"
        f"{_TAGS}</item></volumeSet>",
    ),
    "DescribeInstances": _xml(
        "DescribeInstances",
        f"<reservationSet><item><reservationId>r-1</reservationId><instancesSet><item><instanceId>{INSTANCE}</instanceId>"
        "<instanceState><code>16</code><name>running</name></instanceState><placement><availabilityZone>us-east-1a"
        "</availabilityZone></placement><metadataOptions><httpPutResponseHopLimit>2</httpPutResponseHopLimit>"
        f"<httpEndpoint>enabled</httpEndpoint></metadataOptions><iamInstanceProfile><arn>{PROFILE}</arn>"
        "</iamInstanceProfile></item></instancesSet></item></reservationSet>",
    ),
    "DescribeSnapshots": _xml("DescribeSnapshots", f"<snapshotSet><item>{_SNAPSHOT}</item></snapshotSet>"),
    "CreateSnapshot": _xml("CreateSnapshot", _SNAPSHOT),
    "DescribeKey": json.dumps(
        {"KeyMetadata": {"KeyId": "1", "Arn": KEY, "KeyManager": "CUSTOMER", "KeyState": "Enabled", "Enabled": True}}
    ),
    "DescribeFileSystems": json.dumps(
        {
            "FileSystems": [
                {
                    "FileSystemId": "fs-0123456789abcdef0",
                    "LifeCycleState": "available",
                    "Encrypted": True,
                    "CreationTime": 1_767_225_600.0,
                    "Tags": [{"Key": "nomad-csi:owner", "Value": "shop/prod"}],
                }
            ]
        }
    ),
    "DescribeAccessPoints": json.dumps(
        {
            "AccessPoints": [
                {
                    "AccessPointId": "fsap-0123456789abcdef0",
                    "FileSystemId": "fs-0123456789abcdef0",
                    "LifeCycleState": "available",
                    "Tags": [{"Key": "nomad-csi:volume", "Value": "default/mysql"}],
                }
            ]
        }
    ),
    "GetInstanceProfile": _iam(
        "GetInstanceProfile",
        f"<InstanceProfile><Path>/</Path><InstanceProfileName>nomad-client</InstanceProfileName><Arn>{PROFILE}</Arn>"
        f"<Roles><member><Path>/</Path><RoleName>nomad-client</RoleName><Arn>{ROLE}</Arn>"
        f"<AssumeRolePolicyDocument>{_DOCUMENT}</AssumeRolePolicyDocument></member></Roles></InstanceProfile>",
    ),
    "SimulatePrincipalPolicy": _iam(
        "SimulatePrincipalPolicy",
        "<EvaluationResults><member><EvalActionName>ec2:DescribeVolumes</EvalActionName><EvalDecision>implicitDeny"
        "</EvalDecision></member></EvaluationResults>",
    ),
    "ListAttachedRolePolicies": _iam(
        "ListAttachedRolePolicies",
        "<AttachedPolicies><member><PolicyName>p</PolicyName><PolicyArn>arn:aws:iam::123456789012:policy/p</PolicyArn>"
        "</member></AttachedPolicies>",
    ),
    "ListRolePolicies": _iam("ListRolePolicies", "<PolicyNames><member>inline</member></PolicyNames>"),
    "GetRolePolicy": _iam(
        "GetRolePolicy",
        f"<RoleName>n</RoleName><PolicyName>inline</PolicyName><PolicyDocument>{_DOCUMENT}</PolicyDocument>",
    ),
    "GetPolicy": _iam(
        "GetPolicy", "<Policy><PolicyName>p</PolicyName><DefaultVersionId>v1</DefaultVersionId></Policy>"
    ),
    "GetPolicyVersion": _iam(
        "GetPolicyVersion", f"<PolicyVersion><Document>{_DOCUMENT}</Document><VersionId>v1</VersionId></PolicyVersion>"
    ),
}
"""Text of a reply with status 200, by operation."""
