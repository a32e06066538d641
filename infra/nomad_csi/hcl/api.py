"""
Convert JSON of Nomad's API to the shape of files: a job of ``nomad job inspect``, a volume of ``/v1/volume/csi/ID``.

Unset values (null, empty, zero, false) and server-managed fields are omitted, as in a file.

Source: hashicorp/nomad, ``api/jobs.go``, ``api/tasks.go``, ``api/resources.go``, ``api/csi.go``, 2026-08-21.
"""

import re
from typing import Any

from nomad_csi.hcl import values
from nomad_csi.plan import volume_forms

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

_VOLUME_NAMES = volume_forms.names("api", "file", "text", "map", "bytes")


def job(content: values.Map) -> values.Map | None:
    """Return the job in API JSON as a block of a job file; ``None`` for JSON or HCL of another kind."""
    found = content.get("Job", content)
    if not isinstance(found, values.Map) or "TaskGroups" not in found:
        return None
    return _block(found)


def volumes(content: values.Map) -> list[values.Map]:
    """Return the volumes in API JSON as the content of volume files; none for other content."""
    found = content.get("Volumes", content.get("Volume", content))
    items = found if isinstance(found, list) else [found]
    return [_volume(item) for item in items if isinstance(item, values.Map) and "PluginID" in item]


def _block(found: values.Map) -> values.Map:
    block = values.Map(found.line)
    for name, value in found.items():
        if name in _SERVER_MANAGED or _is_open(name, value):
            continue
        key = _NAMES.get(name, _file_key(name))
        converted = value if name in _AS_IT_STANDS else _value(name, value)
        if name == "Name":
            block[values.LABELS] = [value]
        else:
            block.put(key, converted, found.at(name))
    return block


def _is_open(name: str, value: Any) -> bool:
    return value in (None, "", [], {}, False, 0) and not (name in _MEANING_ZERO and value is not None)


def _value(name: str, value: Any) -> Any:
    if name == "Volumes" and isinstance(value, values.Map):
        return _index_by_label(value)
    if isinstance(value, values.Map):
        return _block(value)
    if not isinstance(value, values.Items):
        return value
    items = values.Items(value.line)
    for index, item in enumerate(value):
        items.put(_block(item) if isinstance(item, values.Map) else item, values.line_of(value, index))
    return items


def _index_by_label(found: values.Map) -> values.Items:
    items = values.Items(found.line)
    for label, value in found.items():
        block = _block(value)
        block[values.LABELS] = [label]
        items.put(block, found.at(label))
    return items


def _file_key(name: str) -> str:
    """Return ``NodePool`` as ``node_pool``, ``ID`` as ``id``, ``FSType`` as ``fs_type``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _volume(found: values.Map) -> values.Map:
    content = values.Map(found.line, [("type", "csi", found.line)])
    for name, key in _VOLUME_NAMES.items():
        if found.get(name):
            content.put(key, found[name], found.at(name))
    capabilities = found.get("RequestedCapabilities")
    if isinstance(capabilities, values.Items):
        content.put("capability", _value("RequestedCapabilities", capabilities), found.at("RequestedCapabilities"))
    if isinstance(found.get("MountOptions"), values.Map):
        content.put("mount_options", _block(found["MountOptions"]), found.at("MountOptions"))
    topologies = found.get("RequestedTopologies") or found.get("Topologies")
    line = found.at("RequestedTopologies" if found.get("RequestedTopologies") else "Topologies")
    if isinstance(topologies, values.Items):
        content.put("topology_request", _topology_request(topologies, "required"), line)
    elif isinstance(topologies, values.Map):
        request = values.Map(topologies.line)
        for name, items in topologies.items():
            if isinstance(items, values.Items):
                request.put(name.lower(), _topology_request(items, name.lower())[name.lower()], topologies.at(name))
        content.put("topology_request", request, line)
    return content


def _topology_request(topologies: values.Items, name: str) -> values.Map:
    found = values.Items(topologies.line)
    for index, item in enumerate(topologies):
        segments = item.get("Segments") if isinstance(item, values.Map) else None
        line = values.line_of(topologies, index)
        if isinstance(segments, values.Map):
            found.put(values.Map(line, [("segments", segments, line)]), line)
    inner = values.Map(topologies.line, [("topology", found, topologies.line)])
    return values.Map(topologies.line, [(name, inner, topologies.line)])
