"""The CSI NFS driver of Kubernetes' storage group (``nfs.csi.k8s.io``): folders of an NFS server that exists."""

from nomad_csi.drivers import klog, model
from nomad_csi.spec import driver_volumes

_FLAGS = klog.V2_130 | {
    "default-ondelete-policy",
    "enable-snapshot-compression",
    "endpoint",
    "mount-permissions",
    "nodeid",
    "remove-archived-volume-path",
    "use-tar-command-in-snapshot",
    "vol-stats-cache-expire-in-minutes",
    "working-mount-dir",
}
_UNFIT_FLAGS = {"drivername": "the plugin is recognised by the name that it has without"}
"""Source: ``cmd/nfsplugin/main.go`` of v4.13.4, read 2026-11-21."""

_ARGUMENTS = ("--endpoint=${CSI_ENDPOINT}", "--nodeid=${attr.unique.hostname}", "--v={log_verbosity}")
_NEEDS = ("docker with allow_privileged = true", "the kernel's NFS client, and a way to the NFS server")
_PROBE = "that the process answers; nothing about the NFS server"
_VERSIONS = ("Nomad 2.0.6-dev", "csi-driver-nfs v4.13.4 (commit f09798c0)")
_PROVEN = ("the rendered arguments, under raw_exec", "Probe, name and version, asked over its socket by our gate")
_NOT_PROVEN = ("anything of an NFS server: there was none", "the driver's own image under Docker, with its privileges")
_MADE_BY_KUBERNETES = frozenset(
    {"csi.storage.k8s.io/pv/name", "csi.storage.k8s.io/pvc/name", "csi.storage.k8s.io/pvc/namespace"}
)

DRIVER = model.Driver(
    name="csi-driver-nfs",
    title="NFS",
    provider="nfs.csi.k8s.io",
    image="registry.k8s.io/sig-storage/nfsplugin:v4.13.4",
    version="v4.13.4",
    as_of="2026-11-21",
    sources=(
        "kubernetes-csi/csi-driver-nfs v4.13.4: cmd/nfsplugin/main.go, pkg/nfs, docs/driver-parameters.md",
        "run with Nomad 2.0.6-dev under raw_exec, 2026-11",
    ),
    credentials=("none: the NFS server decides by address who may mount",),
    roles={
        "controller": model.Role(
            job_type="service",
            arguments=_ARGUMENTS,
            flags=_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            privileged=True,
            network_mode="host",
            needs=_NEEDS,
            probe_proves=_PROBE,
            proof=model.Proof(
                tier="run",
                as_of="2026-11-21",
                versions=_VERSIONS,
                proven=(
                    *_PROVEN,
                    "registration, which asks nothing of the server",
                    "a folder that cannot be made because the share cannot be mounted: its words, nothing registered",
                ),
                not_proven=(*_NOT_PROVEN, "a folder made on a server, growth, snapshots, copies"),
            ),
        ),
        "node": model.Role(
            job_type="system",
            arguments=_ARGUMENTS,
            flags=_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            privileged=True,
            network_mode="host",
            needs=_NEEDS,
            probe_proves=_PROBE,
            proof=model.Proof(
                tier="run",
                as_of="2026-11-21",
                versions=_VERSIONS,
                proven=(
                    *_PROVEN,
                    "a share that cannot be mounted: the task fails with the driver's words, the claim is freed",
                ),
                not_proven=(*_NOT_PROVEN, "a mount, and that it outlives the plugin's container"),
            ),
        ),
    },
    capabilities=model.every_mode("multi-node-multi-writer", "file-system"),
    modes_advice="a share is a file system, never a block device",
    external_id=driver_volumes.ExternalIdSpec(allowed="any text that is unique, by custom server#share#folder"),
    fs_types=frozenset({"", "nfs"}),
    context=driver_volumes.KeysSpec(ignore_case=True, required=frozenset({"server", "share"})),
    parameters=driver_volumes.KeysSpec(
        allowed=frozenset({"mountPermissions", "onDelete", "server", "share", "subDir"}) | _MADE_BY_KUBERNETES,
        ignore_case=True,
        required=frozenset({"server", "share"}),
        values={"onDelete": frozenset({"archive", "delete", "retain"})},
    ),
    limits=(
        "sizes are not kept: a volume may fill the share",
        "of the context it reads server, share, subDir, mountOptions and mountPermissions (octal), and ignores others",
    ),
    health_timeout_s=30,
    minimum_nomad="1.3.0",
    creates=True,
    traps=(
        model.Trap(
            text="registration checks nothing on the server: a wrong server or share fails when an allocation mounts",
            source="csi-driver-nfs, pkg/nfs/controllerserver.go (ValidateVolumeCapabilities)",
        ),
        model.Trap(
            text="the controller mounts the share to make a folder in it, so it too must be privileged",
            source="csi-driver-nfs, pkg/nfs/controllerserver.go (internalMount)",
        ),
        model.Trap(
            text="`nomad volume delete` removes the folder of a volume that the plugin made, unless onDelete: retain",
            source="csi-driver-nfs, pkg/nfs/controllerserver.go (DeleteVolume)",
        ),
        model.Trap(
            text="without host networking every mount of a client hangs when the plugin's container is replaced",
            source="csi-driver-nfs, deploy/v4.13.4/csi-nfs-node.yaml (hostNetwork)",
        ),
        model.Trap(
            text="a word without dashes in front makes the driver ignore every flag behind it, the endpoint too",
            rule="positional-word",
            source="csi-driver-nfs, cmd/nfsplugin/main.go (Go's flag package)",
        ),
    ),
)
