"""The AWS EBS CSI driver (``ebs.csi.aws.com``)."""

from nomad_csi.drivers import ebs_limits, model
from nomad_csi.spec import base, driver_volumes

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
_ITEMS = {"AWS_ACCESS_KEY_ID": "access_key_id", "AWS_SECRET_ACCESS_KEY": "secret_access_key"}
_PARAMETERS = frozenset(
    {
        "allowAutoIOPSIncreaseOnModify", "allowAutoIOPSPerGBIncrease", "blockAttachUntilInitialized", "blockSize",
        "bytesPerInode", "encrypted", "ext4BigAlloc", "ext4ClusterSize", "ext4EncryptionSupport", "inodeSize", "iops",
        "iopsPerGB", "kmsKeyId", "numberOfInodes", "tagSpecification_*", "throughput", "type",
        "volumeInitializationRate",
    }
)  # fmt: skip
"""Source: ``parseCreateVolumeParameters`` in ``pkg/driver/controller.go`` of v1.64.0, 2026-11-21."""

_CONTEXT = {
    "blockattachuntilinitialized": "true: a volume from a snapshot is attached when all of it has arrived",
    "blocksize": "block size of the file system, where the driver makes it",
    "bytesperinode": "bytes for each inode, where the driver makes ext3 or ext4",
    "ext4bigalloc": "true: ext4 with clusters of blocks",
    "ext4clustersize": "cluster size with ext4bigalloc",
    "ext4encryptionsupport": "true: ext4 that can encrypt folders",
    "inodesize": "inode size, where the driver makes the file system",
    "numberofinodes": "number of inodes, where the driver makes ext3 or ext4",
    "partition": "number of the partition to mount; absent: the whole disk",
}
"""Source: ``pkg/driver/constants.go`` and ``pkg/driver/node.go`` of v1.64.0, 2026-11-21."""

_CAMEL_CASE = (
    "blockAttachUntilInitialized", "blockSize", "bytesPerInode", "ext4BigAlloc", "ext4ClusterSize",
    "ext4EncryptionSupport", "inodeSize", "numberOfInodes",
)  # fmt: skip
"""Spellings of parameters, which are read in any case; the context is read in lower case only."""

_SIZES = tuple(
    f"{name}: {limits.size_gib[0]} to {limits.size_gib[1]} GiB"
    + (f", {limits.iops[0]} to {limits.iops[1]} operations/s" if limits.iops else "")
    + (
        f", {limits.throughput_mib_per_s[0]} to {limits.throughput_mib_per_s[1]} MiB/s"
        if limits.throughput_mib_per_s
        else ""
    )
    for name, limits in ebs_limits.BY_TYPE.items()
)

_FS_TYPE = "mount_options.fs_type names the file system; here the key is taken out by a helper of Kubernetes only"

_AS_OF = "2026-11-21"
_VERSIONS = (
    "Nomad 2.0.6-dev",
    "aws-ebs-csi-driver v1.64.0 (commit 429e202e)",
    "moto 5.2.5 as EC2",
    "Docker 20.10.24",
)
_NOT_PROVEN = (
    "the image that its project publishes, and the way through Docker's bridge to the metadata service",
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
        "run with Nomad 2.0.6-dev under raw_exec, with moto as EC2, 2026-08 and 2026-11; in Docker 20.10.24, 2026-11",
    ),
    credentials=(
        "the instance role of the clients that may run the controller (iam attaches the policy): no secret anywhere",
        "workload identity: Nomad signs a token for the task, AWS gives a role for it; nothing secret is kept",
        "a Nomad variable or Vault: access keys go through a template into the task's environment, into no argument",
        "the node plugin calls no AWS API: it asks instance metadata alone",
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
            controller_supports=("AttachDetach",),
            environment={"AWS_REGION": "{aws_region}"},
            secret_environment=_ITEMS,
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
                    "the rendered job under Docker on the host's network, with keys of a Nomad variable, in an image "
                    "that holds the driver's program: Probe, registration, attachment, detachment",
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
                    "the rendered job under Docker, privileged, on the host's network, in an image that holds the "
                    "driver's program and what it calls: a disk that comes after the container has started is found, "
                    "formatted and mounted, and what is mounted is seen by another container",
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
    external_id=driver_volumes.ExternalIdSpec(
        pattern=r"vol-[0-9a-f]{8}([0-9a-f]{9})?|local-ebs://dev/[A-Za-z0-9/._-]+",
        allowed="an EBS volume id such as vol-0123456789abcdef0, or local-ebs://dev/xvdbz",
        forms=(
            driver_volumes.ExternalIdFormSpec(
                prefix="local-ebs://",
                text="a volume that is attached to each client at this device name already: each has its own",
                flag="enable-node-local-volumes",
                capabilities=(
                    base.CapabilitySpec(access_mode="multi-node-multi-writer", attachment_mode="file-system"),
                ),
                zoned=False,
            ),
        ),
    ),
    fs_types=frozenset({"ext3", "ext4", "xfs"}),
    context=driver_volumes.KeysSpec(
        meanings=_CONTEXT,
        refused=dict.fromkeys(_CAMEL_CASE, "write it in lower case: the driver ignores other spellings"),
    ),
    parameters=driver_volumes.KeysSpec(
        allowed=_PARAMETERS,
        ignore_case=True,
        refused={
            "blockExpress": "remove it: every io2 volume is Block Express (the key does nothing since v1.47.0)",
            "csi.storage.k8s.io/fstype": _FS_TYPE,
            "fstype": _FS_TYPE,
            "outpostArn": "name the Outpost in topologies, as topology.ebs.csi.aws.com/outpost-id",
        },
        meanings={
            "encrypted": "true or false",
            "iopsPerGB": "instead of iops",
            "kmsKeyId": "full ARN of a customer key",
            "tagSpecification_*": "a tag: tagSpecification_1 is name=value",
            "type": ", ".join(ebs_limits.BY_TYPE),
            "volumeInitializationRate": "MiB/s at which a snapshot is read; from snapshots only",
        },
    ),
    topology_key="topology.ebs.csi.aws.com/zone",
    topology_keys=("topology.kubernetes.io/zone", "kubernetes.io/os"),
    limits=(
        *_SIZES,
        "a volume is attached in its own zone only, and never shrinks",
        "several clients at once: io1 and io2 volumes with Multi-Attach, as block devices, at most 16, without fencing",
        "attached volumes for each client: what its instance type allows, less network interfaces and other disks",
    ),
    credentials_optional=True,
    health_timeout_s=60,
    minimum_nomad="1.9.4",
    storage="ebs",
    creates=True,
    traps=(
        model.Trap(
            text="a volume with the context blockattachuntilinitialized=true ends the controller with a nil pointer "
            "unless it runs with --batching=true",
            source="aws-ebs-csi-driver v1.64.0 run against moto 5.2.5; pkg/cloud/cloud.go, describeVolumeStatus",
        ),
        model.Trap(
            text="an unknown mode word makes the driver exit 0: the task looks complete, not failed",
            rule="mode-word-unknown",
            source="aws-ebs-csi-driver, cmd/main.go",
        ),
        model.Trap(
            text="a role without ec2:DescribeAvailabilityZones never gets a healthy controller (since v1.49.0)",
            signs=("not authorized to perform: ec2:DescribeAvailabilityZones",),
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
            signs=("could not get IMDS metadata", "Retrieving IMDS metadata failed"),
            source="aws-ebs-csi-driver issue 2966",
        ),
    ),
)
