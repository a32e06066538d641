"""The DigitalOcean block storage CSI driver (``dobs.csi.digitalocean.com``)."""

from nomad_csi.drivers import model
from nomad_csi.spec import base, driver_volumes

_COMMON_FLAGS = frozenset({"endpoint"})
_UNFIT_FLAGS = {
    "driver-name": "the plugin would answer another name than the one that is looked for",
    "region": "the driver asks the droplet for its region; with the flag it makes volumes in no region at all",
    "version": "the driver prints its version and ends, so Nomad would restart it forever",
}
"""Source: ``cmd/do-csi-plugin/main.go`` and ``NewDriver`` in ``driver/driver.go`` of v4.16.0, read 2026-11-21."""

_TOKEN = "DIGITALOCEAN_ACCESS_TOKEN"  # noqa: S105  # the name of a variable
_OFF_DROPLETS = "a droplet: the driver asks the metadata service for the droplet's id, and ends where it finds none"
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
    name="digitalocean",
    title="DigitalOcean",
    provider="dobs.csi.digitalocean.com",
    image="docker.io/digitalocean/do-csi-plugin:v4.16.0",
    version="v4.16.0",
    as_of="2026-11-21",
    sources=(
        "digitalocean/csi-digitalocean v4.16.0: cmd/do-csi-plugin/main.go, driver",
        "hashicorp/nomad: demo/csi/digitalocean",
    ),
    credentials=(
        "a Nomad variable or Vault, as item token: a template puts it into the controller's environment; the job "
        "file has the name of the variable in place of it",
        "the driver reads no variable: Nomad writes the token into its arguments on the client, where ps shows it",
        "the node plugin has no token: it asks the metadata service alone",
    ),
    roles={
        "controller": model.Role(
            job_type="service",
            arguments=(
                "--endpoint=${CSI_ENDPOINT}",
                f"--token=${{{_TOKEN}}}",
                "--url=https://api.digitalocean.com/",
            ),
            flags=_COMMON_FLAGS
            | {"debug-addr", "default-volumes-page-size", "do-api-rate-limit", "do-tag", "token", "url"},
            unfit_flags=_UNFIT_FLAGS,
            secret_environment={_TOKEN: "token"},
            needs=(_OFF_DROPLETS,),
            probe_proves="that the process has started, and that the API answered to its token then",
            proof=_PROOF,
        ),
        "node": model.Role(
            job_type="system",
            arguments=("--endpoint=${CSI_ENDPOINT}",),
            flags=_COMMON_FLAGS | {"validate-attachment", "volume-limit"},
            unfit_flags=_UNFIT_FLAGS
            | {"token": "the token makes the process a controller; nodes have none, so that it is in one place"},
            privileged=True,
            needs=("docker with allow_privileged = true", _OFF_DROPLETS),
            probe_proves="that the process has started",
            proof=_PROOF,
        ),
    },
    capabilities=(
        base.CapabilitySpec(access_mode="single-node-writer", attachment_mode="file-system"),
        base.CapabilitySpec(access_mode="single-node-writer", attachment_mode="block-device"),
    ),
    modes_advice="use single-node-writer, and read_only = true in the volume block of jobs that only read",
    external_id=driver_volumes.ExternalIdSpec(
        pattern=r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        allowed="the UUID of a volume, not its name: 506f78a4-e098-11e5-ad9f-000f53306ae1",
    ),
    fs_types=frozenset({"ext3", "ext4", "xfs"}),
    context=driver_volumes.KeysSpec(
        meanings={"dobs.csi.digitalocean.com/noformat": "there, with any value: an empty volume is not formatted"},
    ),
    topology_key="region",
    limits=(
        "7 volumes for each droplet (--volume-limit of the node plugin, where DigitalOcean allows more)",
        "1 GiB to 16 TiB",
        "a volume is attached in its own region only, and never shrinks",
    ),
    health_timeout_s=60,
    minimum_nomad="1.3.0",
    creates=True,
    traps=(
        model.Trap(
            text="klog's flags (--v, --logtostderr) end the driver with a usage error",
            source="csi-digitalocean v4.16.0, cmd/do-csi-plugin/main.go (Go's flag package)",
        ),
        model.Trap(
            text="availability_zone of a volume is its region, such as nyc3: the driver's only topology key is region",
            source="csi-digitalocean v4.16.0, driver/node.go (NodeGetInfo)",
        ),
        model.Trap(
            text="the image is for amd64 only",
            source="csi-digitalocean v4.16.0, cmd/do-csi-plugin/Dockerfile",
        ),
    ),
)
