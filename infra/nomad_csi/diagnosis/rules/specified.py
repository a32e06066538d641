"""Compare each volume of the spec with its registration. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, finding, registry
from nomad_csi.nomad import volumes
from nomad_csi.plan import volumes as planned
from nomad_csi.text import foreign, listing
from nomad_csi.volumes import compare

Registered = Mapping[str, volumes.Volume | None]

CREATE = "run `pulumi up`, or `nomad-csi apply` with the spec"
REGISTER = "run `pulumi up`, or `nomad-csi apply` with the spec or the rendered file"
"""Advice for a volume that is not registered."""


@rule("volume-missing", *dict.fromkeys(registry.code_of_field().values()), registered="volumes of the spec")
def find_differences(found: facts.Facts, registered: Registered) -> Iterator[facts.Outcome]:
    """
    Yield volumes that are not registered, or not as specified.

    An external id that is not known yet is not compared. Secrets and the text of mount flags cannot be: Nomad redacts
    them.
    """
    for item in found.planned_volumes:
        is_made, actual = item.made_by_plugin, registered[item.key]
        if actual is None:
            yield finding(
                "volume-missing",
                f"volume {item.key}",
                expected="created by its plugin" if is_made else "registered",
                found="no such volume",
                advice=CREATE if is_made else REGISTER,
            )
            continue
        desired = planned.desired_document(item, found.external_ids)
        compared = compare.compare_volume(desired, actual, made_by_plugin=is_made)
        # If one makes Nomad refuse the update, in-place ones wait.
        is_refused = compared.is_refused_to_plugins if is_made else compared.kind == "refused"
        for difference in compared.differences:
            yield _difference(f"volume {item.key}", difference, is_refused=is_refused)


def _difference(subject: str, item: compare.Difference, *, is_refused: bool) -> Finding:
    code = registry.code_of_field()[item.field]
    words = (
        (item.field if code == "capacity-differs" else code.removesuffix("-differs"))
        .replace("_", " ")
        .replace("-", " ")
    )
    if isinstance(item.desired, dict):
        expected, shown = "as specified", ", ".join(_changed_keys(item.desired, item.actual))
    elif code == "capacity-differs":
        expected, shown = (listing.size(value) if value else "none" for value in (item.desired, item.actual))
    elif code == "topologies-differs":
        expected, shown = topologies_text(item.desired), topologies_text(item.actual)
    else:
        expected, shown = _text(item.desired), _text(item.actual)
    first = "first resolve the refused differences; then " if is_refused else ""
    advice = item.fix or f"{first}`pulumi up` or `nomad-csi apply` changes it in place"
    return finding(
        code,
        subject,
        expected=f"{words} {expected}",
        found=foreign.clean(shown),
        advice=f"{item.why}: {advice}" if item.why else advice,
    )


def _text(value: Any) -> str:
    return (", ".join(value) if isinstance(value, list) else str(value or "")) or "none"


def _changed_keys(desired: Mapping[str, str], actual: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys that differ, without values: a driver's context may contain secrets."""
    for key in sorted(desired.keys() | actual.keys()):
        if key not in actual:
            yield f"{key} absent"
        elif key not in desired:
            yield f"{key} added"
        elif desired[key] != actual[key]:
            yield f"{key} changed"


def topologies_text(topologies: Iterable[Mapping[str, str]]) -> str:
    """Return ``zone=a or zone=b``."""
    shown = {" and ".join(f"{key}={value}" for key, value in sorted(each.items())) for each in topologies}
    return " or ".join(sorted(shown)) or "anywhere"
