"""
Which attributes and blocks a job file may have, and which fields of `api.Job` they become.

Part of the stand-in for Nomad: the blocks that plugin jobs and their consumers use; others are refused by name.
Source: hashicorp/nomad, ``api/jobs.go``, ``api/tasks.go``, ``api/resources.go``, ``api/constraint.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi_sandbox.nomad import hcl_values as values

Shape = Literal["one", "many", "by label", "map", "free"]


@dataclass(frozen=True, kw_only=True)
class Schema:
    """One kind of block."""

    empty: Mapping[str, Any]
    """The fields of the object when nothing is written."""

    attributes: Mapping[str, tuple[str, values.Convert]]
    """Field and conversion of each attribute."""

    blocks: Mapping[str, "Nested"] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Nested:
    """A block inside a block."""

    field: str
    shape: Shape = "one"
    """``map`` holds texts (``env``), ``free`` holds anything (``config``); both have no schema."""

    schema: Schema | None = None
    label: str = ""
    """Field that takes the block's label; empty: it has none."""


def _schema(
    attributes: Mapping[str, tuple[str, values.Convert]],
    blocks: Mapping[str, Nested] | None = None,
    *,
    empty: Mapping[str, Any] | None = None,
    nulls: str = "",
) -> Schema:
    fields = [name for name, _ in attributes.values()] + [nested.field for nested in (blocks or {}).values()]
    start = dict.fromkeys([*fields, *nulls.split()])
    return Schema(empty=start | dict(empty or {}), attributes=attributes, blocks=blocks or {})


T, I, B, D, L = values.text, values.integer, values.boolean, values.duration, values.texts

META = Nested(field="Meta", shape="map")

CONSTRAINT = _schema(
    {"attribute": ("LTarget", T), "value": ("RTarget", T), "operator": ("Operand", T)}
    | {name: (name, T) for name in ("distinct_hosts", "distinct_property", "regexp", "version", "semver")}
    | {"set_contains": ("set_contains", T)}
)
AFFINITY = _schema(
    {"attribute": ("LTarget", T), "value": ("RTarget", T), "operator": ("Operand", T), "weight": ("Weight", I)},
    empty={"LTarget": "", "RTarget": "", "Operand": "="},
)
SPREAD_TARGET = _schema({"percent": ("Percent", I)}, nulls="Value")
SPREAD = _schema(
    {"attribute": ("Attribute", T), "weight": ("Weight", I)},
    {"target": Nested(field="SpreadTarget", shape="many", schema=SPREAD_TARGET, label="Value")},
    empty={"Attribute": ""},
)
UPDATE = _schema({
    "stagger": ("Stagger", D),
    "max_parallel": ("MaxParallel", I),
    "health_check": ("HealthCheck", T),
    "min_healthy_time": ("MinHealthyTime", D),
    "healthy_deadline": ("HealthyDeadline", D),
    "progress_deadline": ("ProgressDeadline", D),
    "canary": ("Canary", I),
    "auto_revert": ("AutoRevert", B),
    "auto_promote": ("AutoPromote", B),
})
RESTART = _schema({
    "attempts": ("Attempts", I),
    "interval": ("Interval", D),
    "delay": ("Delay", D),
    "mode": ("Mode", T),
    "render_templates": ("RenderTemplates", B),
})
RESCHEDULE = _schema({
    "attempts": ("Attempts", I),
    "interval": ("Interval", D),
    "delay": ("Delay", D),
    "delay_function": ("DelayFunction", T),
    "max_delay": ("MaxDelay", D),
    "unlimited": ("Unlimited", B),
})
MIGRATE = _schema({
    "max_parallel": ("MaxParallel", I),
    "health_check": ("HealthCheck", T),
    "min_healthy_time": ("MinHealthyTime", D),
    "healthy_deadline": ("HealthyDeadline", D),
})
EPHEMERAL_DISK = _schema({"sticky": ("Sticky", B), "migrate": ("Migrate", B), "size": ("SizeMB", I)})
MOUNT_OPTIONS = _schema({"fs_type": ("FSType", T), "mount_flags": ("MountFlags", L)}, empty={"FSType": ""})
VOLUME = _schema(
    {
        "type": ("Type", T),
        "source": ("Source", T),
        "read_only": ("ReadOnly", B),
        "sticky": ("Sticky", B),
        "access_mode": ("AccessMode", T),
        "attachment_mode": ("AttachmentMode", T),
        "per_alloc": ("PerAlloc", B),
    },
    {"mount_options": Nested(field="MountOptions", schema=MOUNT_OPTIONS)},
    empty=dict.fromkeys(("Type", "Source", "AccessMode", "AttachmentMode"), "")
    | dict.fromkeys(("ReadOnly", "Sticky", "PerAlloc"), False),
)
VOLUME_MOUNT = _schema({
    "volume": ("Volume", T),
    "destination": ("Destination", T),
    "read_only": ("ReadOnly", B),
    "propagation_mode": ("PropagationMode", T),
    "selinux_label": ("SELinuxLabel", T),
})
CSI_PLUGIN = _schema(
    {
        "id": ("ID", T),
        "type": ("Type", T),
        "mount_dir": ("MountDir", T),
        "stage_publish_base_dir": ("StagePublishBaseDir", T),
        "health_timeout": ("HealthTimeout", D),
    },
    empty=dict.fromkeys(("ID", "Type", "MountDir", "StagePublishBaseDir"), "") | {"HealthTimeout": 0},
)
RESOURCES = _schema(
    {
        "cpu": ("CPU", I),
        "cores": ("Cores", I),
        "memory": ("MemoryMB", I),
        "memory_max": ("MemoryMaxMB", I),
        "secrets": ("SecretsMB", I),
    },
    nulls="Devices DiskMB IOPS NUMA Networks",
)
LOGS = _schema({
    "max_files": ("MaxFiles", I),
    "max_file_size": ("MaxFileSizeMB", I),
    "enabled": ("Enabled", B),
    "disabled": ("Disabled", B),
})
LIFECYCLE = _schema({"hook": ("Hook", T), "sidecar": ("Sidecar", B)}, empty={"Sidecar": False})
TEMPLATE = _schema(
    {
        "source": ("SourcePath", T),
        "destination": ("DestPath", T),
        "data": ("EmbeddedTmpl", T),
        "change_mode": ("ChangeMode", T),
        "change_signal": ("ChangeSignal", T),
        "once": ("Once", B),
        "splay": ("Splay", D),
        "perms": ("Perms", T),
        "uid": ("Uid", I),
        "gid": ("Gid", I),
        "left_delimiter": ("LeftDelim", T),
        "right_delimiter": ("RightDelim", T),
        "env": ("Envvars", B),
        "vault_grace": ("VaultGrace", D),
        "error_on_missing_key": ("ErrMissingKey", B),
    },
    nulls="ChangeScript Wait",
    empty={"ChangeMode": "restart", "Perms": "0644", "Splay": 5_000_000_000, "ErrMissingKey": False},
)

_PLACEMENT = {
    "constraint": Nested(field="Constraints", shape="many", schema=CONSTRAINT),
    "affinity": Nested(field="Affinities", shape="many", schema=AFFINITY),
}
TASK = _schema(
    {
        "driver": ("Driver", T),
        "user": ("User", T),
        "kill_timeout": ("KillTimeout", D),
        "kill_signal": ("KillSignal", T),
        "kind": ("Kind", T),
        "leader": ("Leader", B),
        "shutdown_delay": ("ShutdownDelay", D),
    },
    _PLACEMENT
    | {
        "config": Nested(field="Config", shape="free"),
        "env": Nested(field="Env", shape="map"),
        "meta": META,
        "csi_plugin": Nested(field="CSIPluginConfig", schema=CSI_PLUGIN),
        "resources": Nested(field="Resources", schema=RESOURCES),
        "restart": Nested(field="RestartPolicy", schema=RESTART),
        "logs": Nested(field="LogConfig", schema=LOGS),
        "lifecycle": Nested(field="Lifecycle", schema=LIFECYCLE),
        "template": Nested(field="Templates", shape="many", schema=TEMPLATE),
        "volume_mount": Nested(field="VolumeMounts", shape="many", schema=VOLUME_MOUNT),
    },
    nulls="Actions Artifacts Consul DispatchPayload Identities Identity ScalingPolicies Schedule Secrets Services Vault",
    empty={"Driver": "", "User": "", "KillSignal": "", "Kind": "", "Leader": False, "ShutdownDelay": 0},
)
GROUP = _schema(
    {
        "count": ("Count", I),
        "shutdown_delay": ("ShutdownDelay", D),
        "max_run_duration": ("MaxRunDuration", D),
        "stop_after_client_disconnect": ("StopAfterClientDisconnect", D),
        "max_client_disconnect": ("MaxClientDisconnect", D),
        "prevent_reschedule_on_lost": ("PreventRescheduleOnLost", B),
    },
    _PLACEMENT
    | {
        "spread": Nested(field="Spreads", shape="many", schema=SPREAD),
        "restart": Nested(field="RestartPolicy", schema=RESTART),
        "reschedule": Nested(field="ReschedulePolicy", schema=RESCHEDULE),
        "update": Nested(field="Update", schema=UPDATE),
        "migrate": Nested(field="Migrate", schema=MIGRATE),
        "ephemeral_disk": Nested(field="EphemeralDisk", schema=EPHEMERAL_DISK),
        "meta": META,
        "volume": Nested(field="Volumes", shape="by label", schema=VOLUME, label="Name"),
        "task": Nested(field="Tasks", shape="many", schema=TASK, label="Name"),
    },
    nulls="Consul Disconnect Networks Scaling Services",
)
JOB = _schema(
    {
        "name": ("Name", T),
        "id": ("ID", T),
        "namespace": ("Namespace", T),
        "region": ("Region", T),
        "type": ("Type", T),
        "priority": ("Priority", I),
        "datacenters": ("Datacenters", L),
        "node_pool": ("NodePool", T),
        "all_at_once": ("AllAtOnce", B),
    },
    _PLACEMENT
    | {
        "spread": Nested(field="Spreads", shape="many", schema=SPREAD),
        "update": Nested(field="Update", schema=UPDATE),
        "migrate": Nested(field="Migrate", schema=MIGRATE),
        "reschedule": Nested(field="Reschedule", schema=RESCHEDULE),
        "meta": META,
        "group": Nested(field="TaskGroups", shape="many", schema=GROUP, label="Name"),
    },
    nulls="ConsulNamespace CreateIndex DispatchIdempotencyToken JobModifyIndex ModifyIndex Multiregion NomadTokenID"
    " ParameterizedJob ParentID Payload Periodic Stable Status StatusDescription Stop SubmitTime UI VaultNamespace"
    " Version VersionTag",
    empty={"Dispatched": False},
)
