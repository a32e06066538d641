"""
The comparison of a volume (`compare.volume`) in the properties of its resource, and the refusal to take over another's.

Inputs before and after a change are compared as Nomad would: what it holds once the old ones are registered.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.compare import difference, volume
from nomad_csi.nomad.records import volumes
from nomad_csi.resources import volume_document
from nomad_csi.resources.frame import paths


def compare_inputs(
    old_inputs: Mapping[str, Any], news: Mapping[str, Any], made: Mapping[str, Any] | None = None
) -> difference.Comparison:
    """
    Return the comparison of *news* with what Nomad holds of a volume that has *old_inputs*.

    *made* are the outputs of one that its plugin made.
    """
    held = volume.as_registered(volume_document.from_inputs(old_inputs))
    if made is not None and "topologies" in made:
        held = dataclasses.replace(held, topologies=volume_document.places(made["topologies"]))
    return volume.compare_volume(volume_document.from_inputs(news), held, made_by_plugin=made is not None)


def property_names(differences: Iterable[difference.Difference]) -> tuple[str, ...]:
    """Return the properties of *differences*."""
    return tuple(dict.fromkeys(paths.top(volume_document.property_path(item.field)) for item in differences))


def changed_properties(
    old_inputs: Mapping[str, Any], news: Mapping[str, Any], compared: difference.Comparison
) -> frozenset[str]:
    """
    Return the properties in which *old_inputs* and *news* differ; *compared* decides of those that Nomad shows.

    Secrets, mount flags, and what is not sent to Nomad, differ by their values.
    """
    flags = (volume_document.from_inputs(inputs).mount_options.mount_flags for inputs in (old_inputs, news))
    by_value = {name for name in old_inputs.keys() | news.keys() if old_inputs.get(name) != news.get(name)}
    hidden = {"mountOptions"} if next(flags) != next(flags) else set()
    return frozenset({*property_names(compared.differences), *hidden, *(by_value - volume_document.COMPARED)})


def refuse_foreign(found: volumes.Volume, news: Mapping[str, Any], compared: difference.Comparison) -> None:
    """
    Raise `errors.RefusedError` where *found*, which is not as *news* by *compared*, may not be taken over.

    That is where *news* does not say ``adopt``, and where another registration would be needed.
    """
    name = f"{news['namespace']}/{news['volumeId']}"
    differences = _as_properties(compared)
    text = "; ".join(map(str, differences))
    if differences and not news.get("adopt"):
        raise errors.RefusedError(
            f"volume {name} is registered already, and not by this stack as it is now: {text}; "
            "set adopt: true to take it over, import it, or choose another id"
        )
    unchangeable = [item.field for item in differences if item.needs_new_registration]
    if unchangeable:
        raise errors.RefusedError(
            f"volume {name} cannot be adopted, because Nomad never changes {', '.join(unchangeable)}: {text}; "
            f"deregister it first, when nothing uses it: nomad volume deregister -namespace {found.namespace} "
            f"{found.volume_id}"
        )


def as_recorded(
    actual: volumes.Volume, live: Mapping[str, Any], recorded: Mapping[str, Any], *, made_by_plugin: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the inputs *recorded*, with those of *live* that differ, and the output that records foreign flags.

    *live* are the inputs that describe what Nomad shows of *actual*; all of them where nothing is *recorded*, for an
    import.
    """
    if not recorded:
        return dict(live), {}
    compared = volume.compare_volume(volume_document.from_inputs(recorded), actual, made_by_plugin=made_by_plugin)
    differing = property_names(compared.differences)
    whole = {name: value for name, value in recorded.items() if name not in differing}
    whole |= {name: live[name] for name in differing if name in live}
    flags = recorded.get("mountOptions", {}).get("mountFlags")
    if "mountOptions" in differing and actual.has_mount_flags and flags:
        whole["mountOptions"] = whole.get("mountOptions", {}) | {"mountFlags": flags}
    return whole, {"foreignMountFlags": True} if actual.has_mount_flags and not flags else {}


def _as_properties(compared: difference.Comparison) -> tuple[difference.Difference, ...]:
    """Return the differences by the paths of their properties."""
    return tuple(
        dataclasses.replace(item, field=volume_document.property_path(item.field)) for item in compared.differences
    )
