"""The CSI hostpath driver (``hostpath.csi.k8s.io``): folders of one client, for trying things out."""

from nomad_csi.drivers import klog, model
from nomad_csi.spec import driver, driver_volumes

_FLAGS = klog.V2_140 | {
    "accepted-mutable-parameter-names",
    "attach-limit",
    "automaxprocs",
    "capacity",
    "check-volume-lifecycle",
    "disable-controller-expansion",
    "disable-node-expansion",
    "enable-attach",
    "enable-controller-modify-volume",
    "enable-list-snapshots",
    "enable-snapshot-metadata",
    "enable-topology",
    "enable-volume-expansion",
    "endpoint",
    "max-volume-size",
    "max-volume-size-node",
    "maxvolumespernode",
    "nodeid",
    "snapshot-metadata-block-type",
    "statedir",
}
_UNFIT_FLAGS = {
    "drivername": "the plugin is recognised by the name that it has without",
    "ephemeral": "it makes a volume for each use and forgets it, which Nomad never asks for",
    "node-expand-required": "enable-volume-expansion is its name now",
    "proxy-endpoint": "it passes all calls on to another program and serves nothing itself",
    "version": "the driver prints its version and ends, so Nomad would restart it forever",
}
"""Source: ``cmd/hostpathplugin/main.go`` of v1.18.0, read 2026-11-21."""

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PATH = "a folder of the client such as /var/lib/csi-hostpath, absolute, without ':'"

DRIVER = model.Driver(
    name="csi-hostpath",
    title="hostpath",
    provider="hostpath.csi.k8s.io",
    image="registry.k8s.io/sig-storage/hostpathplugin:v1.18.0",
    version="v1.18.0",
    # The image's build writes the output of `git describe --long` there, whose length no one promises.
    vendor_version="",
    as_of="2026-11-21",
    sources=(
        "kubernetes-csi/csi-driver-host-path v1.18.0: cmd/hostpathplugin/main.go, pkg/hostpath, "
        "deploy/kubernetes-1.35/hostpath/csi-hostpath-plugin.yaml",
        "run with Nomad 2.0.6-dev under raw_exec, and in Docker 20.10.24, 2026-11",
    ),
    credentials=("none: it has no storage system behind it",),
    roles={
        "monolith": model.Role(
            job_type="service",
            arguments=(
                "--endpoint=${CSI_ENDPOINT}",
                "--nodeid={node_id}",
                "--statedir={state_dir}",
                "--v={log_verbosity}",
            ),
            flags=_FLAGS,
            unfit_flags=_UNFIT_FLAGS,
            privileged=True,
            binds=("{state_dir}:{state_dir}",),
            count_limit=1,
            count_advice="each instance has volumes of its own, and Nomad asks any instance for any volume",
            needs=(
                "docker with allow_privileged = true and volumes { enabled = true }",
                "to stay the same client, because the volumes are its folders: add a constraint where there are more",
            ),
            probe_proves="that the process answers",
            proof=model.Proof(
                tier="run",
                as_of="2026-11-21",
                versions=("Nomad 2.0.6-dev", "csi-driver-host-path v1.18.0 (commit cc78ee78)", "Docker 20.10.24"),
                proven=(
                    "the rendered arguments, under raw_exec, and the folder where Nomad and it meet",
                    "Probe, name and version, asked over its socket by our gate; its topology key, as Nomad has it",
                    "volumes made through Nomad in all ten modes, found as planned, deregistered",
                    "a volume written by one task of the exec driver and read by the next",
                    "a volume that exists registered under another id; one that it does not know refused",
                    "the rendered job under Docker, privileged, with its folder of the client, in an image that holds "
                    "the driver's program, mount and umount: its mounts are seen by tasks of docker and exec",
                    "without privileges there: healthy, and the first mount fails with `permission denied`",
                ),
                not_proven=(
                    "the image that its project publishes",
                    "block devices in use, snapshots, copies",
                ),
            ),
        ),
    },
    capabilities=model.every_mode("single-node-writer", "file-system", "block-device"),
    modes_advice="every mode is taken, but the volume is made for one of the two: file-system or block-device",
    external_id=driver_volumes.ExternalIdSpec(
        pattern=_UUID, allowed="the UUID that the driver gave the volume, as its state.json has it"
    ),
    topology_keys=("topology.hostpath.csi/node",),
    limits=(
        "a volume is a folder (a file for block-device) below state_dir of the one client that made it, 1 TiB at most",
        "sizes are kept as numbers; nothing stops a file system volume from growing beyond its size",
    ),
    settings={
        "node_id": driver.SettingSpec(
            text="the node's name for the driver, 1 to 63 letters, digits, '.', '_' or '-'",
            default="${node.unique.name}",
            pattern=r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
        ),
        "state_dir": driver.SettingSpec(text=_PATH, default="/var/lib/csi-hostpath", pattern=r"/[^:\0]+"),
    },
    health_timeout_s=30,
    minimum_nomad="1.3.0",
    creates=True,
    traps=(
        model.Trap(
            text="for trials only: the volumes are folders of one client, without redundancy and without fencing",
            source="csi-driver-host-path, README.md",
        ),
        model.Trap(
            text="`nomad volume delete` removes the folder even while a job has it mounted; deregister instead",
            source="hashicorp/nomad, nomad/csi_endpoint.go (Delete), tried on 2.0.6-dev, 2026-08",
        ),
        model.Trap(
            text="built without a version it answers Probe, but GetPluginInfo with UNAVAILABLE: never healthy",
            signs=("Driver is missing version",),
            source="csi-driver-host-path, pkg/hostpath/identityserver.go, tried 2026-11-21",
        ),
        model.Trap(
            text="a word without dashes in front makes the driver ignore every flag behind it, nodeid too",
            rule="positional-word",
            source="csi-driver-host-path, cmd/hostpathplugin/main.go (Go's flag package)",
        ),
    ),
)
