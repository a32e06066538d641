"""
Which attributes and blocks a job file may have, and which fields of `api.Job` they become.

Part of the Nomad emulator: the blocks that plugin jobs and their consumers use; others are refused by name.
Source: hashicorp/nomad, ``api/jobs.go``, ``api/tasks.go``, ``api/resources.go``, ``api/constraint.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi_sandbox.nomad.hcl import hcl_values as values

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


TEXT, INTEGER, BOOLEAN, DURATION, TEXTS = values.text, values.integer, values.boolean, values.duration, values.texts

META = Nested(field="Meta", shape="map")

CONSTRAINT = _schema(
    {"attribute": ("LTarget", TEXT), "value": ("RTarget", TEXT), "operator": ("Operand", TEXT)}
    | {name: (name, TEXT) for name in ("distinct_hosts", "distinct_property", "regexp", "version", "semver")}
    | {"set_contains": ("set_contains", TEXT)}
)
AFFINITY = _schema(
    {
        "attribute": ("LTarget", TEXT),
        "value": ("RTarget", TEXT),
        "operator": ("Operand", TEXT),
        "weight": ("Weight", INTEGER),
    },
    empty={"LTarget": "", "RTarget": "", "Operand": "="},
)
SPREAD_TARGET = _schema({"percent": ("Percent", INTEGER)}, nulls="Value")
SPREAD = _schema(
    {"attribute": ("Attribute", TEXT), "weight": ("Weight", INTEGER)},
    {"target": Nested(field="SpreadTarget", shape="many", schema=SPREAD_TARGET, label="Value")},
    empty={"Attribute": ""},
)
UPDATE = _schema(
    {
        "stagger": ("Stagger", DURATION),
        "max_parallel": ("MaxParallel", INTEGER),
        "health_check": ("HealthCheck", TEXT),
        "min_healthy_time": ("MinHealthyTime", DURATION),
        "healthy_deadline": ("HealthyDeadline", DURATION),
        "progress_deadline": ("ProgressDeadline", DURATION),
        "canary": ("Canary", INTEGER),
        "auto_revert": ("AutoRevert", BOOLEAN),
        "auto_promote": ("AutoPromote", BOOLEAN),
    }
)
RESTART = _schema(
    {
        "attempts": ("Attempts", INTEGER),
        "interval": ("Interval", DURATION),
        "delay": ("Delay", DURATION),
        "mode": ("Mode", TEXT),
        "render_templates": ("RenderTemplates", BOOLEAN),
    }
)
RESCHEDULE = _schema(
    {
        "attempts": ("Attempts", INTEGER),
        "interval": ("Interval", DURATION),
        "delay": ("Delay", DURATION),
        "delay_function": ("DelayFunction", TEXT),
        "max_delay": ("MaxDelay", DURATION),
        "unlimited": ("Unlimited", BOOLEAN),
    }
)
MIGRATE = _schema(
    {
        "max_parallel": ("MaxParallel", INTEGER),
        "health_check": ("HealthCheck", TEXT),
        "min_healthy_time": ("MinHealthyTime", DURATION),
        "healthy_deadline": ("HealthyDeadline", DURATION),
    }
)
EPHEMERAL_DISK = _schema({"sticky": ("Sticky", BOOLEAN), "migrate": ("Migrate", BOOLEAN), "size": ("SizeMB", INTEGER)})
MOUNT_OPTIONS = _schema({"fs_type": ("FSType", TEXT), "mount_flags": ("MountFlags", TEXTS)}, empty={"FSType": ""})
VOLUME = _schema(
    {
        "type": ("Type", TEXT),
        "source": ("Source", TEXT),
        "read_only": ("ReadOnly", BOOLEAN),
        "sticky": ("Sticky", BOOLEAN),
        "access_mode": ("AccessMode", TEXT),
        "attachment_mode": ("AttachmentMode", TEXT),
        "per_alloc": ("PerAlloc", BOOLEAN),
    },
    {"mount_options": Nested(field="MountOptions", schema=MOUNT_OPTIONS)},
    empty=dict.fromkeys(("Type", "Source", "AccessMode", "AttachmentMode"), "")
    | dict.fromkeys(("ReadOnly", "Sticky", "PerAlloc"), False),
)
VOLUME_MOUNT = _schema(
    {
        "volume": ("Volume", TEXT),
        "destination": ("Destination", TEXT),
        "read_only": ("ReadOnly", BOOLEAN),
        "propagation_mode": ("PropagationMode", TEXT),
        "selinux_label": ("SELinuxLabel", TEXT),
    }
)
CSI_PLUGIN = _schema(
    {
        "id": ("ID", TEXT),
        "type": ("Type", TEXT),
        "mount_dir": ("MountDir", TEXT),
        "stage_publish_base_dir": ("StagePublishBaseDir", TEXT),
        "health_timeout": ("HealthTimeout", DURATION),
    },
    empty=dict.fromkeys(("ID", "Type", "MountDir", "StagePublishBaseDir"), "") | {"HealthTimeout": 0},
)
RESOURCES = _schema(
    {
        "cpu": ("CPU", INTEGER),
        "cores": ("Cores", INTEGER),
        "memory": ("MemoryMB", INTEGER),
        "memory_max": ("MemoryMaxMB", INTEGER),
        "secrets": ("SecretsMB", INTEGER),
    },
    nulls="Devices DiskMB IOPS NUMA Networks",
)
LOGS = _schema(
    {
        "max_files": ("MaxFiles", INTEGER),
        "max_file_size": ("MaxFileSizeMB", INTEGER),
        "enabled": ("Enabled", BOOLEAN),
        "disabled": ("Disabled", BOOLEAN),
    }
)
LIFECYCLE = _schema({"hook": ("Hook", TEXT), "sidecar": ("Sidecar", BOOLEAN)}, empty={"Sidecar": False})
TEMPLATE = _schema(
    {
        "source": ("SourcePath", TEXT),
        "destination": ("DestPath", TEXT),
        "data": ("EmbeddedTmpl", TEXT),
        "change_mode": ("ChangeMode", TEXT),
        "change_signal": ("ChangeSignal", TEXT),
        "once": ("Once", BOOLEAN),
        "splay": ("Splay", DURATION),
        "perms": ("Perms", TEXT),
        "uid": ("Uid", INTEGER),
        "gid": ("Gid", INTEGER),
        "left_delimiter": ("LeftDelim", TEXT),
        "right_delimiter": ("RightDelim", TEXT),
        "env": ("Envvars", BOOLEAN),
        "vault_grace": ("VaultGrace", DURATION),
        "error_on_missing_key": ("ErrMissingKey", BOOLEAN),
    },
    nulls="ChangeScript Wait",
    empty={"ChangeMode": "restart", "Perms": "0644", "Splay": 5_000_000_000, "ErrMissingKey": False},
)
PERIODIC = _schema(
    {
        "enabled": ("Enabled", BOOLEAN),
        "cron": ("Spec", TEXT),
        "crons": ("Specs", TEXTS),
        "prohibit_overlap": ("ProhibitOverlap", BOOLEAN),
        "time_zone": ("TimeZone", TEXT),
    },
    nulls="SpecType",
)
IDENTITY = _schema(
    {
        "name": ("Name", TEXT),
        "aud": ("Audience", TEXTS),
        "change_mode": ("ChangeMode", TEXT),
        "change_signal": ("ChangeSignal", TEXT),
        "env": ("Env", BOOLEAN),
        "file": ("File", BOOLEAN),
        "filepath": ("Filepath", TEXT),
        "service_name": ("ServiceName", TEXT),
        "ttl": ("TTL", DURATION),
        "extra_claims": ("ExtraClaims", TEXTS),
    },
    empty=dict.fromkeys(("Name", "ChangeMode", "ChangeSignal", "Filepath", "ServiceName"), "")
    | {"Env": False, "File": False, "TTL": 0},
)

_PLACEMENT = {
    "constraint": Nested(field="Constraints", shape="many", schema=CONSTRAINT),
    "affinity": Nested(field="Affinities", shape="many", schema=AFFINITY),
}
TASK = _schema(
    {
        "driver": ("Driver", TEXT),
        "user": ("User", TEXT),
        "kill_timeout": ("KillTimeout", DURATION),
        "kill_signal": ("KillSignal", TEXT),
        "kind": ("Kind", TEXT),
        "leader": ("Leader", BOOLEAN),
        "shutdown_delay": ("ShutdownDelay", DURATION),
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
        "identity": Nested(field="Identities", shape="many", schema=IDENTITY),
        "volume_mount": Nested(field="VolumeMounts", shape="many", schema=VOLUME_MOUNT),
    },
    nulls="Actions Artifacts Consul DispatchPayload Identity ScalingPolicies Schedule Secrets Services Vault",
    empty={"Driver": "", "User": "", "KillSignal": "", "Kind": "", "Leader": False, "ShutdownDelay": 0},
)
GROUP = _schema(
    {
        "count": ("Count", INTEGER),
        "shutdown_delay": ("ShutdownDelay", DURATION),
        "max_run_duration": ("MaxRunDuration", DURATION),
        "stop_after_client_disconnect": ("StopAfterClientDisconnect", DURATION),
        "max_client_disconnect": ("MaxClientDisconnect", DURATION),
        "prevent_reschedule_on_lost": ("PreventRescheduleOnLost", BOOLEAN),
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
        "name": ("Name", TEXT),
        "id": ("ID", TEXT),
        "namespace": ("Namespace", TEXT),
        "region": ("Region", TEXT),
        "type": ("Type", TEXT),
        "priority": ("Priority", INTEGER),
        "datacenters": ("Datacenters", TEXTS),
        "node_pool": ("NodePool", TEXT),
        "all_at_once": ("AllAtOnce", BOOLEAN),
    },
    _PLACEMENT
    | {
        "spread": Nested(field="Spreads", shape="many", schema=SPREAD),
        "update": Nested(field="Update", schema=UPDATE),
        "migrate": Nested(field="Migrate", schema=MIGRATE),
        "reschedule": Nested(field="Reschedule", schema=RESCHEDULE),
        "periodic": Nested(field="Periodic", schema=PERIODIC),
        "meta": META,
        "group": Nested(field="TaskGroups", shape="many", schema=GROUP, label="Name"),
    },
    nulls="ConsulNamespace CreateIndex DispatchIdempotencyToken JobModifyIndex ModifyIndex Multiregion NomadTokenID"
    " ParameterizedJob ParentID Payload Stable Status StatusDescription Stop SubmitTime UI VaultNamespace"
    " Version VersionTag",
    empty={"Dispatched": False},
)
