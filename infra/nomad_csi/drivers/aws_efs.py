"""The AWS EFS CSI driver (``efs.csi.aws.com``)."""

from nomad_csi.drivers import model
from nomad_csi.spec import base, driver

_HEX = r"[0-9a-f]{8,40}"
_LOG_FLAGS = frozenset(
    {
        "add_dir_header", "alsologtostderr", "legacy_stderr_threshold_behavior", "log_backtrace_at", "log_dir",
        "log_file", "log_file_max_size", "logtostderr", "one_output", "skip_headers", "skip_log_headers",
        "stderrthreshold", "v", "vmodule",
    }
)  # fmt: skip
"""Those of k8s.io/klog v2.140.0, which ``go.mod`` of v3.4.1 names."""

_S3_FILES = "for mounts of S3 Files, whose ids no volume of this driver may have here"
_UNFIT_FLAGS = {
    "s3files-cloudwatch-log-enabled": _S3_FILES,
    "s3files-cloudwatch-metrics-enabled": _S3_FILES,
    "s3files-utils-conf-overrides": _S3_FILES,
    "version": "the driver prints its version and ends, so Nomad would restart it forever",
}
"""Source: ``pkg/driver/options.go`` and ``cmd/main.go`` of v3.4.1, read 2026-11-21."""

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
    roles={
        "node": model.Role(
            job_type="system",
            arguments=("--endpoint=${CSI_ENDPOINT}", "--v={log_verbosity}"),
            flags=_LOG_FLAGS
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
    external_id=driver.ExternalIdSpec(
        pattern=rf"fs-{_HEX}(:(/[^:]*)?(:fsap-{_HEX})?)?",
        allowed="an EFS id such as fs-0123456789abcdef0, fs-...:/path or fs-...::fsap-...",
        shared=True,
    ),
    fs_types=frozenset({"", "efs"}),
    context=driver.KeysSpec(
        allowed=frozenset({"crossaccount", "encryptInTransit", "mounttargetip"}),
        refused={"path": "put the path into the external id: fs-...:/path (drivers since v3.0.0 reject the key)"},
    ),
    topology_key=None,
    health_timeout_s=30,
    minimum_nomad="1.3.0",
    tag_format=driver.TagFormatSpec(pair=":", separator=" "),
    storage="efs",
    traps=(
        model.Trap(
            text="a word without dashes in front makes the driver ignore every flag behind it, the endpoint too",
            source="aws-efs-csi-driver, cmd/main.go (Go's flag package); hashicorp/nomad pull request 10821",
        ),
        model.Trap(
            text="without host networking every mount of a client hangs when the plugin's container is replaced",
            source="aws-efs-csi-driver issues 1127 and 1270",
        ),
        model.Trap(
            text="the reader and single-writer access modes are refused when an allocation mounts, not at registration",
            source="hashicorp/nomad issue 7360",
        ),
    ),
)
