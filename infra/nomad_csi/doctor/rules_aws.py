"""What is looked for in AWS: instances, roles, zones, tags, keys, and what is left over on either side. Data."""

from nomad_csi.lint.model import Rule

INSTANCES = (
    Rule(
        code="hop-limit-low",
        severity="error",
        explanation="The plugin runs in containers behind Docker's bridge, and instance metadata answers only one hop "
        "far. The driver finds neither its instance nor its credentials, and ends.",
        fix="run `aws ec2 modify-instance-metadata-options --http-put-response-hop-limit 2 --instance-id ID` for each, "
        "and set it in the launch template; or give the plugin the host's network",
        source="Amazon EC2 user guide, instance metadata options; kubernetes-sigs/aws-ebs-csi-driver issue 2966",
    ),
    Rule(
        code="metadata-disabled",
        severity="error",
        explanation="The metadata service of the instance is switched off. A driver that asks it for the instance, its "
        "zone or credentials does not start.",
        fix="run `aws ec2 modify-instance-metadata-options --http-endpoint enabled --instance-id ID` for each",
        source="Amazon EC2 user guide, instance metadata options, 2026-08",
    ),
    Rule(
        code="instance-absent",
        severity="error",
        explanation="Nomad has a client ready whose EC2 instance is not there, or does not run. After a change of "
        "leader Nomad believes a dead client for five minutes.",
        fix="look whether --aws-region is the clients' region; if it is, wait for Nomad to call the client down",
        source="hashicorp/nomad, failover_heartbeat_ttl; Nomad 2.0.6-dev, tried 2026-08",
    ),
    Rule(
        code="instance-without-role",
        severity="error",
        explanation="A client that may run the plugin's controller has no instance profile, and the plugin has no "
        "credentials of its own. The driver cannot call EC2 there.",
        fix="give the instance a profile with a role that has the driver's policy",
        source="kubernetes-sigs/aws-ebs-csi-driver v1.64.0, docs/install.md",
    ),
    Rule(
        code="role-lacks-actions",
        severity="error",
        explanation="The role of the instances that may run the controller is not allowed what the driver calls. "
        "Without ec2:DescribeAvailabilityZones the controller never becomes healthy; without the others, attaching "
        "fails when a job starts.",
        fix="attach the policy AmazonEBSCSIDriverPolicyV2 to the role, or the one that the stack makes (iam in the "
        "spec's plugin)",
        source="kubernetes-sigs/aws-ebs-csi-driver v1.64.0, pkg/driver/identity.go and pkg/cloud/cloud.go",
    ),
)

STORAGE = (
    Rule(
        code="zone-differs",
        severity="error",
        explanation="The volume's topology names another zone than the one that its storage is in. Jobs are placed "
        "where it cannot be attached: InvalidVolume.ZoneMismatch.",
        fix="deregister the volume and register it again with its own zone; its data is not touched",
        source="hashicorp/nomad issue 10793; Nomad 2.0.6-dev, tried 2026-08",
    ),
    Rule(
        code="zone-not-registered",
        severity="error",
        explanation="The volume is registered without a topology, and its plugin runs in several zones. Nomad may "
        "place its job in a zone where it cannot be attached. A topology that is added later is ignored.",
        fix="deregister the volume and register it again with its zone; its data is not touched",
        source="hashicorp/nomad issue 10793; Nomad 2.0.6-dev, tried 2026-08",
    ),
    Rule(
        code="zone-without-client",
        severity="error",
        explanation="No client that runs the volume's plugin, or may, is in the volume's zone. No job can use it.",
        fix="add a client in that zone, or move the data by a snapshot to a zone that has one",
        source="hashicorp/nomad, scheduler/feasible/feasible.go (CSIVolumeChecker), 2026-08-21",
    ),
    Rule(
        code="topology-key-unknown",
        severity="error",
        explanation="The volume's topology uses a key that no client of its plugin reports. It fits nowhere: did not "
        "meet topology requirement.",
        fix="deregister the volume and register it again with a key that the plugin's clients report",
        source="hetznercloud/csi-driver issue 771; hashicorp/nomad, nomad/structs/csi.go (Topology), 2026-08-21",
    ),
    Rule(
        code="policy-tag-missing",
        severity="error",
        explanation="The volume has no tag ebs.csi.aws.com/cluster=true, and the role of the controller may attach "
        "only what has it, as under the managed policy AmazonEBSCSIDriverPolicyV2.",
        fix="run `nomad-csi doctor --fix`, which sets the tag after asking, or name the volume in the role's policy",
        source="kubernetes-sigs/aws-ebs-csi-driver issue 2918; AmazonEBSCSIDriverPolicyV2, 2026-08",
    ),
    Rule(
        code="not-encrypted",
        severity="warning",
        explanation="The storage is not encrypted. It cannot be made so in place.",
        fix="copy a snapshot of it with encryption, and make a volume of the copy; or encrypt by default in the "
        "account: `aws ec2 enable-ebs-encryption-by-default`",
        source="Amazon EBS user guide, Amazon EBS encryption, 2026-08",
    ),
    Rule(
        code="key-unusable",
        severity="error",
        explanation="The key that the volume is encrypted with is not enabled. The volume cannot be attached, and "
        "when the key is deleted its data is lost for good.",
        fix="run `aws kms enable-key`, or `aws kms cancel-key-deletion` first where it is pending",
        source="AWS KMS developer guide, key states, 2026-08",
    ),
    Rule(
        code="key-not-granted",
        severity="error",
        explanation="The volume is encrypted with a key of the account, and neither the role of the controller nor "
        "the key's policy lets the driver make a grant on it. EC2 takes the attachment, and the volume goes back to "
        "available without a word.",
        fix="allow kms:CreateGrant, kms:Decrypt and kms:GenerateDataKeyWithoutPlaintext on the key, to the role",
        source="Amazon EBS user guide, Requirements for Amazon EBS encryption, 2026-08",
    ),
)

LEFT_OVER = (
    Rule(
        code="storage-absent",
        severity="error",
        explanation="The volume is registered, and its storage is not in this region of the account. Its jobs fail "
        "when they start.",
        fix="look whether --aws-region is its region; if it is, deregister the volume",
        source="Nomad 2.0.6-dev with aws-ebs-csi-driver v1.64.0, tried 2026-08",
    ),
    Rule(
        code="storage-not-registered",
        severity="warning",
        explanation="Storage carries the tags of this package, and Nomad has no volume with its external id. A run "
        "ended between making and registering it, a volume was deregistered, or it is another cluster's. It is paid "
        "for.",
        fix="register it, or see whose it is by its owner tag; delete it only when its data is not wanted",
        source="the tags nomad-csi:owner and nomad-csi:volume, and Nomad's list of volumes",
    ),
)
