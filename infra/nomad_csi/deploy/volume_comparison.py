"""Volumes as Nomad holds them against what is wanted, and the refusal to take over what is another's."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.deploy import properties
from nomad_csi.nomad import volumes

_NOT_SHOWN = ("secrets", "owner", "adopt", "onDestroy", "deletion")
"""Properties of which Nomad's answer has nothing."""

REDACTED = "[redacted]"
"""Stands for mount flags in comparisons and messages: Nomad shows that there are some, not which."""


def differing(
    declared: Mapping[str, properties.Property], live: Mapping[str, Any], news: Mapping[str, Any], *, has_flags: bool
) -> dict[str, str]:
    """
    Return a sentence for each *declared* property in which *live* is not what *news* wants.

    *live* are the inputs that describe what Nomad shows; *has_flags* is whether it holds mount flags.
    """
    found = _comparable(live, has_flags=has_flags)
    wanted = _comparable(news, has_flags=bool(news.get("mountOptions", {}).get("mountFlags")))
    return {
        name: f"{name}: Nomad has {_shown(found.get(name))}, wanted {_shown(wanted.get(name))}"
        for name in declared
        if found.get(name) != wanted.get(name)
    }


def refuse_foreign(
    found: volumes.Volume, news: Mapping[str, Any], differing: Mapping[str, str], fixed: Iterable[str]
) -> None:
    """
    Raise `errors.RefusedError` where *found*, which differs, may not be taken over.

    That is where *news* does not say ``adopt``, and where one of the properties in *fixed* would have to change.
    """
    name = f"{news['namespace']}/{news['volumeId']}"
    told = "; ".join(differing.values())
    if not news.get("adopt"):
        raise errors.RefusedError(
            f"volume {name} is registered already, and not by this stack as it is now: {told}; "
            "set adopt: true to take it over, import it, or choose another id"
        )
    unchangeable = [item for item in fixed if item in differing]
    if unchangeable:
        raise errors.RefusedError(
            f"volume {name} cannot be adopted, because Nomad never changes {', '.join(unchangeable)}: {told}; "
            f"deregister it first, when nothing uses it: nomad volume deregister -namespace {found.namespace} "
            f"{found.volume_id}"
        )


def as_recorded(
    volume: volumes.Volume, live: Mapping[str, Any], recorded: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return *live* with the parts that Nomad never shows as *recorded*, and the output that tells of foreign flags.

    *live* are the inputs that describe what Nomad shows of *volume*, *recorded* the inputs of before; empty for an
    import.
    """
    whole = dict(live)
    flags = recorded.get("mountOptions", {}).get("mountFlags")
    if volume.has_mount_flags and flags:
        whole["mountOptions"] = whole.get("mountOptions", {}) | {"mountFlags": flags}
    whole |= {name: recorded[name] for name in _NOT_SHOWN if name in recorded}
    is_foreign = volume.has_mount_flags and bool(recorded) and not flags
    return whole, {"foreignMountFlags": True} if is_foreign else {}


def fixed(declared: Mapping[str, properties.Property]) -> tuple[str, ...]:
    """Return the names of the *declared* properties that Nomad never changes."""
    return tuple(name for name, item in declared.items() if item.replaces)


def _comparable(inputs: Mapping[str, Any], *, has_flags: bool) -> dict[str, Any]:
    """Return what of *inputs* Nomad shows on a read."""
    shown = {name: value for name, value in inputs.items() if name not in (*_NOT_SHOWN, "mountOptions")}
    mount = {name: value for name, value in inputs.get("mountOptions", {}).items() if name != "mountFlags"}
    if has_flags:
        mount["mountFlags"] = REDACTED
    return shown | ({"mountOptions": mount} if mount else {})


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
