"""The rules of volume files."""

from nomad_csi.lint.model import Rule

_DECODE = "hashicorp/nomad, command/volume_register_csi.go (csiDecodeVolume), 2026-08-21"
_RAN = "Nomad 2.0.6-dev, nomad volume register, tried 2026-08"
_CSI = "CSI specification 1.12, Size Limits"
_CATALOGUE = "the driver's row: nomad-csi drivers show DRIVER"
_CLAIM = "hashicorp/nomad, nomad/structs/csi.go and nomad/csi_endpoint.go (Register), 2026-08-21"

RULES = (
    Rule(
        code="type-missing",
        severity="error",
        explanation="The file does not say of which type the volume is. Nomad's command line refuses it: unknown "
        "volume type.",
        fix='add type = "csi"',
        source=_RAN,
    ),
    Rule(
        code="legacy-modes",
        severity="error",
        explanation="The access and attachment mode stand at the top of the file, as before Nomad 1.1. Today's Nomad "
        "drops them and refuses the volume: it must include at least one capability block.",
        fix="move them into a capability block",
        source=_RAN,
    ),
    Rule(
        code="capability-missing",
        severity="error",
        explanation="No capability block says how the volume may be used. Nomad refuses it.",
        fix="add a capability block with access_mode and attachment_mode",
        source=_RAN,
    ),
    Rule(
        code="block-map",
        severity="warning",
        explanation="A map is written as a block. Only HCL1 reads it when a key has a dot or a slash, and HCL1 merges "
        "several of them in silence; nomad fmt and other readers of HCL2 stop there.",
        fix="write it with an equals sign: context = { ... }",
        source=_RAN,
    ),
    Rule(
        code="name-unknown",
        severity="warning",
        explanation="Nomad drops a name at the top of a volume file that it does not know, without a word. It is a "
        "typing error, or belongs to another Nomad.",
        fix="remove it, or write it as Nomad does",
        source=_DECODE,
    ),
    Rule(
        code="block-twice",
        severity="error",
        explanation="Of several mount_options blocks Nomad takes the first, and of several topology_request blocks "
        "the last; what stands in the others is lost in silence.",
        fix="write one block",
        source=_DECODE,
    ),
    Rule(
        code="volume-unreadable",
        severity="error",
        explanation="Nomad's command line refuses the file: a block has a name that it does not know, a value is of "
        "the wrong kind, or a size is none.",
        fix="write what is expected there",
        source=_DECODE,
    ),
    Rule(
        code="value-weak",
        severity="warning",
        explanation="A map of a volume holds texts. Nomad turns true into the text 1 and false into 0, which drivers "
        "that want the word true do not take.",
        fix="put the value into quotes",
        source=_RAN,
    ),
    Rule(
        code="capacity-decimal",
        severity="warning",
        explanation="GB and G are powers of 1000, GiB are powers of 1024. Storage providers count GiB, so a decimal "
        "size comes out smaller than it looks, or is rounded.",
        fix="write GiB",
        source="dustin/go-humanize, bytes.go (ParseBytes), through " + _DECODE,
    ),
    Rule(
        code="topology-empty",
        severity="error",
        explanation="A topology without segments is dropped in silence: the volume is bound to no zone, and jobs are "
        "placed where it cannot be attached.",
        fix='write segments = { "key" = "zone" }',
        source=_RAN,
    ),
    Rule(
        code="topology-lost",
        severity="error",
        explanation="Of several required or preferred blocks Nomad takes the first that has segments. The others are "
        "lost in silence.",
        fix="put all topology blocks into one required block",
        source=_DECODE,
    ),
    Rule(
        code="topology-preferred",
        severity="warning",
        explanation="Registration copies the required topologies into the volume; preferred ones count only when the "
        "plugin makes the volume. A volume that exists is bound to nothing by them.",
        fix="say required",
        source=_CLAIM,
    ),
    Rule(
        code="topology-missing",
        severity="error",
        explanation="The driver's volumes are bound to a place, and the file does not say which. Nomad then places "
        "jobs anywhere, and attaching fails on clients in other places.",
        fix="add a topology_request with a required topology",
        source=_CLAIM,
    ),
    Rule(
        code="topology-key-unknown",
        severity="error",
        explanation="No node of this driver reports this segment key. Nomad finds no client for jobs that use the "
        "volume: did not meet topology requirement.",
        fix="use a key that the driver's nodes report",
        source=_CATALOGUE,
    ),
    Rule(
        code="access-mode-unknown",
        severity="error",
        explanation="Nomad registers a volume with any word as access or attachment mode and checks it at the claim: "
        "the first job that uses the volume fails.",
        fix="use one of Nomad's five access modes, and file-system or block-device",
        source="hashicorp/nomad, nomad/structs/csi.go, 2026-08-21; " + _RAN,
    ),
    Rule(
        code="access-mode-unserved",
        severity="error",
        explanation="The driver refuses this pair of access and attachment mode. Registration lets it through; it "
        "fails when the volume is attached or mounted.",
        fix="use a pair that the driver serves",
        source=_CATALOGUE,
    ),
    Rule(
        code="external-id-missing",
        severity="error",
        explanation="The file names no external id, and asks for no capacity either: it can neither be registered nor "
        "created as it is meant.",
        fix="add external_id, the storage provider's id of the volume",
        source=_CLAIM,
    ),
    Rule(
        code="external-id-form",
        severity="error",
        explanation="The storage provider of this driver writes ids in another form. Nomad registers any text; the "
        "driver then cannot find the volume.",
        fix="use the provider's own id of the volume",
        source=_CATALOGUE,
    ),
    Rule(
        code="external-id-long",
        severity="error",
        explanation="CSI allows at most 128 bytes in a volume id. Drivers may refuse or cut a longer one.",
        fix="use a shorter path or name in it",
        source=_CSI,
    ),
    Rule(
        code="external-id-shared",
        severity="error",
        explanation="Two volumes have one external id. To this driver they are one volume, so that Nomad attaches it "
        "twice: claims of one block or take away the other's.",
        fix="register it once, and let several jobs claim that",
        source=_CATALOGUE,
    ),
    Rule(
        code="map-large",
        severity="error",
        explanation="CSI allows at most 4 KiB in a map. gRPC or the driver refuses the call.",
        fix="keep long values elsewhere",
        source=_CSI,
    ),
    Rule(
        code="context-key-unknown",
        severity="error",
        explanation="The driver refuses a volume whose context has keys that it does not know; mounting fails.",
        fix="remove the key",
        source=_CATALOGUE,
    ),
    Rule(
        code="context-key-missing",
        severity="error",
        explanation="Without this context key the driver cannot tell how to reach the volume. Registration lets it "
        "through; mounting fails.",
        fix="add the key",
        source=_CATALOGUE,
    ),
    Rule(
        code="context-value-unknown",
        severity="error",
        explanation="The driver knows some values of this context key only.",
        fix="use one of the values that it knows",
        source=_CATALOGUE,
    ),
    Rule(
        code="parameter-unknown",
        severity="error",
        explanation="The driver refuses to make a volume with a parameter that it does not know.",
        fix="remove the parameter",
        source=_CATALOGUE,
    ),
    Rule(
        code="secret-in-file",
        severity="error",
        explanation="A secret stands in the file in clear: whoever may read the file or its history has it.",
        fix="take it out, exchange it, and hand it over as a Pulumi config secret",
        source="practice: a committed file has many readers",
    ),
    Rule(
        code="mount-options-on-block",
        severity="warning",
        explanation="A block device is handed to the task as it is, so that mount options do nothing, and hide that "
        "nobody makes a file system.",
        fix="remove mount_options, or use file-system",
        source="CSI specification 1.12, VolumeCapability: block and mount are alternatives",
    ),
    Rule(
        code="fs-type-unknown",
        severity="error",
        explanation="The driver does not make or mount this file system; mounting fails.",
        fix="use one that it knows, or leave fs_type out",
        source=_CATALOGUE,
    ),
    Rule(
        code="volume-id-form",
        severity="error",
        explanation="Nomad registers ids that its own API can never serve again: with a slash, or of dots alone, each "
        "further request is answered with 404, 405 or 307.",
        fix="use letters, digits, '.', '_' and '-', with an index such as [0] at the end where there is one",
        source="Nomad 2.0.6-dev, tried 2026-08",
    ),
    Rule(
        code="volume-twice",
        severity="error",
        explanation="Two files register one volume id in one namespace; the later registration changes the first.",
        fix="give each volume an id of its own",
        source=_CLAIM,
    ),
    Rule(
        code="volume-only-created",
        severity="error",
        explanation="This driver does not serve volumes that it did not make through Nomad: registering one that "
        "exists ends in errors at the mount.",
        fix="use nomad volume create, and leave external_id out",
        source=_CATALOGUE,
    ),
    Rule(
        code="volume-plugin-unknown",
        severity="warning",
        explanation="The volume names a plugin that no job file among those given runs. Nomad refuses to register a "
        "volume while it knows no plugin of that id.",
        fix="write the plugin's id as its jobs do, or give the plugin's job files too",
        source="hashicorp/nomad, nomad/csi_endpoint.go (Register), 2026-08-21",
    ),
)
