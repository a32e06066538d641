"""The rules of jobs that run a CSI plugin."""

from nomad_csi.lint.model import Rule

_CATALOGUE = "the driver's row: nomad-csi drivers show DRIVER"
_CSI_PLUGIN = "https://developer.hashicorp.com/nomad/docs/job-specification/csi_plugin, 2026-08"
_RAN = "Nomad 2.0.6-dev, tried 2026-08"
_RESTART = "hashicorp/nomad, nomad/structs/structs.go (NewRestartPolicy), 2026-08-21"
_GO_FLAG = (
    "Go's flag package: parsing stops before the first argument that is no flag; hashicorp/nomad pull request 10821"
)

RULES = (
    Rule(
        code="plugin-type-unknown",
        severity="error",
        explanation="A CSI plugin is a controller, a node plugin or a monolith. Nomad refuses any other word, and a "
        "driver that has no such part never gets healthy as one.",
        fix="use a type that the driver has",
        source=_CSI_PLUGIN,
    ),
    Rule(
        code="plugin-id-form",
        severity="error",
        explanation="The plugin id becomes a folder on every client and part of the path of each mount. One that is "
        "empty, long or has a slash leads to paths that cannot be made.",
        fix="use at most 63 letters, digits, '.', '_' and '-'",
        source="hashicorp/nomad, client/pluginmanager/csimanager, 2026-08-21",
    ),
    Rule(
        code="plugin-id-mismatch",
        severity="error",
        explanation="Controller and node plugin of one driver have different plugin ids. To Nomad they are two "
        "plugins: volumes of the one have no controller, or no node that can mount them.",
        fix="give both the same csi_plugin id",
        source=_CSI_PLUGIN,
    ),
    Rule(
        code="plugin-twice",
        severity="error",
        explanation="Two jobs run the same part of the same plugin. On a client that gets both, one takes the other's "
        "place, and mounts go to whichever registered last.",
        fix="run each part of a plugin by one job",
        source=_CSI_PLUGIN + ": only one plugin of a given type and id on a client",
    ),
    Rule(
        code="image-unpinned",
        severity="warning",
        explanation="The image has no tag, or the tag latest. Clients run whatever they pulled on the day they pulled "
        "it, and a restart may bring another driver.",
        fix="name a version",
        source="https://docs.docker.com/build/building/best-practices (pin versions), 2026-08",
    ),
    Rule(
        code="image-elsewhere",
        severity="warning",
        explanation="The driver's project publishes its images in another registry now. The old place gets no new "
        "versions.",
        fix="take the image from where it is published",
        source=_CATALOGUE,
    ),
    Rule(
        code="image-other-version",
        severity="warning",
        explanation="The image is not the version that the catalogue describes. Flags, permissions and modes are "
        "judged by the catalogue's version.",
        fix="read the driver's changes between the two",
        source=_CATALOGUE,
    ),
    Rule(
        code="privilege-missing",
        severity="error",
        explanation="What mounts for the whole client must be privileged; without that the first mount fails, while "
        "the plugin looks healthy.",
        fix="set privileged = true in the task's config",
        source=_CSI_PLUGIN,
    ),
    Rule(
        code="privilege-needless",
        severity="warning",
        explanation="This part of the driver mounts nothing. Privileged, a hole in it is a hole in the client.",
        fix="remove privileged",
        source=_CATALOGUE,
    ),
    Rule(
        code="host-network-missing",
        severity="error",
        explanation="Mounts of this driver go through the network of its container. When the container is replaced, "
        "they hang on the whole client until it is restarted.",
        fix='set network_mode = "host" in the task\'s config',
        source=_CATALOGUE + "; for EFS: aws-efs-csi-driver issues 1127 and 1270",
    ),
    Rule(
        code="folder-missing",
        severity="warning",
        explanation="The driver keeps state of its mounts in this folder, or needs what is in it. Without it a new "
        "container cannot look after the mounts of the old one.",
        fix="mount it with volumes",
        source=_CATALOGUE,
    ),
    Rule(
        code="endpoint-elsewhere",
        severity="error",
        explanation="The plugin makes its socket where Nomad does not look for it. It never gets healthy, and is "
        "restarted forever.",
        fix="write ${CSI_ENDPOINT}, which Nomad fills in",
        source="hashicorp/nomad, client/allocrunner/taskrunner/plugin_supervisor_hook.go, 2026-08-21",
    ),
    Rule(
        code="endpoint-written-out",
        severity="warning",
        explanation="The path of the socket stands in two places, here and in mount_dir. They must be changed "
        "together.",
        fix="write ${CSI_ENDPOINT}, which Nomad fills in",
        source="hashicorp/nomad, client/allocrunner/taskrunner/plugin_supervisor_hook.go, 2026-08-21",
    ),
    Rule(
        code="mode-word-unknown",
        severity="error",
        explanation="The driver does not know the word that says what it is to be. The EBS driver logs a line and "
        "exits with 0: the task looks complete, not failed.",
        fix="use a mode word of the driver, the one of the csi_plugin type",
        source="kubernetes-sigs/aws-ebs-csi-driver v1.64.0, cmd/main.go",
    ),
    Rule(
        code="mode-word-differs",
        severity="error",
        explanation="The first argument makes the driver one thing, the csi_plugin block says another. Nomad asks for "
        "services that the process does not have.",
        fix="let both say the same",
        source=_CATALOGUE,
    ),
    Rule(
        code="positional-word",
        severity="error",
        explanation="The driver takes no word without dashes. Those built on Go's flag package (EFS, hostpath, NFS) "
        "ignore every flag behind it, the endpoint too, and make their socket in /tmp.",
        fix="remove the word",
        source=_GO_FLAG,
    ),
    Rule(
        code="flag-of-other-part",
        severity="error",
        explanation="The flag exists in another part of the driver only. This one prints its usage and exits with 2.",
        fix="move it to the job of the other part",
        source=_CATALOGUE,
    ),
    Rule(
        code="flag-unknown",
        severity="error",
        explanation="The driver does not know this flag: it prints its usage and exits.",
        fix="remove it, or use one that nomad-csi drivers show lists",
        source=_CATALOGUE,
    ),
    Rule(
        code="flag-for-logs",
        severity="error",
        explanation="The driver does not log with klog and knows none of klog's flags: it prints its usage and exits.",
        fix="remove it, or use the driver's own way to set the log level",
        source=_CATALOGUE,
    ),
    Rule(
        code="flag-without-effect",
        severity="warning",
        explanation="The driver still accepts the flag and does nothing with it. Its manual says that it will be "
        "removed; then the driver exits.",
        fix="remove it",
        source="kubernetes-sigs/aws-ebs-csi-driver v1.64.0, cmd/main.go",
    ),
    Rule(
        code="flag-unfit",
        severity="error",
        explanation="The driver accepts the flag, and it does harm or nothing on Nomad.",
        fix="remove it",
        source=_CATALOGUE,
    ),
    Rule(
        code="flags-exclusive",
        severity="error",
        explanation="The driver takes only one of these flags. With both, the EBS driver logs a line and exits with "
        "0: the task looks complete, not failed.",
        fix="keep one of them",
        source=_CATALOGUE,
    ),
    Rule(
        code="secret-in-argument",
        severity="error",
        explanation="A secret stands among the arguments: in the job, in Nomad's state and API, and in the process "
        "list of the client.",
        fix="take it out, exchange it, and give it to the task by a template from a Nomad variable or Vault",
        source="https://developer.hashicorp.com/nomad/docs/concepts/variables, 2026-08",
    ),
    Rule(
        code="secret-in-environment",
        severity="error",
        explanation="A secret stands in the job's env block: whoever may read the job has it.",
        fix="take it out, exchange it, and give it to the task by a template from a Nomad variable or Vault",
        source="https://developer.hashicorp.com/nomad/docs/concepts/variables, 2026-08",
    ),
    Rule(
        code="config-key-unknown",
        severity="error",
        explanation="The task driver does not know this key of its config block. Nomad's validation, plan and "
        "registration let it through; the task fails on the client.",
        fix="remove it, or write it as the task driver does",
        source="hashicorp/nomad, drivers/docker/config.go, drivers/rawexec/driver.go, drivers/exec/driver.go, "
        "2026-08-21; hashicorp/nomad-driver-podman, config.go, 2026-07-14",
    ),
    Rule(
        code="runtime-variable-unknown",
        severity="error",
        explanation="A text of the config block asks for something that the client does not fill in. Nomad's "
        "validation, plan and registration let it through; the task fails on the client.",
        fix="use a runtime variable of Nomad, or write the value itself",
        source="hashicorp/nomad, client/taskenv/env.go, 2026-08-21; " + _RAN,
    ),
    Rule(
        code="restart-gives-up",
        severity="warning",
        explanation="The restart policy gives up: after a few failures in a row the plugin stays down, on that client "
        "or for good, and nothing that needs its volumes starts.",
        fix='use mode = "delay" in the restart block',
        source=_RESTART,
    ),
    Rule(
        code="health-timeout-short",
        severity="warning",
        explanation="Nomad restarts a plugin that is not healthy within health_timeout, 30 s if the job does not say. "
        "This driver may need longer, and would be restarted forever.",
        fix="set health_timeout in the csi_plugin block",
        source=_CATALOGUE,
    ),
    Rule(
        code="controllers-too-many",
        severity="error",
        explanation="More instances of the controller than are safe for this driver.",
        fix="lower count",
        source=_CATALOGUE,
    ),
    Rule(
        code="distinct-hosts-missing",
        severity="warning",
        explanation="Several instances may run on one client; when it goes, all of them go. Nomad also registers only "
        "one instance of a plugin on a client.",
        fix='add a constraint with operator = "distinct_hosts"',
        source=_CSI_PLUGIN,
    ),
    Rule(
        code="constraint-without-effect",
        severity="warning",
        explanation="A system job runs once on each client already; distinct_hosts means nothing there.",
        fix="remove the constraint",
        source="hashicorp/nomad, scheduler/feasible.go, 2026-08-21",
    ),
    Rule(
        code="node-not-everywhere",
        severity="warning",
        explanation="A node plugin as a service job runs on as many clients as count says. Jobs that need a volume "
        "are placed on those only, and wait when they are full.",
        fix='use type = "system"',
        source=_CSI_PLUGIN,
    ),
    Rule(
        code="stage-folder-missing",
        severity="error",
        explanation="A process without a file system of its own sees the client's paths. Where Nomad tells it to "
        "mount is no path of the client, so that mounts land beside the place where Nomad looks.",
        fix="set stage_publish_base_dir to DATA_DIR/client/csi/ROLE/PLUGIN_ID of the client",
        source="tried on Nomad 2.0.6-dev with csi-driver-host-path v1.18.0 under raw_exec, 2026-08",
    ),
    Rule(
        code="nomad-too-old",
        severity="warning",
        explanation="The job lets clients in whose Nomad is older than this driver needs. EBS since v1.28.0 reports "
        "more topology keys than Nomad before 1.9.4 takes: volumes then fit no client.",
        fix="raise the version in the constraint",
        source=_CATALOGUE + "; hashicorp/nomad issue 20094, pull request 24522",
    ),
)
