"""The AWS EBS CSI driver (``ebs.csi.aws.com``)."""

import re

from nomad_csi.drivers import model

_LOG_FLAGS = frozenset({"v", "vmodule", "logging-format", "log-flush-frequency", "logtostderr"})
_COMMON_FLAGS = _LOG_FLAGS | {"endpoint", "http-endpoint", "metrics-cert-file", "metrics-key-file"}

DRIVER = model.Driver(
    name="aws-ebs",
    title="AWS EBS",
    provider="ebs.csi.aws.com",
    image="public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0",
    version="v1.64.0",
    as_of="2026-08-23",
    sources=(
        "kubernetes-sigs/aws-ebs-csi-driver v1.64.0: cmd/main.go, cmd/options.go, pkg/driver, docs/parameters.md",
        "run with Nomad 2.0.6-dev under raw_exec, with moto as EC2, 2026-08",
    ),
    roles={
        "controller": model.Role(
            job_type="service",
            arguments=(
                "controller",
                "--endpoint=${CSI_ENDPOINT}",
                "--logging-format=text",
                "--v={log_verbosity}",
            ),
            flags=_COMMON_FLAGS
            | {
                "aws-sdk-debug-log",
                "batching",
                "enable-node-local-volumes",
                "extra-tags",
                "k8s-tag-cluster-id",
                "modify-volume-request-handler-timeout",
                "user-agent-extra",
                "warn-on-invalid-tag",
            },
            environment={"AWS_REGION": "{aws_region}"},
            needs=("an instance role with the policy of this plugin",),
            probe_proves="that EC2 answered DescribeAvailabilityZones to this controller within the last 3 hours",
        ),
        "node": model.Role(
            job_type="system",
            arguments=(
                "node",
                "--endpoint=${CSI_ENDPOINT}",
                "--logging-format=text",
                "--v={log_verbosity}",
                "--metadata-sources=imds",
            ),
            flags=_COMMON_FLAGS
            | {
                "csi-mount-point-prefix",
                "legacy-xfs",
                "metadata-sources",
                "reserved-volume-attachments",
                "volume-attach-limit",
            },
            environment={"AWS_REGION": "{aws_region}"},
            privileged=True,
            needs=(
                "docker with allow_privileged = true",
                "an instance metadata hop limit of at least 2, because the container is one hop away",
            ),
            probe_proves="that the process answers",
        ),
    },
    modes=frozenset(
        {
            ("single-node-writer", "file-system"),
            ("single-node-writer", "block-device"),
            ("multi-node-multi-writer", "block-device"),
        }
    ),
    modes_advice="use single-node-writer, and read_only = true in the volume block of jobs that only read",
    default_mode=("single-node-writer", "file-system"),
    external_id=model.ExternalId(
        pattern=re.compile(r"vol-[0-9a-f]{8}([0-9a-f]{9})?"),
        allowed="an EBS volume id such as vol-0123456789abcdef0",
        shared=False,
    ),
    fs_types=frozenset({"ext3", "ext4", "xfs"}),
    context=model.Keys(allowed=None),
    topology_key="topology.ebs.csi.aws.com/zone",
    health_timeout_s=60,
    minimum_nomad="1.9.4",
    storage="ebs",
    traps=(
        model.Trap(
            text="an unknown mode word makes the driver exit 0: the task looks complete, not failed",
            source="aws-ebs-csi-driver, cmd/main.go",
        ),
        model.Trap(
            text="a role without ec2:DescribeAvailabilityZones never gets a healthy controller (since v1.49.0)",
            source="aws-ebs-csi-driver, pkg/driver/identity.go",
        ),
        model.Trap(
            text="Nomad before 1.9.4 wants equal topologies and cannot place volumes of drivers since v1.28.0",
            source="hashicorp/nomad issue 20094, pull request 24522",
        ),
        model.Trap(
            text="a volume without the tag ebs.csi.aws.com/cluster=true cannot be attached under the managed policy V2",
            source="aws-ebs-csi-driver issue 2918",
        ),
        model.Trap(
            text="the node plugin behind Docker's bridge cannot reach instance metadata with a hop limit of 1",
            source="aws-ebs-csi-driver issue 2966",
        ),
    ),
)
