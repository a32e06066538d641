"""Describe a driver that is not in the catalogue, from its jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi.drivers import arguments, recognise
from nomad_csi.drivers import model as drivers
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model
from nomad_csi.text import secrets

_USUAL = {"access_mode": "single-node-writer", "attachment_mode": "file-system"}


def describe(
    roles: Mapping[str, model.Part],
    forms: Mapping[str, values.Map],
    volumes: Sequence[values.Map],
    remarks: model.Remarks,
    row: drivers.Driver | None = None,
) -> dict[str, Any]:
    """
    Return the description of the driver that *roles* run; *volumes* are the volumes that use it.

    *row* is the catalogue's, where the arguments of this version are unknown.
    """
    part = next(iter(roles.values()))
    plugin_id = part.plugin.id
    named = [
        value
        for each in roles.values()
        for _, argument in arguments.joined(each.arguments)
        if arguments.flag_name(argument) in arguments.NAME_FLAGS
        and (value := argument.partition("=")[2])
        and "${" not in value
    ]
    document = {
        "name": plugin_id,
        "provider": named[0] if named else row and row.provider,
        "image": part.task.image,
        "roles": {name: _role(each, forms[name]) for name, each in roles.items()},
        "capabilities": [item.model_dump() for item in row.capabilities] if row else _capabilities(volumes),
        "topology_key": row and row.topology_key,
        "topology_keys": list(row.topology_keys) if row else [],
    }
    document["capabilities"] = document["capabilities"] or [dict(_USUAL)]
    unusable = recognise.recognise_unusable(part.task.image)
    if unusable is not None:
        text = f"{unusable.title} cannot run on Nomad: {unusable.reason}; {unusable.instead}"
        remarks.add("wrong", part.file, part.task.config.at("image"), text, code="driver-unusable")
    text = f"{plugin_id} runs {_unknown(row, part)}: its jobs are described in the spec, unchecked"
    remarks.add("note", part.file, part.plugin.body.line, text)
    return {name: value for name, value in document.items() if value}


def _unknown(row: drivers.Driver | None, part: model.Part) -> str:
    if row is None:
        return "a driver that the catalogue does not know"
    since = f"{row.arguments_since} to " if row.arguments_since else ""
    return f"{part.task.image}, and the arguments of {row.called} are known for {since}{row.version} only"


def _role(part: model.Part, given: values.Map) -> dict[str, Any]:
    """Return the role as its job runs it; secrets are left out, and the socket is where Nomad says."""
    config, block = given["config"], given["csi_plugin"]
    document: dict[str, Any] = {
        "job_type": "system" if part.job.type == "system" else "service",
        "arguments": _arguments(config.get("args", ())),
        "environment": {name: value for name, value in given["env"].items() if not secrets.is_secret(name, value)},
        "privileged": config.get("privileged"),
        "network_mode": jobs.text(config, "network_mode"),
        "ipc_mode": jobs.text(config, "ipc_mode"),
        "binds": config.get("volumes"),
        "mount_dir": block["mount_dir"] if block["mount_dir"] != "/csi" else "",
        "stage_publish_base_dir": block.get("stage_publish_base_dir") if part.task.driver != "raw_exec" else "",
        "kill_timeout_s": round(given["kill_timeout"]) if given.lines.get("kill_timeout") else None,
        "default_count": count if (count := given.get("count", 1)) > 1 else None,
    }
    return {name: value for name, value in document.items() if value}


def _arguments(given: Sequence[str]) -> list[str]:
    """Return the arguments word by word: only the driver knows whether a flag takes the next word."""
    found: list[str] = []
    for _, argument, words in arguments.spans(given):
        if secrets.argument_has_secret(argument):
            continue
        if arguments.flag_name(argument) in arguments.ENDPOINT_FLAGS and "${" not in argument:
            found.append(f"{argument.partition('=')[0]}=${{CSI_ENDPOINT}}")
        else:
            found += words
    return found


def _capabilities(volumes: Sequence[values.Map]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for volume in volumes:
        for block in (volume, *values.blocks(volume, "capability")):
            pair = {name: jobs.text(block, name) for name in _USUAL}
            if all(pair.values()) and pair not in found:
                found.append(pair)
    return found
