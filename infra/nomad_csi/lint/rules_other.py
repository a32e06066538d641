"""The rules of text, of jobs that use volumes, and of IAM policies."""

from nomad_csi.lint.model import Rule

_HCL = "Nomad 2.0.6-dev, nomad volume register and nomad fmt, tried 2026-08"
_CLAIM = "hashicorp/nomad, nomad/structs/csi.go (claims) and scheduler/feasible.go, 2026-08-21"
_EBS_POLICY = "AWS managed policy AmazonEBSCSIDriverPolicyV2; kubernetes-sigs/aws-ebs-csi-driver v1.64.0"

RULES = (
    Rule(
        code="name-in-quotes",
        severity="warning",
        explanation="A name in a block stands in quotes. HCL1, which reads volume files, takes that; nomad fmt and "
        "other readers of HCL2 stop there.",
        fix='write it inside a map: segments = { "name" = "value" }',
        source=_HCL,
    ),
    Rule(
        code="several-on-a-line",
        severity="warning",
        explanation="Several attributes stand on one line. HCL1, which reads volume files, takes that; nomad fmt and "
        "other readers of HCL2 stop there.",
        fix="write a line for each",
        source=_HCL,
    ),
    Rule(
        code="json-surrogates",
        severity="error",
        explanation="A character beyond U+FFFF is written as two escapes, as many JSON writers do. Nomad's command "
        "line dies of it (panic: unquote).",
        fix="write the character itself in UTF-8",
        source=_HCL,
    ),
    Rule(
        code="text-not-normalised",
        severity="warning",
        explanation="A text is not in Unicode's NFC form. Nomad turns the texts of a job file into that form, so that "
        "a path or name in it may not be the one that is meant.",
        fix="write it in NFC",
        source="hashicorp/hcl v2.20.2-nomad-1, hclsyntax (cty.StringVal normalises); Nomad 2.0.6-dev, tried 2026-08",
    ),
    Rule(
        code="claim-mode-unknown",
        severity="error",
        explanation="Nomad does not know this access or attachment mode. It accepts the job; its allocations cannot "
        "claim the volume.",
        fix="use one of Nomad's five access modes, and file-system or block-device",
        source=_CLAIM,
    ),
    Rule(
        code="claim-mode-differs",
        severity="error",
        explanation="The volume was registered without this pair of access and attachment mode. The job waits "
        "forever: no client fits.",
        fix="claim it as it is registered, or register it as it is claimed",
        source=_CLAIM,
    ),
    Rule(
        code="claim-by-several",
        severity="error",
        explanation="Only one allocation can claim a single-node-writer volume at a time, and the group has more. The "
        "others wait: exhausted its available writer claims.",
        fix="use count = 1, or per_alloc with a volume for each allocation",
        source=_CLAIM,
    ),
    Rule(
        code="claim-with-canary",
        severity="error",
        explanation="A canary runs beside the allocation that it is to replace, and cannot claim the volume that one "
        "holds. The deployment stands still.",
        fix="remove canary from the update block",
        source="https://developer.hashicorp.com/nomad/docs/job-specification/volume, 2026-08",
    ),
    Rule(
        code="claim-for-reading-by-mode",
        severity="warning",
        explanation="Hardly any driver serves reader access modes; EBS and EFS refuse them. A job that only reads "
        "says so in its volume block.",
        fix="use the volume's own access mode, with read_only = true",
        source="hashicorp/nomad issue 7360",
    ),
    Rule(
        code="mount-not-supported",
        severity="error",
        explanation="This task driver cannot mount a volume into the task: the allocation fails.",
        fix="use docker, podman, exec or java for tasks with a volume_mount",
        source="hashicorp/nomad, plugins/drivers (MountConfigs of raw_exec and qemu), 2026-08-21",
    ),
    Rule(
        code="policy-without-probe",
        severity="error",
        explanation="The policy does not allow ec2:DescribeAvailabilityZones. The EBS controller since v1.49.0 asks "
        "for it to prove that it is healthy: it never gets healthy without.",
        fix="allow ec2:DescribeAvailabilityZones",
        source="kubernetes-sigs/aws-ebs-csi-driver v1.49.0, pkg/driver/identity.go",
    ),
    Rule(
        code="policy-without-attach",
        severity="error",
        explanation="The policy does not allow what the EBS controller calls to attach and detach a volume.",
        fix="allow it",
        source=_EBS_POLICY,
    ),
    Rule(
        code="policy-without-limits",
        severity="warning",
        explanation="The policy does not allow what the EBS controller calls to find attach limits and to see whether "
        "a volume still changes. It logs errors, takes old numbers, and a later version may stop.",
        fix="allow it",
        source=_EBS_POLICY,
    ),
    Rule(
        code="policy-needless",
        severity="warning",
        explanation="The policy allows what the driver does not call any more.",
        fix="remove it",
        source=_EBS_POLICY,
    ),
    Rule(
        code="policy-any-volume",
        severity="warning",
        explanation="The policy allows to attach, detach or delete every volume of the account, those that Nomad has "
        "nothing to do with too.",
        fix="limit it to volumes with the tag ebs.csi.aws.com/cluster, as the managed policy V2 does",
        source=_EBS_POLICY + "; aws-ebs-csi-driver issue 2918",
    ),
)
