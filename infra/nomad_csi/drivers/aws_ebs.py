"""The AWS EBS CSI driver (``ebs.csi.aws.com``)."""

from nomad_csi.drivers import model
from nomad_csi.spec import base, driver

_LOG_FLAGS = frozenset({"v", "vmodule", "logging-format", "log-flush-frequency", "logtostderr"})
_COMMON_FLAGS = _LOG_FLAGS | {
    "enable-otel-tracing",
    "endpoint",
    "http-endpoint",
    "metadata-sources",
    "metrics-cert-file",
    "metrics-key-file",
}

_ALPHA = "an alpha feature that the driver has no switch for: it drops its whole logging configuration then"
_UNFIT_FLAGS = {
    "kubeconfig": "it names a Kubernetes API, which nothing on Nomad has",
    "log-json-info-buffer-size": _ALPHA,
    "log-json-split-stream": _ALPHA,
    "log-text-info-buffer-size": _ALPHA,
    "log-text-split-stream": _ALPHA,
    "version": "the driver prints its version and ends, so Nomad would restart it forever",
}
"""Source: ``cmd/main.go`` of v1.64.0, and the driver's own answer to each of the alpha ones, 2026-11-21."""

_METRICS = {"metrics_port": "--http-endpoint=:{metrics_port}"}
_KEYS = {"AWS_ACCESS_KEY_ID": "access_key_id", "AWS_SECRET_ACCESS_KEY": "secret_access_key"}
_PARAMETERS = frozenset(
    {
        "allowAutoIOPSPerGBIncrease", "blockAttachUntilInitialized", "blockSize", "bytesPerInode",
        "csi.storage.k8s.io/fstype", "encrypted", "ext4BigAlloc", "ext4ClusterSize", "ext4EncryptionSupport",
        "inodeSize", "iops", "iopsPerGB", "kmsKeyId", "numberOfInodes", "outpostArn", "tagSpecification_*",
        "throughput", "type", "volumeInitializationRate",
    }
)  # fmt: skip
"""Source: ``docs/parameters.md`` of v1.64.0."""

_AS_OF = "2026-11-21"
_VERSIONS = ("Nomad 2.0.6-dev", "aws-ebs-csi-driver v1.64.0 (commit 429e202e)", "moto 5.2.5 as EC2")
_NOT_PROVEN = (
    "the driver's own image under Docker, with its privileges and its way to the metadata service",
    "EC2 itself: how long it takes, its limits, and the permissions of an instance role",
)

DRIVER = model.Driver(
    name="aws-ebs",
    title="AWS EBS",
    provider="ebs.csi.aws.com",
    image="public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0",
    version="v1.64.0",
    as_of="2026-08-23",
    sources=(
        "kubernetes-sigs/aws-ebs-csi-driver v1.64.0: cmd/main.go, pkg/driver, docs/parameters.md",
        "run with Nomad 2.0.6-dev under raw_exec, with moto as EC2, 2026-08 and 2026-11",
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
                "deprecated-metrics",
                "enable-node-local-volumes",
                "extra-tags",
                "extra-volume-tags",
                "k8s-tag-cluster-id",
                "modify-volume-request-handler-timeout",
                "user-agent-extra",
                "warn-on-invalid-tag",
            },
            unfit_flags=_UNFIT_FLAGS,
            optional_arguments=_METRICS | {"extra_tags": "--extra-tags={extra_tags}"},
            environment={"AWS_REGION": "{aws_region}"},
            secret_environment=_KEYS,
            default_count=2,
            needs=("an instance role with the policy of this plugin, unless credentials say otherwise",),
            probe_proves="that EC2 answered DescribeAvailabilityZones to this controller within the last 3 hours",
            proof=model.Proof(
                tier="run",
                as_of=_AS_OF,
                versions=_VERSIONS,
                proven=(
                    "the rendered arguments and environment, under raw_exec, without Kubernetes",
                    "Probe, name and version, asked over its socket by our gate",
                    "registration: a volume that exists is validated, one that EC2 does not know is refused",
                    "attachment to the node's instance, detachment when the consumer has gone, and both again",
                ),
                not_proven=(*_NOT_PROVEN, "two controllers at once, and what happens when one of them fails"),
            ),
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
                "reserved-volume-attachments",
                "volume-attach-limit",
            },
            unfit_flags=_UNFIT_FLAGS
            | {"windows-host-process": "it is for Kubernetes' privileged containers on Windows"},
            environment={"AWS_REGION": "{aws_region}"},
            exclusive_flags=(frozenset({"reserved-volume-attachments", "volume-attach-limit"}),),
            optional_arguments=_METRICS,
            privileged=True,
            needs=("docker with allow_privileged = true",),
            bridge_needs=("an instance metadata hop limit of at least 2, because the container is one hop away",),
            probe_proves="that the process answers",
            proof=model.Proof(
                tier="run",
                as_of=_AS_OF,
                versions=(*_VERSIONS, "a stand-in for the instance metadata service"),
                proven=(
                    "the rendered arguments and environment, under raw_exec, and the folder where Nomad and it meet",
                    "Probe, name and version, asked over its socket by our gate; its zone, as Nomad has it from there",
                    "ext4 made and mounted on a disk found by its volume id (a loop device), used by a task of the "
                    "exec driver, unmounted, and mounted again with its data",
                    "an attachment that brings no disk: the task fails with the driver's words, the claim is freed",
                ),
                not_proven=(*_NOT_PROVEN, "an NVMe disk that EC2 attaches, xfs, block devices, expansion"),
            ),
        ),
    },
    capabilities=(
        base.CapabilitySpec(access_mode="single-node-writer", attachment_mode="file-system"),
        base.CapabilitySpec(access_mode="single-node-writer", attachment_mode="block-device"),
        base.CapabilitySpec(access_mode="multi-node-multi-writer", attachment_mode="block-device"),
    ),
    modes_advice="use single-node-writer, and read_only = true in the volume block of jobs that only read",
    external_id=driver.ExternalIdSpec(
        pattern=r"vol-[0-9a-f]{8}([0-9a-f]{9})?", allowed="an EBS volume id such as vol-0123456789abcdef0"
    ),
    fs_types=frozenset({"ext3", "ext4", "xfs"}),
    parameters=driver.KeysSpec(allowed=_PARAMETERS, ignore_case=True),
    topology_key="topology.ebs.csi.aws.com/zone",
    health_timeout_s=60,
    minimum_nomad="1.9.4",
    storage="ebs",
    creates=True,
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
