"""Describe a driver that is not in the catalogue, from its jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi.drivers import arguments
from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model
from nomad_csi.spec import plugin_jobs
from nomad_csi.text import secrets

TAKEN = frozenset({"command", "kill_timeout", "mount", "mounts"})
"""Names of a job that are described in another form."""

_MOUNTS = ("mount", "mounts")
_DEFAULT_KILL_TIMEOUT_S = 5.0
"""Source: hashicorp/nomad, ``api/tasks.go`` (``Canonicalize``), 2026-08-21."""

_USUAL = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}


def describe(
    plugin_id: str,
    roles: Mapping[str, model.Part],
    volumes: Sequence[values.Map],
    remarks: model.Remarks,
    row: drivers.Driver | None = None,
) -> dict[str, Any]:
    """
    Return the description of the driver of *plugin_id*; *volumes* are the volumes that use it.

    *row* is the catalogue's, where the arguments of this version are unknown.
    """
    part = next(iter(roles.values()))
    named = [
        value
        for each in roles.values()
        for argument in each.task.arguments
        if arguments.flag_name(argument) in arguments.NAME_FLAGS
        and (value := argument.partition("=")[2])
        and "${" not in value
    ]
    if not named and row is None:
        text = f"driver.provider of {plugin_id}: its driver's name; `nomad plugin status {plugin_id}` shows it"
        remarks.add("missing", part.file, part.plugin.body.line, text)
    document = {
        "name": plugin_id,
        "provider": named[0] if named else row and row.provider,
        "image": part.task.image,
        "roles": {name: _role(each, remarks) for name, each in roles.items()},
        "capabilities": [item.model_dump() for item in row.capabilities] if row else _capabilities(volumes),
        "topology_key": row and row.topology_key,
        "topology_keys": list(row.topology_keys) if row else [],
    }
    document["capabilities"] = document["capabilities"] or [dict(_USUAL)]
    if "monolith" not in roles and "node" not in roles:
        text = f"the node plugin of {plugin_id}: a job file of type node, without which nothing is mounted"
        remarks.add("missing", part.file, part.plugin.body.line, text)
    text = f"{plugin_id} runs {_unknown(row, part)}: its jobs are described in the spec, unchecked"
    remarks.add("note", part.file, part.plugin.body.line, text)
    return {name: value for name, value in document.items() if value}


def _unknown(row: drivers.Driver | None, part: model.Part) -> str:
    if row is None:
        return "a driver that the catalogue does not know"
    since = f"{row.arguments_since} to " if row.arguments_since else ""
    return f"{part.task.image}, and the arguments of {row.called} are known for {since}{row.version} only"


def _role(part: model.Part, remarks: model.Remarks) -> dict[str, Any]:
    config, block = part.task.config, part.plugin
    document: dict[str, Any] = {
        "job_type": "system" if part.job.type == "system" else "service",
        "arguments": _arguments(part, remarks),
        "environment": _environment(part, remarks),
        "privileged": config.get("privileged") is True,
        "network_mode": jobs.text(config, "network_mode"),
        "ipc_mode": jobs.text(config, "ipc_mode"),
        "binds": _binds(part, remarks),
        "mount_dir": block.mount_dir if block.mount_dir not in {"", "/csi"} else "",
        "stage_publish_base_dir": block.stage_publish_base_dir if part.task.driver != "raw_exec" else "",
        "kill_timeout_s": _kill_timeout_s(part),
        "default_count": part.group.count if (part.group.count or 1) > 1 else None,
    }
    return {name: value for name, value in document.items() if value}


def _kill_timeout_s(part: model.Part) -> int | None:
    seconds = jobs.duration_s(part.task.body.get("kill_timeout"))
    return round(seconds) if seconds is not None and seconds != _DEFAULT_KILL_TIMEOUT_S else None


def _arguments(part: model.Part, remarks: model.Remarks) -> list[str]:
    """Return the arguments unchanged, word by word: only the driver knows whether a flag takes the next word."""
    command = jobs.text(part.task.config, "command")
    is_container = part.task.driver in plugin_jobs.CONTAINERS
    # The docker and podman drivers run the image's entrypoint with the command and the arguments behind it.
    found = [command] if command and is_container else []
    for index, argument, given in arguments.spans(part.arguments):
        name = arguments.flag_name(argument)
        line = part.task.line_of_argument(index)
        if secrets.argument_has_secret(argument):
            shown = f"--{name}" if name else "an argument"
            remarks.add("left out", part.file, line, f"{shown} holds what looks like a secret: put it into credentials")
        elif name in arguments.ENDPOINT_FLAGS and "${" not in argument:
            head = argument.partition("=")[0]
            remarks.add(
                "changed", part.file, line, f"{argument} becomes {head}=${{CSI_ENDPOINT}}, which Nomad fills in"
            )
            found.append(f"{head}=${{CSI_ENDPOINT}}")
        else:
            found += given
    return found


def _environment(part: model.Part, remarks: model.Remarks) -> dict[str, str]:
    hidden = secrets.keys_of(part.task.env)
    for name in hidden:
        text = f"the environment variable {name} looks like a secret: put it into credentials"
        remarks.add("left out", part.file, part.task.env.at(name), text)
    return {name: jobs.as_text(value) for name, value in part.task.env.items() if name not in hidden}


def _binds(part: model.Part, remarks: model.Remarks) -> list[str]:
    config = part.task.config
    found = values.texts(config, "volumes")
    for name in _MOUNTS:
        for block in values.blocks(config, name):
            if block.get("type", "volume") == "bind" and not set(block) - {"type", "source", "target", "readonly"}:
                end = ":ro" if block.get("readonly") is True else ""
                found.append(f"{block.get('source')}:{block.get('target')}{end}")
            else:
                remarks.add("left out", part.file, block.line, f"a {name} block of another kind than bind")
    return found


def _capabilities(volumes: Sequence[values.Map]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for volume in volumes:
        for block in (volume, *values.blocks(volume, "capability")):
            pair = {name: jobs.text(block, name) for name in _USUAL}
            if all(pair.values()) and pair not in found:
                found.append(pair)
    return found
