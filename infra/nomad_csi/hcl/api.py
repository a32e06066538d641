"""
Convert a job in JSON of Nomad's API (``nomad job inspect``, ``nomad job run -output``) to the shape of a job file.

Unset values (null, empty, zero, false) and server-managed fields are omitted, as in a file.

Source: hashicorp/nomad, ``api/jobs.go``, ``api/tasks.go``, ``api/resources.go``, 2026-08-21.
"""

import re
from typing import Any

from nomad_csi.hcl import values

_NAMES = {
    "Affinities": "affinity", "Artifacts": "artifact", "Constraints": "constraint", "CSIPluginConfig": "csi_plugin",
    "DestPath": "destination", "Devices": "device", "EmbeddedTmpl": "data", "Envvars": "env",
    "ErrMissingKey": "error_on_missing_key", "Identities": "identity", "LeftDelim": "left_delimiter",
    "LogConfig": "logs", "LTarget": "attribute", "MaxFileSizeMB": "max_file_size", "MemoryMaxMB": "memory_max",
    "MemoryMB": "memory", "Networks": "network", "Operand": "operator", "ReschedulePolicy": "reschedule",
    "RestartPolicy": "restart", "RightDelim": "right_delimiter", "RTarget": "value", "Services": "service",
    "SELinuxLabel": "selinux_label",
    "SizeMB": "size", "SourcePath": "source", "Spreads": "spread", "TaskGroups": "group", "Tasks": "task",
    "Templates": "template", "VolumeMounts": "volume_mount", "Volumes": "volume",
}  # fmt: skip
"""Names in files of API fields with another name; the others differ only in spelling."""

_AS_IT_STANDS = frozenset({"Config", "Env", "Meta"})
"""Fields with keys that the operator chooses."""

_MEANING_ZERO = frozenset({"Count", "Attempts"})
"""Fields in which zero is a value, not unset."""

_SERVER_MANAGED = frozenset(
    {
        "ConsulToken", "CreateIndex", "CreateTime", "DiskMB", "DispatchIdempotencyToken", "Dispatched", "IOPS",
        "JobModifyIndex", "ModifyIndex", "ModifyTime", "NomadTokenID", "ParentID", "Payload", "Stable", "Status",
        "StatusDescription", "Stop", "SubmitTime", "VaultToken", "Version", "VersionTag",
    }
)  # fmt: skip


def job(content: values.Map) -> values.Map | None:
    """Return the job in API JSON as a block of a job file; ``None`` for JSON or HCL of another kind."""
    document = content.get("Job", content)
    if not isinstance(document, values.Map) or "TaskGroups" not in document:
        return None
    return _block(document)


def _block(document: values.Map) -> values.Map:
    block = values.Map(0)
    for name, value in document.items():
        if name in _SERVER_MANAGED or _is_open(name, value):
            continue
        key = _NAMES.get(name, _file_key(name))
        converted = value if name in _AS_IT_STANDS else _value(name, value)
        if name == "Name":
            block[values.LABELS] = [value]
        else:
            block.put(key, converted, 0)
    return block


def _is_open(name: str, value: Any) -> bool:
    return value in (None, "", [], {}, False, 0) and not (name in _MEANING_ZERO and value is not None)


def _value(name: str, value: Any) -> Any:
    if name == "Volumes" and isinstance(value, values.Map):
        return _index_by_label(value)
    if isinstance(value, values.Map):
        return _block(value)
    if not isinstance(value, list):
        return value
    return [_block(item) if isinstance(item, values.Map) else item for item in value]


def _index_by_label(by_label: values.Map) -> list[values.Map]:
    blocks = []
    for label, value in by_label.items():
        blocks.append(_block(value))
        blocks[-1][values.LABELS] = [label]
    return blocks


def _file_key(name: str) -> str:
    """Return ``NodePool`` as ``node_pool``, ``ID`` as ``id``, ``FSType`` as ``fs_type``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
