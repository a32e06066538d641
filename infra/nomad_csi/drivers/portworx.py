"""Portworx (``pxd.portworx.com``): storage made of the clients' own disks."""

from nomad_csi.drivers import model
from nomad_csi.spec import access, base, driver, driver_volumes

_MODES: tuple[access.AccessMode, ...] = (
    "single-node-writer",
    "single-node-reader-only",
    "multi-node-reader-only",
    "multi-node-single-writer",
    "multi-node-multi-writer",
)

DRIVER = model.Driver(
    name="portworx",
    title="Portworx",
    provider="pxd.portworx.com",
    image="docker.io/portworx/oci-monitor:2.13.1",
    version="2.13.1",
    vendor_version="",
    as_of="2026-11-21",
    sources=(
        "docs.portworx.com, Portworx Enterprise 3.1: Install as a Nomad Job, Enable Portworx CSI, 2026-11",
        "docs.portworx.com, Portworx Enterprise 3.1: CSI, Features and Installation Options, 2026-11",
        "hashicorp/nomad: demo/csi/portworx-csi-plugin",
        "libopenstorage/openstorage: csi/identity.go, csi/controller.go",
    ),
    credentials=(
        "none: the plugin needs no account. Consul's own access control is for kvdb alone: certificates and tokens for "
        "it are Portworx's flags",
        "with PX-Security: the item auth-token in the secrets of each volume",
    ),
    roles={
        "monolith": model.Role(
            job_type="service",
            arguments=("-c", "{cluster_id}", "-a", "-b", "-k", "{kvdb}", "--endpoint", "0.0.0.0:9015"),
            environment={"AUTO_NODE_RECOVERY_TIMEOUT_IN_SECS": "1500", "PX_TEMPLATE_VERSION": "V4"},
            privileged=True,
            network_mode="host",
            ipc_mode="host",
            binds=(
                "/var/cores:/var/cores",
                "/var/run/docker.sock:/var/run/docker.sock",
                "/run/containerd:/run/containerd",
                "/etc/pwx:/etc/pwx",
                "/opt/pwx:/opt/pwx",
                "/proc:/host_proc",
                "/etc/systemd/system:/etc/systemd/system",
                "/var/run/log:/var/run/log",
                "/var/log:/var/log",
                "/var/run/dbus:/var/run/dbus",
            ),
            mount_dir="/var/lib/csi",
            stage_publish_base_dir="/var/lib/portworx",
            default_count=3,
            count_minimum=3,
            count_advice="Portworx needs three nodes for a quorum; set as many as there are clients that use volumes",
            kill_timeout_s=120,
            resources=base.ResourcesSpec(cpu_mhz=1024, memory_mib=2048),
            needs=(
                "docker with allow_privileged = true and volumes { enabled = true }",
                "systemd, and a disk without a file system for -a to take",
                "a Consul or etcd that answers under kvdb, and Portworx's ports open between the clients",
                "max_kill_timeout of at least 120 s in the client's configuration",
            ),
            probe_proves="that Portworx has started on this client, which takes minutes the first time",
            proof=model.Proof(
                tier="parsed",
                as_of="2026-11-21",
                versions=("Nomad 2.0.6-dev",),
                proven=(
                    "the agent parses the job file into the job that was meant and finds it valid; it does not look "
                    "into what is Docker's",
                    "`nomad volume create` reads from the volume files what our own client sends",
                ),
                not_proven=(
                    "the driver itself, which never ran here: its start, its Probe, a volume, a mount",
                    "the tag of the image: newer ones are published, and their release notes decide on an upgrade",
                ),
            ),
        ),
    },
    capabilities=tuple(base.CapabilitySpec(access_mode=mode, attachment_mode="file-system") for mode in _MODES),
    modes_advice="block devices do not work on Nomad",
    external_id=driver_volumes.ExternalIdSpec(pattern=r"[0-9]+", allowed="Portworx's number of the volume"),
    fs_types=frozenset({"ext4", "xfs"}),
    parameters=driver_volumes.KeysSpec(
        meanings={
            "io_profile": "such as db_remote or auto",
            "priority_io": "high, medium or low",
            "repl": "copies on different nodes: 1 to 3",
            "sharedv4": "true: for the multi-node access modes",
        },
    ),
    secrets=driver_volumes.KeysSpec(meanings={"auth-token": "token of PX-Security"}),
    topology_key=None,
    limits=(
        "no topology and no block devices on Nomad",
        "a volume is made through Nomad (create); one that exists is not registered",
    ),
    settings={
        "cluster_id": driver.SettingSpec(text="the name of the Portworx cluster, the same on every client"),
        "kvdb": driver.SettingSpec(
            text="where Portworx keeps its own state: consul://HOST:PORT or etcd://HOST:PORT, without a password",
            default="consul://127.0.0.1:8500",
            pattern=r"(consul|etcd)(:https?)?://[^@\s]+",
        ),
    },
    health_timeout_s=1800,
    minimum_nomad="1.3.4",
    registers=False,
    creates=True,
    traps=(
        model.Trap(
            text="with Nomad's usual health timeout the plugin is restarted for ever while it installs itself",
            source="Portworx's page on Nomad: health_timeout of 30 minutes",
        ),
        model.Trap(
            text="the driver answers the version of its CSI interface, not Portworx's: it is not compared",
            source="libopenstorage/openstorage, csi/identity.go (GetPluginInfo)",
        ),
        model.Trap(
            text="volumes are not made larger through Nomad, and not encrypted through Vault",
            source="Portworx's table of supported features; hashicorp/nomad issues 10324 and 7978",
        ),
        model.Trap(
            text="the container starts Portworx outside of itself, under systemd: a stopped job leaves it running",
            source="Portworx's page on Nomad (oci-monitor)",
        ),
    ),
)
