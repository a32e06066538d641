"""Registrations that are sent: new ones, changed ones, and ones that are taken over."""

import json
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import resource, volume_document, volume_properties
from nomad_csi.nomad import volumes

REDACTED = "[redacted]"
"""Stands for mount flags in comparisons and messages: Nomad shows that there are some, not which."""


def _comparable(inputs: Mapping[str, Any], *, has_flags: bool) -> dict[str, Any]:
    """Return what of *inputs* Nomad shows on a read."""
    shown = {name: value for name, value in inputs.items() if name not in ("adopt", "secrets", "mountOptions")}
    mount = {name: value for name, value in inputs.get("mountOptions", {}).items() if name != "mountFlags"}
    if has_flags:
        mount["mountFlags"] = REDACTED
    return shown | ({"mountOptions": mount} if mount else {})


def _differing(found: volumes.Volume, news: Mapping[str, Any]) -> dict[str, str]:
    """Return a sentence for each property in which *found* is not what *news* wants."""
    live = _comparable(volume_document.to_inputs(volume_document.of_volume(found)), has_flags=found.has_mount_flags)
    wanted = _comparable(news, has_flags=bool(news.get("mountOptions", {}).get("mountFlags")))
    return {
        name: f"{name}: Nomad has {_shown(live.get(name))}, wanted {_shown(wanted.get(name))}"
        for name in volume_properties.INPUTS
        if live.get(name) != wanted.get(name)
    }


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)


def take_over(context: resource.Context, client: nomad.Nomad, found: volumes.Volume, news: Mapping[str, Any]) -> None:
    """Leave an equal registration as it is, change one that may be adopted, refuse any other."""
    differing = _differing(found, news)
    has_hidden_parts = "secrets" in news or found.has_mount_flags
    if differing:
        _refuse_foreign(found, news, differing)
    if differing or has_hidden_parts:
        register(context, client, news, is_new=False)


def _refuse_foreign(found: volumes.Volume, news: Mapping[str, Any], differing: Mapping[str, str]) -> None:
    name = f"{news['namespace']}/{news['volumeId']}"
    told = "; ".join(differing.values())
    if not news.get("adopt"):
        raise errors.RefusedError(
            f"volume {name} is registered already, and not by this stack as it is now: {told}; "
            "set adopt: true to take it over, import it, or choose another id"
        )
    fixed = [item for item in differing if volume_properties.INPUTS[item].replaces]
    if found.context and "context" not in news:
        fixed.append("context")
    if fixed:
        raise errors.RefusedError(
            f"volume {name} cannot be adopted, because Nomad never changes {', '.join(fixed)}: {told}; "
            f"deregister it first, when nothing uses it: nomad volume deregister -namespace {found.namespace} "
            f"{found.volume_id}"
        )


def register(context: resource.Context, client: nomad.Nomad, news: Mapping[str, Any], *, is_new: bool) -> None:
    """Send the registration once; after an ambiguous answer go on only where a read shows that it arrived."""
    try:
        warnings = volumes.register(client, [volume_document.from_inputs(news)])
    except errors.NomadApiError as error:
        if error.kind != "ambiguous" or not _has_arrived(client, news, is_new=is_new):
            raise
        return
    for warning in warnings:
        context.warn(f"Nomad warns: {warning}")


def _has_arrived(client: nomad.Nomad, news: Mapping[str, Any], *, is_new: bool) -> bool:
    """Return whether a registration that was not answered is in force; false where that cannot be seen."""
    try:
        found = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        return False
    can_tell = is_new or not ("secrets" in news or (found is not None and found.has_mount_flags))
    return found is not None and can_tell and not _differing(found, news)
