"""The flags of klog, by version: drivers take those of the version that their ``go.mod`` names."""

V2_130 = frozenset(
    {
        "add_dir_header", "alsologtostderr", "log_backtrace_at", "log_dir", "log_file", "log_file_max_size",
        "logtostderr", "one_output", "skip_headers", "skip_log_headers", "stderrthreshold", "v", "vmodule",
    }
)  # fmt: skip
"""Source: k8s.io/klog v2.130.1, ``klog.go`` (``InitFlags``); ``go.mod`` of csi-driver-nfs v4.13.4."""

V2_140 = V2_130 | {"alsologtostderrthreshold", "legacy_stderr_threshold_behavior"}
"""Source: k8s.io/klog v2.140.0; ``go.mod`` of aws-efs v3.4.1, of GCE PD v1.26.4 and of csi-driver-host-path v1.18.0."""
