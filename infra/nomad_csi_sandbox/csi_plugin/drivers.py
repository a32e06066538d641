"""
What each driver answers about itself, and which flags it takes.

Part of the CSI driver emulator. Read from the drivers themselves and not from `nomad_csi.drivers`, so that a
mistake in that catalogue shows here.
Sources: aws-ebs-csi-driver v1.64.0, ``pkg/driver/options.go``, ``controller.go``, ``node.go``; aws-efs-csi-driver
v3.4.1, ``pkg/driver/options.go``, ``controller.go``, ``node.go``; both ``cmd/main.go``, 2026-08.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FlagKind = Literal["text", "bool", "count", "int", "float", "duration"]

_EBS_COMMON: dict[str, FlagKind] = {
    "enable-otel-tracing": "bool", "endpoint": "text", "http-endpoint": "text", "kubeconfig": "text",
    "log-flush-frequency": "duration", "log-json-info-buffer-size": "text", "log-json-split-stream": "bool",
    "log-text-info-buffer-size": "text", "log-text-split-stream": "bool", "logging-format": "text",
    "logtostderr": "bool", "metadata-sources": "text",
    "metrics-cert-file": "text", "metrics-key-file": "text", "v": "count", "version": "bool", "vmodule": "text",
}  # fmt: skip

_EBS_CONTROLLER: dict[str, FlagKind] = {
    "aws-sdk-debug-log": "bool", "batching": "bool", "deprecated-metrics": "bool", "enable-node-local-volumes": "bool",
    "extra-tags": "text", "extra-volume-tags": "text", "k8s-tag-cluster-id": "text",
    "modify-volume-request-handler-timeout": "duration", "user-agent-extra": "text", "warn-on-invalid-tag": "bool",
}  # fmt: skip

_EBS_NODE: dict[str, FlagKind] = {
    "csi-mount-point-prefix": "text", "legacy-xfs": "bool", "reserved-volume-attachments": "int",
    "volume-attach-limit": "int", "windows-host-process": "bool",
}  # fmt: skip

EBS_FLAGS: Mapping[str, Mapping[str, FlagKind]] = {
    "controller": _EBS_COMMON | _EBS_CONTROLLER,
    "node": _EBS_COMMON | _EBS_NODE,
    "all": _EBS_COMMON | _EBS_CONTROLLER | _EBS_NODE,
}
"""By mode. Any other mode word knows the common ones only."""

EBS_COMMON_FLAGS = _EBS_COMMON

KLOG_FLAGS: dict[str, FlagKind] = {
    "add_dir_header": "bool", "alsologtostderr": "bool", "alsologtostderrthreshold": "text",
    "legacy_stderr_threshold_behavior": "bool",
    "log_backtrace_at": "text", "log_dir": "text", "log_file": "text", "log_file_max_size": "count",
    "logtostderr": "bool", "one_output": "bool", "skip_headers": "bool", "skip_log_headers": "bool",
    "stderrthreshold": "text", "v": "count", "vmodule": "text",
}  # fmt: skip
"""Of v2.140.0, which most of the drivers have."""

EFS_FLAGS: Mapping[str, FlagKind] = KLOG_FLAGS | {
    "adaptive-retry-mode": "bool", "debug-logs": "bool", "delete-access-point-root-dir": "bool",
    "efs-cloudwatch-log-enabled": "bool", "efs-utils-conf-overrides": "text", "efs-utils-config-dir-path": "text",
    "efs-utils-config-legacy-dir-path": "text", "efs-utils-static-files-path": "text", "endpoint": "text",
    "force-unmount-after-timeout": "bool", "http-endpoint": "text", "max-inflight-mount-calls": "int",
    "max-inflight-mount-calls-opt-in": "bool", "metrics-cert-file": "text", "metrics-key-file": "text",
    "s3files-cloudwatch-log-enabled": "bool", "s3files-cloudwatch-metrics-enabled": "bool",
    "s3files-utils-conf-overrides": "text", "tags": "text", "unmount-timeout": "duration", "version": "bool",
    "vol-metrics-fs-rate-limit": "int", "vol-metrics-opt-in": "bool", "vol-metrics-refresh-period": "float",
    "volume-attach-limit": "int", "volume-attach-limit-opt-in": "bool",
}  # fmt: skip
"""Its own, and those of klog."""


@dataclass(frozen=True, kw_only=True)
class Driver:
    """One driver that can be played."""

    name: str
    """As on our command line."""

    provider: str
    version: str
    controller_rpcs: tuple[str, ...]
    node_rpcs: tuple[str, ...]
    zone_keys: tuple[str, ...]
    """Topology keys under which a node reports its zone."""

    os_key: str = ""
    """Topology key under which a node reports its system; empty: it does not."""

    block_modes: frozenset[str]
    mount_modes: frozenset[str]
    """Access modes that work for block devices and for file systems."""

    services: tuple[str, ...] = ("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    """What it claims in every mode."""

    expansion: str = ""
    """``ONLINE`` or ``OFFLINE``, as it claims; empty: it claims nothing."""

    says_ready: bool = False
    """Whether Probe answers ``ready`` true; otherwise it leaves that out, which means the same."""


EBS = Driver(
    name="aws-ebs",
    provider="ebs.csi.aws.com",
    version="v1.64.0",
    controller_rpcs=(
        "CREATE_DELETE_VOLUME",
        "CLONE_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
        "CREATE_DELETE_SNAPSHOT",
        "LIST_SNAPSHOTS",
        "EXPAND_VOLUME",
        "MODIFY_VOLUME",
    ),
    node_rpcs=("STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"),
    zone_keys=("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"),
    os_key="kubernetes.io/os",
    block_modes=frozenset({"SINGLE_NODE_WRITER", "MULTI_NODE_MULTI_WRITER"}),
    mount_modes=frozenset({"SINGLE_NODE_WRITER"}),
)

EFS = Driver(
    name="aws-efs",
    provider="efs.csi.aws.com",
    version="v3.4.1",
    controller_rpcs=("CREATE_DELETE_VOLUME",),
    node_rpcs=(),
    zone_keys=("topology.kubernetes.io/zone",),
    block_modes=frozenset(),
    mount_modes=frozenset({"SINGLE_NODE_WRITER", "MULTI_NODE_MULTI_WRITER"}),
)

BY_NAME = {driver.name: driver for driver in (EBS, EFS)}
