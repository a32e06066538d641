"""The AWS EFS CSI driver (``efs.csi.aws.com``)."""

from nomad_csi.drivers import klog, model
from nomad_csi.spec import base, driver, driver_volumes

_HEX = r"[0-9a-f]{8,40}"
_UNFIT_FLAGS = {
    "version": "the driver prints its version and ends, so Nomad would restart it forever",
}
"""Source: ``pkg/driver/options.go`` and ``cmd/main.go`` of v3.4.1, read 2026-11-21."""

_TRUE = frozenset({"1", "T", "TRUE", "True", "t", "true"})
_FALSE = frozenset({"0", "F", "FALSE", "False", "f", "false"})
"""What Go's ``strconv.ParseBool`` takes."""

_PATH = "put the path into the external id: fs-...:/path (drivers since v3.0.0 reject the key)"

DRIVER = model.Driver(
    name="aws-efs",
    title="AWS EFS",
    provider="efs.csi.aws.com",
    image="public.ecr.aws/efs-csi-driver/amazon/aws-efs-csi-driver:v3.4.1",
    version="v3.4.1",
    as_of="2026-08-23",
    sources=(
        "kubernetes-sigs/aws-efs-csi-driver v3.4.1: cmd/main.go, pkg/driver, docs/README.md",
        "hashicorp/nomad: csi_plugin documentation and pull request 10821",
    ),
    credentials=(
        "none: to mount needs no permission of AWS",
        "with the mount flag iam: the instance role of the client, allowed by the file system's policy",
    ),
    roles={
        "node": model.Role(
            job_type="system",
            arguments=("--endpoint=${CSI_ENDPOINT}", "--v={log_verbosity}"),
            flags=klog.V2_140
            | {
                "adaptive-retry-mode",
                "debug-logs",
                "delete-access-point-root-dir",
                "efs-cloudwatch-log-enabled",
                "efs-utils-conf-overrides",
                "efs-utils-config-dir-path",
                "efs-utils-config-legacy-dir-path",
                "efs-utils-static-files-path",
                "endpoint",
                "force-unmount-after-timeout",
                "http-endpoint",
                "max-inflight-mount-calls",
                "max-inflight-mount-calls-opt-in",
                "metrics-cert-file",
                "metrics-key-file",
                "s3files-cloudwatch-log-enabled",
                "s3files-cloudwatch-metrics-enabled",
                "s3files-utils-conf-overrides",
                "tags",
                "unmount-timeout",
                "vol-metrics-fs-rate-limit",
                "vol-metrics-opt-in",
                "vol-metrics-refresh-period",
                "volume-attach-limit",
                "volume-attach-limit-opt-in",
            },
            unfit_flags=_UNFIT_FLAGS,
            environment={"AWS_REGION": "{aws_region}"},
            privileged=True,
            network_mode="host",
            binds=("/var/amazon/efs:/var/amazon/efs", "/var/run/efs:/var/run/efs"),
            optional_arguments={
                "extra_tags": "--tags={extra_tags}",
                "metrics_port": "--http-endpoint=:{metrics_port}",
            },
            needs=(
                "docker with allow_privileged = true and volumes { enabled = true }",
                "no amazon-efs-utils of its own on the client: both would manage the same state",
            ),
            probe_proves="that the process answers; nothing about IAM or the network",
            proof=model.Proof(
                tier="parsed",
                as_of="2026-11-21",
                versions=("Nomad 2.0.6-dev",),
                proven=(
                    "the agent parses the job file into the job that was meant and finds it valid; it does not look "
                    "into what is Docker's",
                    "`nomad volume register` reads from the volume file what our own registration sends",
                ),
                not_proven=("the driver itself, which never ran here: its start, its Probe, a mount, its permissions",),
            ),
        ),
    },
    capabilities=(
        base.CapabilitySpec(access_mode="multi-node-multi-writer", attachment_mode="file-system"),
        base.CapabilitySpec(access_mode="single-node-writer", attachment_mode="file-system"),
    ),
    modes_advice="use multi-node-multi-writer, and read_only = true in the volume block of jobs that only read",
    external_id=driver_volumes.ExternalIdSpec(
        pattern=rf"((efs|s3files):)?fs-{_HEX}(:[^:]*(:(fsap-{_HEX})?)?)?",
        allowed="an EFS id such as fs-0123456789abcdef0, fs-...:/path or fs-...::fsap-..., or s3files:fs-...",
        shared=True,
        forms=(
            driver_volumes.ExternalIdFormSpec(
                prefix="s3files:",
                text="a file system of Amazon S3 Files, drivers since v3.0.0",
                context=driver_volumes.KeysSpec(
                    allowed=frozenset({"encryptInTransit", "mounttargetip", "mounttargetipmap"}),
                    ignore_case=True,
                    values={"encryptInTransit": _TRUE},
                    refused={"crossaccount": "remove it: S3 Files are not mounted across accounts", "path": _PATH},
                ),
            ),
        ),
    ),
    fs_types=frozenset({"", "efs", "s3files"}),
    refused_mount_flags={
        "crossaccount": "set it in the context: the driver refuses the flag",
        "awscredsuri": "remove it: the driver ignores the flag",
    },
    context=driver_volumes.KeysSpec(
        allowed=frozenset({"crossaccount", "encryptInTransit", "mounttargetip", "mounttargetipmap"}),
        ignore_case=True,
        values={"crossaccount": _TRUE | _FALSE, "encryptInTransit": _TRUE | _FALSE},
        refused={"path": _PATH},
        meanings={
            "crossaccount": "true: the mount target of another account is found by its DNS name",
            "encryptInTransit": "false: no TLS; true by default, and forced by access points",
            "mounttargetip": "address of the mount target, where DNS does not know it",
            "mounttargetipmap": 'addresses by zone, as JSON: {"us-east-1a": "10.0.0.1"}',
        },
    ),
    topology_key=None,
    topology_keys=("topology.kubernetes.io/zone",),
    limits=(
        "memory: about 12 MiB for each mounted volume and 30 MiB for each mount under way, times 1.5",
        "a capacity means nothing: a file system grows by itself",
        "at most 10,000 access points in a file system",
        "access points are made by Pulumi (efs.access_point): asked to, the driver would need a controller, on which "
        "every registration and claim would depend from then on",
    ),
    credentials_optional=True,
    health_timeout_s=30,
    minimum_nomad="1.3.0",
    tag_format=driver.TagFormatSpec(pair=":", separator=" "),
    storage="efs",
    traps=(
        model.Trap(
            text="a word without dashes in front makes the driver ignore every flag behind it, the endpoint too",
            rule="positional-word",
            source="aws-efs-csi-driver, cmd/main.go (Go's flag package); hashicorp/nomad pull request 10821",
        ),
        model.Trap(
            text="without host networking every mount of a client hangs when the plugin's container is replaced",
            source="aws-efs-csi-driver issues 1127 and 1270",
        ),
        model.Trap(
            text="a flag of mount_options that is written in capitals is lowered: paths in flags lose their case",
            source="aws-efs-csi-driver v3.4.1, pkg/driver/node.go (NodePublishVolume)",
        ),
        model.Trap(
            text="the reader and single-writer access modes are refused when an allocation mounts, not at registration",
            source="hashicorp/nomad issue 7360",
        ),
    ),
)
