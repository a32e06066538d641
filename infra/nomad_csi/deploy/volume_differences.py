"""
The rules by which Nomad merges a registration into what it holds, one function for each part. Pure.

Source: hashicorp/nomad, ``nomad/structs/csi.go`` (``CSIVolume.Merge``) and ``nomad/csi_endpoint.go``
(``reconcileVolume``, ``expandVolume``), 2026-08-21; each rule tried on Nomad 2.0.6-dev, 2026-08.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

REDACTED = "[redacted]"
"""Stands for mount flags: Nomad shows that there are some, not which."""

_ANEW = "deregister it and register it again, when nothing uses it; the data is not touched"


Effect = Literal["changes", "refused", "ignored"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One part in which what Nomad holds is not what is wanted."""

    name: str
    """Word of a volume specification, such as ``external_id``."""

    found: Any
    wanted: Any
    effect: Effect = "changes"

    why: str = ""
    """Why it does not come to pass; empty where Nomad changes it."""

    fix: str = ""
    """What to do about it, as an imperative phrase."""

    def __str__(self) -> str:
        """
        Return ``context: Nomad has {"tier": "slow"}, wanted {"tier": "fast"}``, and why not.

        Of lists, the items that go and come: ``capability: removed single-node-writer file-system``.
        """
        if self.found and self.wanted and isinstance(self.found, list) and isinstance(self.wanted, list):
            told = f"{self.name}: {'; '.join(_moved(self.found, self.wanted))}"
        else:
            told = f"{self.name}: Nomad has {_shown(self.found)}, wanted {_shown(self.wanted)}"
        return f"{told}; {self.why}" if self.why else told


def readable(wanted: registration.VolumeRegistration, found: volumes.Volume) -> registration.VolumeRegistration:
    """Return *wanted* with what Nomad has in place of texts that only Pulumi can read, so that they do not differ."""
    if not any(registration.ENCRYPTED in part.values() for part in (wanted.context, wanted.parameters)):
        return wanted
    context, parameters = (
        {name: held.get(name, "") if text == registration.ENCRYPTED else text for name, text in given.items()}
        for given, held in ((wanted.context, found.context), (wanted.parameters, found.parameters))
    )
    return dataclasses.replace(wanted, context=context, parameters=parameters)


def of(wanted: registration.VolumeRegistration, found: volumes.Volume, *, made_by_plugin: bool) -> Iterator[Difference]:
    """Yield what of *wanted* Nomad does not hold, rule by rule; see `volume_verdict.verdict`."""
    yield from _identity(wanted, found, made_by_plugin=made_by_plugin)
    yield from _parameters(wanted, found)
    yield from _places(wanted, found)
    yield from _capabilities(wanted, found)
    yield from _mount_options(wanted, found)
    if not made_by_plugin:
        yield from _context(wanted, found)
    yield from _size(wanted, found)


def _identity(
    wanted: registration.VolumeRegistration, found: volumes.Volume, *, made_by_plugin: bool
) -> Iterator[Difference]:
    """Yield what is fixed with the first registration. What is left empty Nomad keeps as it is."""
    for name in ("name", "external_id", "plugin_id", "clone_id", "snapshot_id"):
        given, held = getattr(wanted, name), getattr(found, name)
        if given and given != held and not (made_by_plugin and name == "external_id"):
            yield _refused(Difference(name=name, found=held, wanted=given), "Nomad never changes it")


def _parameters(wanted: registration.VolumeRegistration, found: volumes.Volume) -> Iterator[Difference]:
    difference = Difference(name="parameters", found=dict(found.parameters), wanted=dict(wanted.parameters))
    if difference.found == difference.wanted:
        return
    if difference.wanted:
        yield _refused(difference, "Nomad never changes them")
    else:
        yield _ignored(difference, "Nomad keeps what it has where none are sent")


def _places(wanted: registration.VolumeRegistration, found: volumes.Volume) -> Iterator[Difference]:
    given, held = _listed(wanted.required_topologies), _listed(found.requested_topologies)
    preferred = [{"preferred": each} for each in _listed(found.preferred_topologies)]
    difference = Difference(name="topology_request", found=[*held, *preferred], wanted=given)
    if not found.topologies:
        if given:
            why = "Nomad accepts it and leaves it out, because the volume was registered without"
            yield _ignored(dataclasses.replace(difference, found=[]), why)
    elif preferred or not same_places(wanted.required_topologies, found.requested_topologies):
        yield _refused(difference, "Nomad never changes where a volume can be attached")


def _capabilities(wanted: registration.VolumeRegistration, found: volumes.Volume) -> Iterator[Difference]:
    given, held = (
        sorted(f"{item.access_mode} {item.attachment_mode}" for item in side.capabilities) for side in (wanted, found)
    )
    difference = Difference(name="capability", found=held, wanted=given)
    used = f"{found.access_mode} {found.attachment_mode}".strip()
    if used and found.claims and used not in given:
        yield _refused(difference, f"{used} is in use", "keep it, or stop the jobs that claim the volume first")
    elif given != held:
        yield difference


def _mount_options(wanted: registration.VolumeRegistration, found: volumes.Volume) -> Iterator[Difference]:
    given = _mounted(wanted.mount_options.fs_type, has_flags=bool(wanted.mount_options.mount_flags))
    held = _mounted(found.fs_type, has_flags=found.has_mount_flags)
    difference = Difference(name="mount_options", found=held, wanted=given)
    if given != held and found.claims:
        yield _refused(difference, "the volume is in use", "stop the jobs that claim it first")
    elif given != held:
        yield difference


def _context(wanted: registration.VolumeRegistration, found: volumes.Volume) -> Iterator[Difference]:
    difference = Difference(name="context", found=dict(found.context), wanted=dict(wanted.context))
    if difference.wanted and difference.wanted != difference.found:
        yield difference
    elif difference.wanted != difference.found:
        yield _ignored(difference, "Nomad keeps what it has where none is sent")


def _size(wanted: registration.VolumeRegistration, found: volumes.Volume) -> Iterator[Difference]:
    least, most = wanted.capacity_min_bytes, wanted.capacity_max_bytes
    if not (least or most) or (least, most) == (found.capacity_min_bytes, found.capacity_max_bytes):
        return
    held = _filled(
        capacity_min=found.capacity_min_bytes, capacity_max=found.capacity_max_bytes, capacity=found.capacity_bytes
    )
    difference = Difference(name="capacity", found=held, wanted=_filled(capacity_min=least, capacity_max=most))
    if most and most < max(least, found.capacity_bytes):
        why = "the most is less than the least" if most < least else "storage never shrinks"
        yield _refused(difference, why, "ask for at least what it has")
    else:
        yield difference


def hidden(wanted: registration.VolumeRegistration, found: volumes.Volume, *, made_by_plugin: bool) -> Iterator[str]:
    """Yield the parts of *wanted* that no read shows, or that are not known here."""
    if not wanted.external_id and not made_by_plugin:
        yield "external_id"
    if wanted.secrets:
        yield "secrets"
    for name, texts in (("context", wanted.context), ("parameters", wanted.parameters)):
        if registration.ENCRYPTED in texts.values():
            yield name
    if wanted.mount_options.mount_flags and found.has_mount_flags:
        yield "mount_options.mount_flags"


def _refused(difference: Difference, why: str, fix: str = _ANEW) -> Difference:
    return dataclasses.replace(difference, effect="refused", why=why, fix=fix)


def _ignored(difference: Difference, why: str) -> Difference:
    return dataclasses.replace(difference, effect="ignored", why=why, fix=_ANEW)


def _listed(places: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    return [dict(segments) for segments in places]


def same_places(first: Iterable[Mapping[str, str]], second: Iterable[Mapping[str, str]]) -> bool:
    """Return whether both name the same places, in whatever order."""
    return _sorted(first) == _sorted(second)


def _sorted(places: Iterable[Mapping[str, str]]) -> list[list[tuple[str, str]]]:
    return sorted(sorted(segments.items()) for segments in places)


def _mounted(fs_type: str, *, has_flags: bool) -> dict[str, Any]:
    return _filled(fs_type=fs_type, mount_flags=REDACTED if has_flags else "")


def _filled(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _moved(found: list[Any], wanted: list[Any]) -> Iterator[str]:
    """Yield which items are *found* and not *wanted*, and the other way round."""
    for word, one, other in (("removed", found, wanted), ("added", wanted, found)):
        items = [item if isinstance(item, str) else _shown(item) for item in one if item not in other]
        if items:
            yield f"{word} {', '.join(items)}"


def _shown(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if value not in ("", [], {}) else "nothing"
