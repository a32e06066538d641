"""
The drivers that are played from a table: what each says of itself, and how it makes volumes.

Part of the CSI driver emulator. Read from the drivers themselves and not from `nomad_csi.drivers`, so that a
mistake in that catalogue shows here. Each profile names its source; all were read in 2026-08.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from nomad_csi_sandbox.csi_plugin import drivers, flags

GIB = 1 << 30
TIB = 1 << 40

_SINGLE = frozenset({"SINGLE_NODE_WRITER", "SINGLE_NODE_SINGLE_WRITER", "SINGLE_NODE_MULTI_WRITER"})
_ALL = _SINGLE | {
    *("SINGLE_NODE_READER_ONLY", "MULTI_NODE_READER_ONLY", "MULTI_NODE_SINGLE_WRITER", "MULTI_NODE_MULTI_WRITER")
}

IdForm = Literal["uuid", "name", "gce", "nfs", "number"]
SnapshotForm = Literal["uuid", "gce", "nfs", "number", "zfs"]
_ANY = re.compile(r"(?s).+")


@dataclass(frozen=True, kw_only=True)
class Words:
    """The driver's own words for missing arguments; ``{rpc}`` is the name of the call."""

    no_name: str = "{rpc} Name must be provided"
    no_capabilities: str = "{rpc} Volume capabilities must be provided"
    no_volume_id: str = "{rpc} Volume ID must be provided"
    wrong_use: str = "volume capabilities not supported: {use}"
    not_found: str = "volume {volume_id} not found"
    no_node: str = "node {node_id} not found"
    no_such_volume: str = ""
    """What ``ControllerGetVolume`` says of a volume that is gone; empty: the same as ``not_found``."""
    bad_snapshot_name: str = "invalid snapshot name {name}"
    bad_snapshot_id: str = "snapshot id does not exist in the snapshots list"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One driver and its storage."""

    driver: drivers.Driver
    words: Words = field(default_factory=Words)

    default_bytes: int = GIB
    """Size without a capacity range."""

    unit_bytes: int = 1
    """Sizes are rounded up to a multiple of it."""

    min_bytes: int = 0
    max_bytes: int = 0
    """0: no limit."""

    tells_size: bool = True
    """Whether ``CreateVolume`` answers the size; csi-driver-nfs answers 0."""

    keeps_range: bool = False
    """Whether a volume of the same name is handed out when its size is in the range; else the size must be equal."""

    ids: IdForm = "uuid"
    found: re.Pattern[str] | None = None
    """Ids of storage that others made: what looks like one is taken to exist. ``None``: only what the plugin made."""

    confirms_any: bool = False
    """Whether ``ValidateVolumeCapabilities`` confirms ids of volumes that do not exist."""

    snapshots: SnapshotForm = "uuid"
    """How the ids of snapshots are formed; those of ``zfs`` go with their volume, unless they are detached."""

    snapshot_name: re.Pattern[str] = _ANY
    """Names that a snapshot may have."""

    snapshot_id: re.Pattern[str] = _ANY
    """Ids of snapshots that the driver reads."""

    place: Literal["", "node", "zone"] = ""
    """What a volume is bound to: the node that made it, a zone, or nothing."""

    needs_place: bool = False
    """Whether a volume cannot be made without a topology."""

    parameters: frozenset[str] | None = None
    """The parameters it takes, in small letters; ``None``: any."""

    fs_types: frozenset[str] | None = None
    """The file systems it takes besides its default; ``None``: any, without a look."""

    needs_context: tuple[str, ...] = ()
    """Keys without which a node does not mount, in small letters."""

    max_volumes: int = 0
    """How many volumes fit on a node; 0: it knows no limit."""


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

HOSTPATH = Profile(
    driver=drivers.Driver(
        name="csi-hostpath",
        provider="hostpath.csi.k8s.io",
        version="v1.18.0",
        controller_rpcs=(
            *("CREATE_DELETE_VOLUME", "GET_VOLUME", "GET_CAPACITY", "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"),
            *("GET_SNAPSHOT", "LIST_VOLUMES", "CLONE_VOLUME", "VOLUME_CONDITION", "SINGLE_NODE_MULTI_WRITER"),
            "EXPAND_VOLUME",
        ),
        node_rpcs=(
            *("STAGE_UNSTAGE_VOLUME", "VOLUME_CONDITION", "GET_VOLUME_STATS", "SINGLE_NODE_MULTI_WRITER"),
            "EXPAND_VOLUME",
        ),
        zone_keys=("topology.hostpath.csi/node",),
        block_modes=_ALL,
        mount_modes=_ALL,
    ),
    words=Words(
        no_name="Name missing in request",
        no_capabilities="Volume Capabilities missing in request",
        no_volume_id="Volume ID missing in request",
        not_found="volume id {volume_id} does not exist in the volumes list",
        no_node="Not matching Node ID {node_id} to hostpath Node ID",
    ),
    default_bytes=0,
    max_bytes=TIB,
    keeps_range=True,
    place="node",
)
"""
Source: kubernetes-csi/csi-driver-host-path v1.18.0, pkg/hostpath/{identityserver,controllerserver,nodeserver}.go.

It claims the group controller as well, which Nomad does not use and which is not played.
"""

NFS = Profile(
    driver=drivers.Driver(
        name="csi-driver-nfs",
        provider="nfs.csi.k8s.io",
        version="v4.13.4",
        controller_rpcs=(
            *("CREATE_DELETE_VOLUME", "SINGLE_NODE_MULTI_WRITER", "CLONE_VOLUME", "CREATE_DELETE_SNAPSHOT"),
            "EXPAND_VOLUME",
        ),
        node_rpcs=("GET_VOLUME_STATS", "SINGLE_NODE_MULTI_WRITER"),
        zone_keys=(),
        block_modes=frozenset(),
        mount_modes=_ALL,
        services=("CONTROLLER_SERVICE",),
        says_ready=True,
    ),
    words=Words(
        no_name="{rpc} name must be provided",
        no_capabilities="volume capabilities missing in request",
        no_volume_id="Volume ID missing in request",
        wrong_use="block volume capability not supported",
        not_found="failed to create archive for snapshot: walking source directory: lstat {volume_id}: no such file or "
        "directory",
        bad_snapshot_id="failed to create nfsSnapshot from snapshot ID",
    ),
    default_bytes=0,
    tells_size=False,
    keeps_range=True,
    ids="nfs",
    confirms_any=True,
    snapshots="nfs",
    snapshot_id=re.compile(r"[^#]*(#[^#]*){4}"),
    found=re.compile(r".+", re.DOTALL),
    parameters=frozenset({"server", "share", "subdir", "ondelete", "mountpermissions"}),
    needs_context=("server", "share"),
)
"""Source: kubernetes-csi/csi-driver-nfs v4.13.4, pkg/nfs/{nfs,controllerserver,nodeserver}.go."""

GCE_PD = Profile(
    driver=drivers.Driver(
        name="gce-pd",
        provider="pd.csi.storage.gke.io",
        version="v1.26.4",
        controller_rpcs=(
            *("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"),
            *("PUBLISH_READONLY", "EXPAND_VOLUME", "LIST_VOLUMES", "LIST_VOLUMES_PUBLISHED_NODES", "CLONE_VOLUME"),
        ),
        node_rpcs=("STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"),
        zone_keys=("topology.gke.io/zone",),
        block_modes=frozenset(
            {"SINGLE_NODE_WRITER", "SINGLE_NODE_READER_ONLY", "MULTI_NODE_READER_ONLY", "MULTI_NODE_MULTI_WRITER"}
        ),
        mount_modes=frozenset({"SINGLE_NODE_WRITER", "SINGLE_NODE_READER_ONLY", "MULTI_NODE_READER_ONLY"}),
    ),
    words=Words(
        wrong_use="VolumeCapabilities is invalid: {use}",
        not_found="Could not find volume with ID {volume_id}",
        bad_snapshot_name="Failed to create snapshot: googleapi: Error 400: Invalid value for field 'resource.name': "
        "'{name}'. Must be a match of regex '(?:[a-z](?:[-a-z0-9]{{0,61}}[a-z0-9])?)', invalid",
    ),
    snapshots="gce",
    snapshot_name=re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
    unit_bytes=GIB,
    min_bytes=GIB,
    max_bytes=64 * TIB,
    keeps_range=True,
    ids="gce",
    found=re.compile(r"projects/[^/]+/(zones|regions)/[^/]+/disks/[^/]+"),
    place="zone",
    needs_place=True,
    fs_types=frozenset({"ext3", "ext4", "xfs", "ntfs"}),
    max_volumes=127,
)
"""
Source: kubernetes-sigs/gcp-compute-persistent-disk-csi-driver,
pkg/gce-pd-csi-driver/{gce-pd-driver,controller,node}.go.
"""

DIGITALOCEAN = Profile(
    driver=drivers.Driver(
        name="digitalocean",
        provider="dobs.csi.digitalocean.com",
        version="v4.16.0",
        controller_rpcs=(
            *("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "LIST_VOLUMES", "CREATE_DELETE_SNAPSHOT"),
            *("LIST_SNAPSHOTS", "EXPAND_VOLUME", "LIST_VOLUMES_PUBLISHED_NODES"),
        ),
        node_rpcs=("STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"),
        zone_keys=("region",),
        block_modes=frozenset({"SINGLE_NODE_WRITER"}),
        mount_modes=frozenset({"SINGLE_NODE_WRITER"}),
        expansion="ONLINE",
        says_ready=True,
    ),
    words=Words(
        wrong_use="volume capabilities cannot be satisified: unsupported access mode {use}",  # its own spelling
        not_found='volume "{volume_id}" does not exist',
        no_node="droplet {node_id} does not exist",
    ),
    default_bytes=16 * GIB,
    unit_bytes=GIB,
    min_bytes=GIB,
    max_bytes=16 * TIB,
    found=_UUID,
    place="zone",
    max_volumes=7,
)
"""Source: digitalocean/csi-digitalocean v4.16.0, driver/{identity,controller,node}.go."""

PORTWORX = Profile(
    driver=drivers.Driver(
        name="portworx",
        provider="pxd.portworx.com",
        version="1.4.0",  # that of its CSI interface, not of Portworx
        controller_rpcs=(
            *("CREATE_DELETE_VOLUME", "CLONE_VOLUME", "EXPAND_VOLUME", "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"),
            *("GET_VOLUME", "VOLUME_CONDITION", "GET_CAPACITY"),
        ),
        node_rpcs=("GET_VOLUME_STATS",),
        zone_keys=(),
        block_modes=frozenset(),
        mount_modes=_ALL - {"SINGLE_NODE_SINGLE_WRITER", "SINGLE_NODE_MULTI_WRITER"},
        services=("CONTROLLER_SERVICE",),
        expansion="ONLINE",
    ),
    words=Words(
        no_name="Name must be provided",
        no_capabilities="Volume capabilities must be provided",
        no_volume_id="Volume id must be provided",
        not_found="ID not found",
        no_such_volume="Volume ID {volume_id} not found",
    ),
    ids="number",
    snapshots="number",
)
"""Source: libopenstorage/openstorage, csi/{identity,controller,node}.go."""

_DEMOCRATIC_DATASET = Profile(
    driver=drivers.Driver(
        name="democratic-csi",
        provider="org.democratic-csi.zfs-generic-nfs",
        version="1.9.0",  # what the release v1.9.4 answers: its package.json was not raised
        controller_rpcs=(
            *("CREATE_DELETE_VOLUME", "LIST_VOLUMES", "GET_CAPACITY", "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"),
            *("CLONE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME", "SINGLE_NODE_MULTI_WRITER"),
        ),
        node_rpcs=("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "SINGLE_NODE_MULTI_WRITER"),
        zone_keys=(),
        block_modes=frozenset(),
        mount_modes=_ALL,
        services=("CONTROLLER_SERVICE",),
        expansion="ONLINE",
        says_ready=True,
    ),
    words=Words(
        no_name="missing name",
        no_capabilities="missing volume_capabilities",
        no_volume_id="missing volume_id",
        wrong_use="invalid access_mode, {use}",
        not_found="invalid volume_id: {volume_id}",
        bad_snapshot_name="snapshot name contains invalid characters: {name}",
    ),
    ids="name",
    snapshots="zfs",
    snapshot_name=re.compile(r"[A-Za-z0-9_\-:.+]+"),
    found=re.compile(r"[^/@]+"),
    fs_types=frozenset({"nfs", "cifs"}),
    needs_context=("node_attach_driver",),
)
"""Source: democratic-csi/democratic-csi v1.9.4, src/driver/index.js and src/driver/controller-zfs/index.js."""
_ZVOL_MODES = _ALL - {"MULTI_NODE_MULTI_WRITER"}
_DEMOCRATIC_ZVOL = replace(
    _DEMOCRATIC_DATASET,
    driver=replace(
        _DEMOCRATIC_DATASET.driver,
        node_rpcs=(*_DEMOCRATIC_DATASET.driver.node_rpcs, "EXPAND_VOLUME"),
        block_modes=_ALL,
        mount_modes=_ZVOL_MODES,
    ),
    unit_bytes=16 << 10,
    fs_types=frozenset({"btrfs", "exfat", "ext3", "ext4", "ext4dev", "ntfs", "vfat", "xfs"}),
)


def democratic(backend: str, csi_name: str) -> Profile:
    """Return democratic-csi for the ``driver`` of its configuration, under the name that it is told to have."""
    kind = _DEMOCRATIC_ZVOL if backend.endswith(("iscsi", "nvmeof", "zvol")) else _DEMOCRATIC_DATASET
    return replace(kind, driver=replace(kind.driver, provider=csi_name))


def renamed(profile: Profile, name: str) -> Profile:
    """Return *profile* under another name; as it is for an empty one."""
    return replace(profile, driver=replace(profile.driver, provider=name)) if name else profile


def hostpath(given: Mapping[str, str]) -> Profile:
    """Return csi-driver-host-path as its flags make it."""
    found = renamed(HOSTPATH, given.get("drivername", ""))
    off = {name for name, flag in _HOSTPATH_SWITCHES.items() if not _is_on(given, flag)}
    more = [name for flag, name in _HOSTPATH_EXTRAS.items() if _is_on(given, flag, default="false")]
    rpcs = [name for name in (*found.driver.controller_rpcs, *more) if name not in off]
    topology = _is_on(given, "enable-topology")
    services = tuple(name for name in found.driver.services if topology or name != "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    keys = found.driver.zone_keys if topology else ()
    driver = replace(found.driver, controller_rpcs=tuple(rpcs), services=services, zone_keys=keys)
    most = int(given.get("attach-limit", "0")) or int(given.get("maxvolumespernode", "0"))
    return replace(
        found,
        driver=driver,
        max_bytes=int(given.get("max-volume-size", str(TIB))),
        max_volumes=most,
        place="node" if topology else "",
    )


_HOSTPATH_SWITCHES = {"EXPAND_VOLUME": "enable-volume-expansion", "LIST_SNAPSHOTS": "enable-list-snapshots"}
_HOSTPATH_EXTRAS = {"enable-attach": "PUBLISH_UNPUBLISH_VOLUME"}


def _is_on(given: Mapping[str, str], flag: str, default: str = "true") -> bool:
    return flags.is_true(given.get(flag, default))


def digitalocean(given: Mapping[str, str]) -> Profile:
    """Return DigitalOcean's driver as its flags make it."""
    found = renamed(DIGITALOCEAN, given.get("driver-name", ""))
    return replace(found, max_volumes=int(given.get("volume-limit", "7")))


PROFILES: Mapping[str, Profile] = {
    profile.driver.name: profile for profile in (HOSTPATH, NFS, GCE_PD, DIGITALOCEAN, PORTWORX, _DEMOCRATIC_DATASET)
}
"""By the name on our command line."""
