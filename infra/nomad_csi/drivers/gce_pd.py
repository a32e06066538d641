"""The Compute Engine persistent disk CSI driver (``pd.csi.storage.gke.io``)."""

from nomad_csi.drivers import klog, model
from nomad_csi.spec import access, base, driver_volumes

_COMMON_FLAGS = klog.V2_140 | {
    "enable-otel-tracing",
    "endpoint",
    "grpc-log-char-cap",
    "http-endpoint",
    "maxprocs",
    "metrics-path",
    "run-controller-service",
    "run-node-service",
}
_CONTROLLER_FLAGS = _COMMON_FLAGS | {
    "allow-hdha-provisioning", "attach-disk-backoff-cap", "attach-disk-backoff-duration", "attach-disk-backoff-factor",
    "attach-disk-backoff-jitter", "attach-disk-backoff-steps", "backoff-initial-duration-ms",
    "backoff-max-duration-ms", "cloud-config", "cluster-ownership-id", "compute-endpoint", "compute-environment",
    "disk-topology", "enable-disk-size-validation", "enable-storage-pools", "extra-labels", "extra-tags",
    "fail-close-on-auth-error", "fallback-requisite-zones", "gce-disk-status", "instances-list-filters",
    "multi-zone-volume-handle-disk-types", "multi-zone-volume-handle-enable", "supports-dynamic-iops-provisioning",
    "supports-dynamic-throughput-provisioning", "use-instance-api-to-list-volumes-published-nodes",
    "use-instance-api-to-poll-attachment-disk-types", "wait-op-backoff-cap", "wait-op-backoff-duration",
    "wait-op-backoff-factor", "wait-op-backoff-jitter", "wait-op-backoff-steps",
}  # fmt: skip
_NODE_FLAGS = _COMMON_FLAGS | {
    "concurrent-format-timeout",
    "device-in-use-timeout",
    "enable-device-in-use-check-on-node-unstage",
    "format-and-mount-timeout",
    "max-concurrent-format",
    "max-concurrent-format-and-mount",
}
_KUBERNETES = "it asks the Kubernetes API, which nothing on Nomad has"
_TAINTS = "it runs a helper for Kubernetes in place of the driver"
_UNFIT_FLAGS = {
    "disk-cache-sync-period": _KUBERNETES,
    "dynamic-volumes": _KUBERNETES,
    "enable-data-cache": _KUBERNETES,
    "enable-disk-cleanup": "it deletes disks that no node of Kubernetes uses: every disk, on Nomad",
    "enable-multitenancy": _KUBERNETES,
    "enable-pd-conversion": _KUBERNETES,
    "node-name": "it is the name of a node of Kubernetes; what the node is, the driver asks the metadata server",
    "run-taint-controller": _TAINTS,
    "run-taint-webhook": _TAINTS,
    "taint-metrics-addr": _TAINTS,
    "webhook-port": _TAINTS,
}
"""Source: ``cmd/gce-pd-csi-driver/main.go`` of v1.26.4, read 2026-11-21."""

_METRICS = {"metrics_port": "--http-endpoint=:{metrics_port}"}
_PARAMETER_NAMES = frozenset(
    {
        "access-mode", "availability-class", "disk-encryption-kms-key", "enable-confidential-storage",
        "enable-multi-zone-provisioning", "labels", "provisioned-iops-on-create", "provisioned-throughput-on-create",
        "replication-type", "resource-tags", "storage-pools", "type", "use-allowed-disk-topology",
    }
)  # fmt: skip
_FS = "mount_options.fs_type names the file system: the driver answers this key with an error"
_PARAMETERS = driver_volumes.KeysSpec(
    allowed=_PARAMETER_NAMES,
    ignore_case=True,
    refused={
        "csi.storage.k8s.io/fstype": _FS,
        "data-cache-mode": "remove it: the driver's data cache needs Kubernetes",
        "data-cache-size": "remove it: the driver's data cache needs Kubernetes",
        "fstype": _FS,
    },
    meanings={
        "disk-encryption-kms-key": "full name of a customer key",
        "labels": "labels of the disk: key=value,key=value",
        "replication-type": "none, or regional-pd for a disk in two zones",
        "type": "pd-standard (the driver's default), pd-balanced, pd-ssd, hyperdisk-balanced, ...",
    },
)
"""Source: ``pkg/parameters/parameters.go`` of v1.26.4 (``ExtractAndDefaultParameters``), read 2026-11-21."""

_ALL_BUT_MULTI_WRITERS: tuple[access.AccessMode, ...] = (
    "single-node-writer",
    "single-node-reader-only",
    "multi-node-reader-only",
)
_PROOF = model.Proof(
    tier="parsed",
    as_of="2026-11-21",
    versions=("Nomad 2.0.6-dev",),
    proven=(
        "the agent parses the job file into the job that was meant and finds it valid; it does not look into what is "
        "Docker's",
        "`nomad volume register` and `create` read from the volume files what our own client sends",
    ),
    not_proven=("the driver itself, which never ran here: its start, its Probe, its API, a mount",),
)

DRIVER = model.Driver(
    name="gce-pd",
    title="GCE PD",
    provider="pd.csi.storage.gke.io",
    image="registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.26.4",
    version="v1.26.4",
    as_of="2026-11-21",
    sources=(
        "kubernetes-sigs/gcp-compute-persistent-disk-csi-driver v1.26.4: cmd/gce-pd-csi-driver/main.go, pkg",
        "the same, deploy/kubernetes/base/node_linux/node.yaml: what its node plugin mounts of the client",
        "hashicorp/nomad issue 10966",
    ),
    credentials=(
        "none given: the service account of the instance that the controller runs on; it needs the role of a storage "
        "administrator of Compute Engine, and the scope for it",
        "a Nomad variable or Vault: the key file of a service account, as item creds_json, goes into the task's "
        "secrets directory; the driver is told its path, not its content",
        "the node plugin calls no API: it asks the metadata server alone",
    ),
    roles={
        "controller": model.Role(
            job_type="service",
            arguments=("--endpoint=${CSI_ENDPOINT}", "--run-node-service=false", "--v={log_verbosity}"),
            optional_arguments=_METRICS | {"extra_tags": "--extra-labels={extra_tags}"},
            flags=_CONTROLLER_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            secret_files={"creds.json": "creds_json"},
            credentials_environment={"GOOGLE_APPLICATION_CREDENTIALS": "${NOMAD_SECRETS_DIR}/creds.json"},
            needs=("a client on Compute Engine: project and zone come from the metadata server",),
            probe_proves="that the process answers; nothing about credentials",
            proof=_PROOF,
        ),
        "node": model.Role(
            job_type="system",
            arguments=("--endpoint=${CSI_ENDPOINT}", "--run-controller-service=false", "--v={log_verbosity}"),
            optional_arguments=_METRICS,
            flags=_NODE_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            privileged=True,
            binds=(
                "/etc/udev:/etc/udev",
                "/lib/udev:/lib/udev",
                "/run/udev:/run/udev",
                "/sys:/sys",
                "/lib/modules:/lib/modules:ro",
            ),
            needs=(
                "docker with allow_privileged = true and volumes { enabled = true }",
                "a client on Compute Engine: the driver ends where it finds no metadata server",
            ),
            probe_proves="that the process answers",
            proof=_PROOF,
        ),
    },
    capabilities=(
        *(base.CapabilitySpec(access_mode=mode, attachment_mode="file-system") for mode in _ALL_BUT_MULTI_WRITERS),
        *(base.CapabilitySpec(access_mode=mode, attachment_mode="block-device") for mode in _ALL_BUT_MULTI_WRITERS),
        base.CapabilitySpec(access_mode="multi-node-multi-writer", attachment_mode="block-device"),
    ),
    modes_advice="several writers share a block device only; multi-node-single-writer is not known to the driver",
    external_id=driver_volumes.ExternalIdSpec(
        pattern=r"projects/[^/]+/(zones|regions)/[^/]+/disks/[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
        allowed="a disk such as projects/my-project/zones/us-central1-a/disks/data, or regions/... for a regional one",
    ),
    fs_types=frozenset({"btrfs", "ext3", "ext4", "xfs"}),
    context=driver_volumes.KeysSpec(
        meanings={
            "force-attach": "true: a regional disk is attached although its other zone still has it",
            "partition": "number of the partition to mount; absent: the whole disk",
        },
    ),
    parameters=_PARAMETERS,
    topology_key="topology.gke.io/zone",
    limits=(
        "attached disks for each client: 15 on shared-core machines, 127 on most others, fewer hyperdisks on some",
        "at least 1 GiB",
        "a zonal disk is attached in its own zone only; a regional one has two topologies, one for each zone",
    ),
    credentials_optional=True,
    health_timeout_s=60,
    minimum_nomad="1.3.0",
    creates=True,
    traps=(
        model.Trap(
            text="a volume that is made without a zone in its topology fails: need 1 zones from topology, only got 0",
            source="hashicorp/nomad issue 10966",
        ),
        model.Trap(
            text="the driver is written for Kubernetes; its authors offer no support for Nomad",
            source="gcp-compute-persistent-disk-csi-driver issue 545",
        ),
        model.Trap(
            text="without Kubernetes the node plugin logs that it failed to get its node; it goes on all the same",
            source="gcp-compute-persistent-disk-csi-driver v1.26.4, pkg/gce-pd-csi-driver/node.go (NodeGetInfo)",
        ),
        model.Trap(
            text="a label must be lower case; extra_tags become labels of each disk that the driver makes",
            source="https://cloud.google.com/compute/docs/labeling-resources, 2026-11",
        ),
    ),
)
