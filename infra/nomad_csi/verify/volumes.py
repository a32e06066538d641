"""The verdict on a volume: whether Nomad holds it as planned, and whether an allocation can get it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.nomad import volumes
from nomad_csi.plan import model, registration
from nomad_csi.verify import findings, plugins

Verdict = Literal["ok", "missing", "differs", "unschedulable"]

NOT_COMPARED = "external id not compared (--stack-output)"
"""What a verdict does not say of storage whose id only a stack's outputs tell."""


@dataclass(frozen=True, kw_only=True)
class VolumeVerdict:
    """Whether one volume is registered as planned."""

    namespace: str
    volume_id: str
    plugin_id: str
    external_id: str
    """As Nomad holds it, or as planned where it holds none; empty where neither is known."""

    verdict: Verdict
    findings: tuple[findings.Finding, ...]
    detail: str = ""
    """What was not compared; empty where everything was that can be."""

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"

    @property
    def proven_by(self) -> Literal["nomad", "-"]:
        """Who says so: Nomad, which holds the volume; ``-``: nobody, it is missing. No CSI call lists what is there."""
        return "-" if self.verdict == "missing" else "nomad"


def compare_volume(
    wanted: registration.VolumeRegistration,
    volume: volumes.Volume | None,
    served_by: plugins.PluginVerdict | None = None,
    *,
    created: model.CreatedVolume | None = None,
) -> VolumeVerdict:
    """
    Return the verdict on a volume: *wanted* against what Nomad holds, ``None`` where it holds none.

    An external id that is not known yet (empty in *wanted*) is not compared, and the detail says so. Secrets and the
    text of mount flags cannot be: Nomad redacts them on every read. *served_by* is the volume's plugin, when its
    topology is to be seen. Of a volume that the plugin makes, *created* is what was asked for; its context and its
    places are the plugin's.
    """
    subject = f"volume {wanted.namespace}/{wanted.volume_id}"
    if volume is None:
        seen: tuple[findings.Finding, ...] = (_missing(subject),)
    else:
        seen = (
            *_differences(subject, wanted, volume),
            *(
                _own_differences(subject, wanted, volume)
                if created is None
                else _asked(subject, wanted, volume, created)
            ),
            *_unschedulable(subject, volume),
            *_out_of_reach(subject, volume.topologies, served_by),
        )
    return VolumeVerdict(
        namespace=wanted.namespace,
        volume_id=wanted.volume_id,
        plugin_id=volume.plugin_id if volume else wanted.plugin_id,
        external_id=volume.external_id if volume else wanted.external_id,
        verdict=_verdict(seen),
        findings=seen,
        detail=NOT_COMPARED if volume and not wanted.external_id else "",
    )


def _verdict(seen: tuple[findings.Finding, ...]) -> Verdict:
    codes = {finding.code for finding in findings.errors_of(seen)}
    if "volume-missing" in codes:
        return "missing"
    if "volume-unschedulable" in codes and len(codes) == 1:
        return "unschedulable"
    return "differs" if codes else "ok"


def _missing(subject: str) -> findings.Finding:
    return findings.Finding(
        code="volume-missing",
        subject=subject,
        severity="error",
        expected="registered",
        found="no such volume",
        advice="run `pulumi up`, or `nomad-csi register` with the spec or the rendered file",
    )


def _differences(
    subject: str, wanted: registration.VolumeRegistration, volume: volumes.Volume
) -> Iterator[findings.Finding]:
    pairs = {
        "external-id": (wanted.external_id or volume.external_id, volume.external_id),
        "plugin-id": (wanted.plugin_id, volume.plugin_id),
        "name": (wanted.name, volume.name),
        "capabilities": (_modes(wanted.capabilities), _modes(volume.capabilities)),
        "fs-type": (wanted.mount_options.fs_type or "none", volume.fs_type or "none"),
        "mount-flags": (_some(wanted.mount_options.mount_flags), "some" if volume.has_mount_flags else "none"),
    }
    for code, (expected, shown) in pairs.items():
        if expected != shown:
            yield _differs(subject, code, expected, findings.foreign(shown))
    yield from _map_differences(subject, "parameters", wanted.parameters, volume.parameters)


def _own_differences(
    subject: str, wanted: registration.VolumeRegistration, volume: volumes.Volume
) -> Iterator[findings.Finding]:
    """Yield what Nomad holds otherwise of what a registration says, and a plugin of a volume that it made."""
    expected, shown = _places(wanted.required_topologies), _places(volume.topologies)
    if expected != shown:
        yield _differs(subject, "topologies", expected, findings.foreign(shown))
    yield from _map_differences(subject, "context", wanted.context, volume.context)


def _asked(
    subject: str, wanted: registration.VolumeRegistration, volume: volumes.Volume, created: model.CreatedVolume
) -> Iterator[findings.Finding]:
    """Yield where Nomad last asked the plugin for another place or size than are wanted."""
    pairs = {
        "topologies": (_places(wanted.required_topologies), _places(volume.requested_topologies)),
        "capacity": (f"of {created.capacity_min_bytes} bytes", f"of {volume.capacity_min_bytes} bytes"),
    }
    for code, (expected, shown) in pairs.items():
        if expected != shown:
            yield _differs(subject, code, expected, findings.foreign(shown))


def _differs(subject: str, code: str, expected: str, shown: str) -> findings.Finding:
    return findings.Finding(
        code=f"{code}-differs",
        subject=subject,
        severity="error",
        expected=f"{code.replace('-', ' ')} {expected}",
        found=shown,
        advice="preview with `pulumi preview --refresh`, which says whether it can change in place",
    )


def _map_differences(
    subject: str, code: str, wanted: Mapping[str, str], there: Mapping[str, str]
) -> Iterator[findings.Finding]:
    """Yield one finding for a map, with its keys only: a driver's context may hold what nobody should read."""
    keys = {key: _change(key, wanted, there) for key in sorted(wanted.keys() | there.keys())}
    changes = [f"{key} {change}" for key, change in keys.items() if change]
    if changes:
        yield _differs(subject, code, "as planned", findings.foreign(", ".join(changes)))


def _change(key: str, wanted: Mapping[str, str], there: Mapping[str, str]) -> str:
    if key not in there:
        return "absent"
    if key not in wanted:
        return "added"
    return "" if wanted[key] == there[key] else "changed"


def _unschedulable(subject: str, volume: volumes.Volume) -> Iterator[findings.Finding]:
    if not volume.schedulable:
        yield findings.Finding(
            code="volume-unschedulable",
            subject=subject,
            severity="error",
            expected="a volume that Nomad would place an allocation on",
            found=f"plugin {volume.plugin_id} without enough healthy instances",
            advice="make the plugin healthy first",
        )


def _out_of_reach(
    subject: str, topologies: Iterable[Mapping[str, str]], served_by: plugins.PluginVerdict | None
) -> Iterator[findings.Finding]:
    """Yield a warning where no healthy node instance is in a place of the volume; ``Schedulable`` does not say so."""
    places = [place for place in topologies if place]
    if served_by is None or not places:
        return
    healthy = [row for row in served_by.instances if row.role == "node" and row.verdict == "healthy"]
    if healthy and not any(place.items() <= row.segments.items() for place in places for row in healthy):
        yield findings.Finding(
            code="volume-out-of-reach",
            subject=subject,
            severity="warning",
            expected=f"a healthy node instance in {_places(places)}",
            found=", ".join(sorted({row.zone or row.node_name for row in healthy})),
            advice="add a client there; an allocation that claims the volume is not placed before",
        )


def _modes(capabilities: Iterable[registration.Capability]) -> str:
    return ", ".join(sorted({f"{item.access_mode}/{item.attachment_mode}" for item in capabilities})) or "none"


def _places(topologies: Iterable[Mapping[str, str]]) -> str:
    shown = {" and ".join(f"{key}={value}" for key, value in sorted(place.items())) for place in topologies}
    return " or ".join(sorted(shown)) or "anywhere"


def _some(flags: tuple[str, ...]) -> str:
    return "some" if flags else "none"
