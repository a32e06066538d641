"""democratic-csi (``org.democratic-csi.*``): ZFS, TrueNAS and Synology over NFS, iSCSI, SMB and NVMe-oF."""

from nomad_csi.drivers import model
from nomad_csi.spec import driver, driver_volumes

_FLAGS = frozenset(
    {
        "csi-mode",
        "csi-name",
        "csi-version",
        "driver-config-file",
        "log-level",
        "server-socket",
        "server-socket-permissions-mode",
    }
)
_OPEN = "it lets everybody on the network make and delete volumes: nobody is asked for a password there"
_UNFIT_FLAGS = {
    "help": "the driver prints its options and ends, so Nomad would restart it forever",
    "server-address": _OPEN,
    "server-port": _OPEN,
    "version": "the driver prints its version and ends, so Nomad would restart it forever",
}
"""Source: ``bin/democratic-csi`` of v1.9.4, read 2026-11-21."""

_REMOTE = frozenset(
    {
        "freenas-api-iscsi", "freenas-api-nfs", "freenas-api-smb", "freenas-iscsi", "freenas-nfs", "freenas-smb",
        "node-manual", "synology-iscsi", "synology-nfs", "synology-smb", "truenas-iscsi", "truenas-nfs", "truenas-smb",
        "zfs-generic-iscsi", "zfs-generic-nfs", "zfs-generic-nvmeof", "zfs-generic-smb",
    }
)  # fmt: skip
_SHARES = frozenset({"lustre-client", "nfs-client", "objectivefs", "smb-client"})
_LOCAL = frozenset({"local-hostpath", "zfs-local-dataset", "zfs-local-zvol"})
_BACKENDS = _REMOTE | _SHARES | _LOCAL
"""Source: ``src/driver/factory.js`` of v1.9.4. Left out: ``zfs-local-ephemeral-inline``, which Nomad never asks for."""

_SHARE = "its controller makes folders in a share that is not mounted in its container; csi-driver-nfs mounts its own"
_LOCAL_REASON = "its controller makes volumes on the client's own disks, which its container does not see"
_NOT_IN_CONTAINERS = dict.fromkeys(_SHARES, _SHARE) | dict.fromkeys(_LOCAL, _LOCAL_REASON)

_FROM_SERVER = frozenset({"server", "share"})
_CONTEXT = driver_volumes.KeysSpec(
    required=frozenset({"node_attach_driver", "provisioner_driver"}),
    values={
        "node_attach_driver": frozenset(
            {"hostpath", "iscsi", "lustre", "nfs", "nvmeof", "objectivefs", "oneclient", "smb", "zfs-local"}
        ),
        "provisioner_driver": _BACKENDS,
    },
    required_with={
        "node_attach_driver": {
            "hostpath": frozenset({"path"}),
            "iscsi": frozenset({"iqn", "lun", "portal|portals"}),
            "lustre": _FROM_SERVER,
            "nfs": _FROM_SERVER,
            "nvmeof": frozenset({"nqn", "nsid", "transport|transports"}),
            "objectivefs": frozenset({"filesystem"}),
            "oneclient": frozenset({"server"}),
            "smb": _FROM_SERVER,
            "zfs-local": frozenset({"zfs_asset_name"}),
        }
    },
)
"""Source: ``src/driver/index.js`` (``NodeStageVolume``) of v1.9.4. Others are passed over."""

_FS_TYPES = frozenset(
    {
        "", "btrfs", "cifs", "exfat", "ext3", "ext4", "ext4dev", "fuse.objectivefs", "fuse.oneclient", "lustre", "nfs",
        "ntfs", "objectivefs", "oneclient", "vfat", "xfs", "zfs",
    }
)  # fmt: skip
"""Of all its drivers; each takes some of them."""

_ARGUMENTS = (
    "--csi-version=1.5.0",
    "--csi-name=org.democratic-csi.{plugin_id}",
    "--driver-config-file={config_file}",
    "--log-level={log_level}",
)
_VERSIONS = ("Nomad 2.0.6-dev", "democratic-csi v1.9.4 (commit 4ec9ff2)", "Node.js 20.20.2")
_PROVEN = (
    "the rendered arguments, under raw_exec, and its configuration from a template in the task's secrets directory",
    "Probe, name and version, asked over its socket by our gate, with its drivers local-hostpath and node-manual",
)
_NOT_PROVEN = ("ZFS, TrueNAS and Synology: there were none", "the driver's own image under Docker, with its privileges")
_SOCKET = "--server-socket=${CSI_ENDPOINT}"
_NODE_ID = {"CSI_NODE_ID": "${attr.unique.hostname}"}

DRIVER = model.Driver(
    name="democratic-csi",
    title="democratic-csi",
    provider="org.democratic-csi.{plugin_id}",
    image="docker.io/democraticcsi/democratic-csi:v1.9.4",
    version="v1.9.4",
    vendor_version="1.9.0",  # its package.json was not raised for the releases after v1.9.0
    as_of="2026-11-21",
    sources=(
        "democratic-csi/democratic-csi v1.9.4: bin/democratic-csi, src/driver, examples, docs/Nomad",
        "run with Nomad 2.0.6-dev under raw_exec, with its driver local-hostpath, 2026-11",
    ),
    credentials=(
        "API key, password or SSH key of the storage system: {from_secret: ITEM} in config, from a Nomad variable or "
        "Vault, filled in on the client into the task's secrets directory; both jobs get the file, as upstream has it",
        "CHAP of iSCSI: secrets of the volume whose keys begin with node-db., such as "
        "node-db.node.session.auth.password",
        "user and password of SMB: mount_flags in the volume's secrets, such as username=u,password=p",
    ),
    roles={
        "controller": model.Role(
            job_type="service",
            arguments=(*_ARGUMENTS, "--csi-mode=controller", _SOCKET),
            flags=_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            environment=_NODE_ID,
            count_limit=1,
            count_advice="what it has locked is known to its own process only, so two change the same volume at once",
            needs=("a way to the storage system's API or SSH",),
            probe_proves="with freenas-*, truenas-* and zfs-generic-*: that the API or SSH answers; else nothing",
            proof=model.Proof(
                tier="run",
                as_of="2026-11-21",
                versions=_VERSIONS,
                proven=(
                    *_PROVEN,
                    "a volume made through Nomad by local-hostpath, with the context that it writes",
                    "a volume that its storage does not know refused at registration",
                ),
                not_proven=(*_NOT_PROVEN, "API and SSH, with their secrets; growth, snapshots, copies"),
            ),
        ),
        "node": model.Role(
            job_type="system",
            arguments=(*_ARGUMENTS, "--csi-mode=node", _SOCKET),
            flags=_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            environment=_NODE_ID | {"FILESYSTEM_TYPE_DETECTION_STRATEGY": "blkid"},
            privileged=True,
            network_mode="host",
            ipc_mode="host",
            binds=("/:/host",),
            needs=(
                "docker with allow_privileged = true and volumes { enabled = true }",
                "for NFS: the kernel's NFS client; for iSCSI: open-iscsi, its service iscsid running, each client with "
                "an initiator name of its own, multipath-tools where there are several portals",
            ),
            probe_proves="that the process answers",
            proof=model.Proof(
                tier="run",
                as_of="2026-11-21",
                versions=_VERSIONS,
                proven=(
                    *_PROVEN,
                    "volumes of local-hostpath and node-manual mounted by their context, used by tasks of the exec "
                    "driver, unmounted, and mounted again with their data",
                ),
                not_proven=(*_NOT_PROVEN, "a mount over NFS, SMB, iSCSI or NVMe-oF"),
            ),
        ),
    },
    capabilities=model.every_mode("single-node-writer", "file-system", "block-device"),
    modes_advice="file systems over NFS and SMB take every mode; those over iSCSI and NVMe-oF not "
    "multi-node-multi-writer; block devices exist over iSCSI and NVMe-oF only",
    external_id=driver_volumes.ExternalIdSpec(
        allowed="the name of the dataset or zvol below datasetParentName, such as traefik-acme; with node-manual any"
    ),
    fs_types=_FS_TYPES,
    context=_CONTEXT,
    topology_keys=("org.democratic-csi.topology/node",),
    limits=(
        "one driver of its configuration and one protocol for each plugin id: NFS and iSCSI are two plugins",
        "csi.access_modes in config replaces the access modes that it takes",
        "local-hostpath and zfs-local-*: a volume is on the one client whose controller made it",
        "node-manual makes no volumes and looks nothing up: its controller answers and has nothing to do",
    ),
    log_levels=("error", "warn", "info", "verbose", "debug", "silly"),
    default_log_level="info",
    config_file=driver.ConfigFileSpec(
        name="driver-config-file.yaml",
        required=("driver",),
        values={"driver": _BACKENDS},
        not_in_containers={"driver": _NOT_IN_CONTAINERS},
    ),
    health_timeout_s=60,
    minimum_nomad="1.3.0",
    creates=True,
    traps=(
        model.Trap(
            text="two controllers, as the Nomad page of its wiki has them, are not safe: each knows only its own locks",
            source="democratic-csi, bin/democratic-csi (operationLock)",
        ),
        model.Trap(
            text="a volume registered without its context fails when it is mounted: unknown node_attach_driver",
            source="democratic-csi issue 438",
        ),
        model.Trap(
            text="lsblk, its usual way to see whether a disk is formatted, sees nothing in a container without the "
            "client's udev data, and the disk is formatted again; so blkid is set here",
            source="democratic-csi, src/utils/filesystem.js (deviceIsFormatted), docs/Nomad/examples",
        ),
        model.Trap(
            text="the release v1.9.4 answers 1.9.0 as its version",
            source="democratic-csi v1.9.4, package.json, seen 2026-11-21",
        ),
        model.Trap(
            text="an option that it does not know is passed over without a word",
            source="democratic-csi, bin/democratic-csi (yargs without strict)",
        ),
    ),
)
