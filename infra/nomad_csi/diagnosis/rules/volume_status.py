"""Status of a volume: whether it is registered as specified, and whether an allocation can claim it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi import findings
from nomad_csi.findings import causes, registry
from nomad_csi.health import eligibility, plugins
from nomad_csi.nomad import volumes
from nomad_csi.plan import dependents, registration
from nomad_csi.text import foreign, listing
from nomad_csi.volumes import compare

Status = Literal["ok", "missing", "differs", "unschedulable"]

CREATE = "run `pulumi up`, or `nomad-csi apply` with the spec"
REGISTER = "run `pulumi up`, or `nomad-csi apply` with the spec or the rendered file"
"""Advice for a volume that is not registered."""


@dataclass(frozen=True, kw_only=True)
class VolumeStatus(registration.NamedVolume):
    """Whether one volume is registered as specified."""

    plugin_id: str
    external_id: str
    """The registered one, or the planned one of an unregistered volume; empty: neither is known."""

    status: Status
    findings: tuple[findings.Finding, ...]
    capacity_bytes: int = 0
    """Its capacity in Nomad, which has it of volumes that a plugin created; 0: not known."""

    detail: str = ""
    """What was not compared; empty: all that can be compared was."""

    @property
    def evidence(self) -> Literal["nomad", "-"]:
        """Source of the status: Nomad, if it is registered; ``-``: none, it is missing. CSI lists no registrations."""
        return "-" if self.status == "missing" else "nomad"


def judge_volume(
    desired: registration.VolumeRegistration,
    actual: volumes.Volume | None,
    served_by: plugins.PluginStatus | None = None,
    *,
    made_by_plugin: bool = False,
    others: Iterable[findings.Finding] = (),
) -> VolumeStatus:
    """
    Return the status of a volume: compare *desired* with the registered volume; ``None``: not registered.

    An external id that is not known yet (empty in *desired*) is not compared; the detail reports that. Secrets and the
    text of mount flags cannot be compared: Nomad redacts them. *served_by* is the volume's plugin, when its
    topology is checked. *made_by_plugin* is as in `volumes.compare.compare_volume`, whose differences become findings.
    *others* are findings of other checks on the volume: they are reported, and do not change the status.
    """
    subject = f"volume {desired.key}"
    compared = compare.compare_volume(desired, actual, made_by_plugin=made_by_plugin)
    if actual is None:
        seen: tuple[findings.Finding, ...] = (_missing(subject, made_by_plugin=made_by_plugin),)
    else:
        seen = (
            *_differs(subject, compared, made_by_plugin=made_by_plugin),
            *_unschedulable(subject, actual),
            *_out_of_reach(subject, actual.topologies, served_by),
        )
    return VolumeStatus(
        namespace=desired.namespace,
        volume_id=desired.volume_id,
        plugin_id=actual.plugin_id if actual else desired.plugin_id,
        external_id=actual.external_id if actual else desired.external_id,
        status=_status(seen),
        findings=(*seen, *others),
        capacity_bytes=actual.capacity_bytes if actual else 0,
        detail=compare.ID_NOT_COMPARED if actual and "external_id" in compared.hidden else "",
    )


def dependent(found: dependents.DependentVolume) -> findings.Finding:
    """Return the finding on a volume that shares the storage of another one."""
    return findings.finding(
        "volume-in-storage-of-another",
        f"volume {found.key}",
        expected="storage of its own",
        found=f"{found.container}, which was created for volume {found.owner}",
        advice=f"keep {found.owner} as long as this data is needed: {found.container} goes with it",
    )


def _status(seen: tuple[findings.Finding, ...]) -> Status:
    codes = {finding.code for finding in findings.errors_of(seen)}
    if "volume-missing" in codes:
        return "missing"
    if codes and codes <= {"volume-unschedulable", "volume-out-of-reach"}:
        return "unschedulable"
    return "differs" if codes else "ok"


def _missing(subject: str, *, made_by_plugin: bool) -> findings.Finding:
    return findings.finding(
        "volume-missing",
        subject,
        expected="created by its plugin" if made_by_plugin else "registered",
        found="no such volume",
        advice=CREATE if made_by_plugin else REGISTER,
    )


def _differs(subject: str, compared: compare.Comparison, *, made_by_plugin: bool) -> Iterator[findings.Finding]:
    """Yield a finding for each difference; if one makes Nomad refuse the update, in-place ones wait."""
    is_refused = compared.is_refused_to_plugins if made_by_plugin else compared.kind == "refused"
    for item in compared.differences:
        yield _difference(subject, item, is_refused=is_refused)


def _difference(subject: str, item: compare.Difference, *, is_refused: bool) -> findings.Finding:
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
        expected, shown = _places(item.desired), _places(item.actual)
    else:
        expected, shown = _text(item.desired), _text(item.actual)
    first = "first resolve the refused differences; then " if is_refused else ""
    advice = item.fix or f"{first}`pulumi up` or `nomad-csi apply` changes it in place"
    return findings.finding(
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


def _unschedulable(subject: str, actual: volumes.Volume) -> Iterator[findings.Finding]:
    if not actual.schedulable:
        yield findings.finding(
            "volume-unschedulable",
            subject,
            expected="a volume that Nomad places allocations for",
            found=f"plugin {actual.plugin_id} without enough healthy instances",
            names={"PLUGIN": actual.plugin_id},
            links=causes.of_plugin(actual.plugin_id),
        )


def _out_of_reach(
    subject: str, topologies: Iterable[Mapping[str, str]], served_by: plugins.PluginStatus | None
) -> Iterator[findings.Finding]:
    """Yield a finding if no healthy node instance is in the volume's topology; ``Schedulable`` does not cover it."""
    places = [place for place in topologies if place]
    if served_by is None or not places:
        return
    nodes = [row for row in served_by.instances if row.role == "node"]
    healthy = [row for row in nodes if row.status == "healthy"]
    if healthy and not any(volumes.reaches(places, row.segments) for row in healthy):
        there = [row.subject for row in nodes if volumes.reaches(places, row.segments)]
        is_waiting = any(eligibility.zone_of_segments(place) in served_by.zones for place in places)
        waiting = [eligibility.waiting_link(served_by.plugin_id)] if is_waiting else []
        yield findings.finding(
            "volume-out-of-reach",
            subject,
            expected=f"a healthy node instance in {_places(places)}",
            found=", ".join(sorted({row.zone or row.node_name for row in healthy})),
            links=(subject, *there, *waiting),
        )


def _places(topologies: Iterable[Mapping[str, str]]) -> str:
    shown = {" and ".join(f"{key}={value}" for key, value in sorted(place.items())) for place in topologies}
    return " or ".join(sorted(shown)) or "anywhere"
