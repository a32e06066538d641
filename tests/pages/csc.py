"""The page that has each command of `csc` beside its other form; a test runs the rows."""

from tests.pages import table

HEAD = """# From csc to `nomad-csi csi call`

Left: what follows `csc` of gocsi. Right: what follows `nomad-csi csi call ENDPOINT`."""

FOOT = """`csc`'s `-e` is the argument ENDPOINT; `-t` is `--timeout`; `-i` is `--insecure-http`;
`--with-request-logging` is `--show-request`; `--format` is `--json`; the credentials of `X_CSI_SECRETS`
are read, too. A name is one request: run the command again for the next one. An exit code is
100 + the gRPC code, apart from 1, 2 and 64. `DeleteVolume` and `DeleteSnapshot` are refused, with the
command that checks claims first."""

ROWS = (
    ("identity plugin-info", "GetPluginInfo"),
    ("identity plugin-capabilities", "GetPluginCapabilities"),
    ("identity probe", "Probe"),
    (
        "controller create-volume --cap SINGLE_NODE_WRITER,mount,ext4 --req-bytes 1073741824 --lim-bytes 2147483648 --params a=b data",
        "CreateVolume --yes name=data volume_capabilities=SINGLE_NODE_WRITER,mount,ext4 capacity_range.required_bytes=1GiB capacity_range.limit_bytes=2GiB parameters.a=b",
    ),
    (
        "controller create-volume --volume-src VOLUME_ID copy",
        "CreateVolume --yes name=copy volume_capabilities=single-node-writer,mount volume_content_source.volume.volume_id=VOLUME_ID",
    ),
    (
        "controller validate-volume-capabilities --cap MULTI_NODE_READER_ONLY,block --vol-context a=b --params c=d VOLUME_ID",
        "ValidateVolumeCapabilities volume_id=VOLUME_ID volume_capabilities=multi-node-reader-only,block volume_context.a=b parameters.c=d",
    ),
    ("controller list-volumes --max-entries 5 --paging", "ListVolumes max_entries=5"),
    ("controller list-volumes --starting-token 1", "ListVolumes starting_token=1 --one-page"),
    (
        "controller get-capacity --cap SINGLE_NODE_WRITER,mount --params a=b",
        "GetCapacity volume_capabilities=single-node-writer,mount parameters.a=b",
    ),
    ("controller get-capabilities", "ControllerGetCapabilities"),
    (
        "controller expand-volume --req-bytes 2147483648 --cap SINGLE_NODE_WRITER,mount VOLUME_ID",
        "ControllerExpandVolume volume_id=VOLUME_ID capacity_range.required_bytes=2GiB volume_capability=single-node-writer,mount",
    ),
    (
        "controller create-snapshot --source-volume VOLUME_ID --params a=b daily",
        "CreateSnapshot source_volume_id=VOLUME_ID name=daily parameters.a=b",
    ),
    ("controller list-snapshots --source-volume-id VOLUME_ID", "ListSnapshots source_volume_id=VOLUME_ID"),
    (
        "controller publish --cap SINGLE_NODE_WRITER,mount --node-id NODE --read-only VOLUME_ID",
        "ControllerPublishVolume --yes volume_id=VOLUME_ID node_id=NODE volume_capability=single-node-writer,mount readonly=true",
    ),
    (
        "controller unpublish --node-id NODE VOLUME_ID",
        "ControllerUnpublishVolume --yes volume_id=VOLUME_ID node_id=NODE",
    ),
    ("controller delete-volume VOLUME_ID", "DeleteVolume volume_id=VOLUME_ID"),
    ("controller delete-snapshot SNAPSHOT_ID", "DeleteSnapshot snapshot_id=SNAPSHOT_ID"),
    ("node get-info", "NodeGetInfo"),
    ("node get-capabilities", "NodeGetCapabilities"),
    (
        "node stage --cap SINGLE_NODE_WRITER,mount --staging-target-path STAGE --pub-context a=b VOLUME_ID",
        "NodeStageVolume --yes volume_id=VOLUME_ID staging_target_path=STAGE volume_capability=single-node-writer,mount publish_context.a=b",
    ),
    (
        "node publish --cap SINGLE_NODE_WRITER,mount --staging-target-path STAGE --target-path TARGET --vol-context a=b VOLUME_ID",
        "NodePublishVolume --yes volume_id=VOLUME_ID staging_target_path=STAGE target_path=TARGET volume_capability=single-node-writer,mount volume_context.a=b",
    ),
    (
        "node stats VOLUME_ID:TARGET:STAGE",
        "NodeGetVolumeStats volume_id=VOLUME_ID volume_path=TARGET staging_target_path=STAGE",
    ),
    (
        "node expand-volume --req-bytes 2147483648 --cap SINGLE_NODE_WRITER,mount VOLUME_ID TARGET",
        "NodeExpandVolume volume_id=VOLUME_ID volume_path=TARGET capacity_range.required_bytes=2GiB volume_capability=single-node-writer,mount",
    ),
    (
        "node unpublish --target-path TARGET VOLUME_ID",
        "NodeUnpublishVolume --yes volume_id=VOLUME_ID target_path=TARGET",
    ),
    (
        "node unstage --staging-target-path STAGE VOLUME_ID",
        "NodeUnstageVolume --yes volume_id=VOLUME_ID staging_target_path=STAGE",
    ),
)
"""Words of `csc`, and those of `csi call`. Source: rexray/gocsi, csc/cmd, 2026-11."""


def page():
    """Return the page."""
    rows = [(f"`{old}`", f"`{new}`") for old, new in ROWS]
    return "\n\n".join((HEAD, "\n".join(table(("csc", "nomad-csi csi call ENDPOINT"), rows)), FOOT))
