"""
Compare a volume's desired registration with Nomad's record of it, one rule for each field. Pure.

What Nomad does with each difference: hashicorp/nomad, ``nomad/structs/csi.go`` (``CSIVolume.Merge``) and
``nomad/csi_endpoint.go`` (``reconcileVolume``, ``expandVolume``), 2026-08-21; each rule tried on Nomad 2.0.6-dev,
2026-11 (``tests/contract/test_comparison.py`` repeats them on an available agent).
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi.nomad.volumes import Volume
from nomad_csi.plan.registration import ORIGINS, VolumeRegistration
from nomad_csi.text import listing, redaction, secrets

REDACTED = "[redacted]"
"""Replaces mount flags: Nomad's API shows only that some are set."""

REGISTER_ANEW = "deregister it and register it again, when nothing uses it; the data is not touched"
CREATE_ANEW = "make another volume and copy the data: the storage stays as it was made"
COMPLETE_SPEC = "the registration has what the spec lacks: add it to the spec (`nomad-csi import --cluster` prints it)"

ID_NOT_COMPARED = "external id not compared (--stack-output)"
"""Note for storage whose id is known only from a stack's outputs."""

_SIZES = frozenset({"capacity_min", "capacity_max"})

Effect = Literal["in-place", "kept", "replaced", "refused"]
"""
Effect of registering the volume again. ``in-place``: Nomad changes the field. ``kept``: Nomad accepts the registration
and keeps its value. ``replaced``: Nomad refuses the change; it needs a new registration, or new storage for a volume
that its plugin created. ``refused``: Nomad refuses the change in the volume's present state, such as in use.
"""

Kind = Literal["new", "equal", "hidden", "changes", "refused", "ignored"]
"""
Result of a comparison. ``new``: Nomad has no such volume. ``equal``: no difference. ``hidden``: no difference in the
fields that Nomad shows; the others are sent. ``changes``: Nomad would change the volume in place. ``refused``: Nomad
would refuse the registration. ``ignored``: Nomad would accept it and keep its values.
"""

_KINDS: dict[Effect, Kind] = {"replaced": "refused", "refused": "refused", "in-place": "changes", "kept": "ignored"}
"""By effect, the most severe first."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One field in which Nomad's record differs from the desired state."""

    field: str
    """Path in a volume specification, such as ``external_id`` or ``mount_options.fs_type``."""

    desired: Any
    actual: Any
    """Both are JSON values: a string, a number, a list or an object; mount flags and secret values are masked."""

    effect: Effect = "in-place"

    why: str = ""
    """Why Nomad does not change the field; empty where it does."""

    fix: str = ""
    """The fix, as an imperative phrase."""

    @property
    def needs_new_registration(self) -> bool:
        """Whether the volume must be deregistered, or created again, to reach the desired state."""
        return self.effect in {"kept", "replaced"}

    def __str__(self) -> str:
        """Return ``context: Nomad has {"tier": "slow"}, wanted {"tier": "fast"}``, and why not."""
        actual, wanted = (
            listing.size(value) if value and self.field in _SIZES else _shown(value)
            for value in (self.actual, self.desired)
        )
        text = f"{self.field}: Nomad has {actual}, wanted {wanted}"
        return f"{text}; {self.why}" if self.why else text


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A desired volume compared with Nomad's record of it."""

    is_new: bool = False
    """Whether Nomad has no such volume."""

    differences: tuple[Difference, ...] = ()

    hidden: tuple[str, ...] = ()
    """Fields that Nomad's API does not show, or that are unknown here: not compared, and sent."""

    def differences_of_kind(self, kind: Kind) -> tuple[Difference, ...]:
        """Return the differences whose effect belongs to this *kind*."""
        return tuple(item for item in self.differences if _KINDS[item.effect] == kind)

    @property
    def kind(self) -> Kind:
        """The result of the comparison; the most severe difference decides."""
        if self.is_new:
            return "new"
        worst = next((kind for kind in _KINDS.values() if self.differences_of_kind(kind)), None)
        return worst or ("hidden" if self.hidden else "equal")


def sentences(differences: Iterable[Difference]) -> tuple[str, ...]:
    """Return *differences* as text, followed by their fixes, each once."""
    differences = tuple(differences)
    fixes = dict.fromkeys(item.fix for item in differences if item.fix)
    return (*(str(item) for item in differences), *fixes)


def _shown(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if value else "nothing"


# Topologies where a volume can be attached: segments by topology key, in no order.


Topologies = Iterable[Mapping[str, str]]


def same_topologies(first: Topologies, second: Topologies) -> bool:
    """Return whether both list the same topologies."""
    return _sorted(first) == _sorted(second)


def same_topologies_but_for_keys(first: Topologies, second: Topologies) -> bool:
    """
    Return whether both list the same topologies, ignoring the keys: the zone ``us-east-1a`` is the same under any key.

    The key is the driver's choice, and another version of it may use another.
    """
    return _values(first) == _values(second)


def _sorted(topologies: Topologies) -> list[list[tuple[str, str]]]:
    return sorted(sorted(segments.items()) for segments in topologies)


def _values(topologies: Topologies) -> list[list[str]]:
    return sorted(sorted(segments.values()) for segments in topologies)


# The rules, one for each field.


NEW = Comparison(is_new=True)

_ANOTHER = "[another secret]"
_KEPT: Effect = "kept"
_REPLACED: Effect = "replaced"


def compare_volume(desired: VolumeRegistration, actual: Volume | None, *, made_by_plugin: bool = False) -> Comparison:
    """
    Return the differences between *desired* and *actual*; ``None``: Nomad has no such volume.

    Where *made_by_plugin*, name and context come from the plugin's response and are not compared, and a registration
    does not change the parameters that the storage was created with. An empty external id of *desired* is unknown.
    Required topologies are equal where they were requested so, or are the volume's own (`keep_actual_topologies`).
    Preferred topologies count only when storage is created: no desired ones are no difference.
    """
    if actual is None:
        return NEW
    return Comparison(
        differences=tuple(_Rules(desired, actual, made_by_plugin=made_by_plugin).differences()),
        hidden=tuple(_hidden(desired, actual, made_by_plugin=made_by_plugin)),
    )


def shrinking(
    desired: VolumeRegistration, capacity_bytes: int, requested_bytes: int
) -> Literal["capacity_min", "capacity_max"] | None:
    """
    Return the size of *desired* that would shrink a volume of *capacity_bytes*; ``None``: it does not shrink.

    *requested_bytes*: the least size that was requested before.
    """
    if 0 < desired.capacity_max_bytes < max(desired.capacity_min_bytes, capacity_bytes):
        return "capacity_max"
    return "capacity_min" if 0 < desired.capacity_min_bytes < min(capacity_bytes, requested_bytes) else None


def keep_actual_topologies(desired: VolumeRegistration, actual: Volume | None) -> VolumeRegistration:
    """
    Return *desired* with the requested topologies of Nomad's record, where they are equal: Nomad refuses others.

    Nomad compares the whole topology request, with its order and the preferred ones, and not the volume's topologies.
    Nomad keeps the context where none is sent. Older releases erase it (``nomad-erases-context``), so it is sent again.
    """
    if actual is None:
        return desired
    required, preferred = desired.required_topologies, desired.preferred_topologies
    if any(same_topologies(required, topologies) for topologies in (actual.required_topologies, actual.topologies)):
        required = actual.required_topologies
    if not preferred or same_topologies(preferred, actual.preferred_topologies):
        preferred = actual.preferred_topologies
    context = desired.context or actual.context
    return dataclasses.replace(desired, required_topologies=required, preferred_topologies=preferred, context=context)


def registered_volume(document: VolumeRegistration) -> Volume:
    """Return Nomad's record after the first registration of *document*, without claims."""
    own = {item.name: getattr(document, item.name) for item in dataclasses.fields(document)}
    return Volume(
        **own | {"secrets": {}},
        topologies=document.required_topologies,
        schedulable=True,
        controller_required=False,
        claims=(),
    )


def _hidden(desired: VolumeRegistration, actual: Volume, *, made_by_plugin: bool) -> Iterator[str]:
    if not desired.external_id and not made_by_plugin:
        yield "external_id"
    if desired.secrets:
        yield "secrets"
    if desired.mount_options.mount_flags and actual.has_mount_flags:
        yield "mount_options.mount_flags"


class _Rules:
    """Nomad's rules for merging a registration into its record."""

    def __init__(self, desired: VolumeRegistration, actual: Volume, *, made_by_plugin: bool) -> None:
        self._desired = desired
        self._actual = actual
        self._made_by_plugin = made_by_plugin

    def differences(self) -> Iterator[Difference]:
        yield from self._identity()
        yield from self._parameters()
        yield from self._topologies()
        yield from self._capabilities()
        yield from self._mount_options()
        yield from self._context()
        yield from self._capacity()

    def _identity(self) -> Iterator[Difference]:
        """Yield differences in fields fixed by the first registration. Nomad keeps its value where one is empty."""
        names = ("external_id", "plugin_id") if self._made_by_plugin else ("name", "external_id", "plugin_id")
        for name in (*names, *ORIGINS):
            desired, actual = getattr(self._desired, name), getattr(self._actual, name)
            is_wish = bool(desired) or (self._made_by_plugin and name in ORIGINS)
            if is_wish and desired != actual:
                yield self._fixed(name, desired, actual, "Nomad never changes it")

    def _parameters(self) -> Iterator[Difference]:
        desired, actual = self._desired.parameters, self._actual.parameters
        if desired == actual:
            return
        is_kept = not desired and not self._made_by_plugin
        why = "Nomad keeps what it has where none are sent" if is_kept else "Nomad never changes them"
        yield self._fixed("parameters", *_masked(desired, actual), why, _KEPT if is_kept else _REPLACED)

    def _topologies(self) -> Iterator[Difference]:
        """Yield a difference in the requested topologies, unless the desired ones are those of the volume."""
        actual, is_made = self._actual, self._made_by_plugin
        is_same = same_topologies_but_for_keys if is_made else same_topologies
        why, effect, requested = (
            "Nomad never changes where a volume can be attached",
            _REPLACED,
            actual.required_topologies,
        )
        if not (actual.topologies or is_made):
            why, effect = "Nomad accepts it and leaves it out, because the volume was registered without", _KEPT
            requested = ()
        required, preferred = self._desired.required_topologies, self._desired.preferred_topologies
        if not (is_same(required, requested) or is_same(required, actual.topologies)):
            yield self._fixed("topology_request.required", _listed(required), _listed(requested), why, effect)
        if preferred and not is_same(preferred, actual.preferred_topologies):
            live = _listed(actual.preferred_topologies)
            yield self._fixed("topology_request.preferred", _listed(preferred), live, why, effect)

    def _capabilities(self) -> Iterator[Difference]:
        desired, actual = (
            sorted({f"{item.access_mode} {item.attachment_mode}" for item in side.capabilities})
            for side in (self._desired, self._actual)
        )
        used = f"{self._actual.access_mode} {self._actual.attachment_mode}".strip()
        if used and self._actual.claims and used not in desired:
            fix = "keep it, or stop the jobs that claim the volume first"
            yield _refused("capability", desired, actual, f"{used} is in use", fix)
        elif desired != actual:
            yield Difference(field="capability", desired=desired, actual=actual)

    def _mount_options(self) -> Iterator[Difference]:
        options, actual = self._desired.mount_options, self._actual
        flags = (REDACTED if has_flags else "" for has_flags in (options.mount_flags, actual.has_mount_flags))
        for name, given, live in (("fs_type", options.fs_type, actual.mount_options.fs_type), ("mount_flags", *flags)):
            field = f"mount_options.{name}"
            if given != live and actual.claims:
                yield _refused(field, given, live, "the volume is in use", "stop the jobs that claim it first")
            elif given != live:
                yield Difference(field=field, desired=given, actual=live)

    def _context(self) -> Iterator[Difference]:
        desired, actual = self._desired.context, self._actual.context
        if self._made_by_plugin or desired == actual:
            return
        shown = _masked(desired, actual)
        if desired:
            yield Difference(field="context", desired=shown[0], actual=shown[1])
        else:
            yield self._fixed("context", *shown, "Nomad keeps what it has where none is sent", _KEPT)

    def _capacity(self) -> Iterator[Difference]:
        """Yield a difference in the requested size. Nomad keeps the earlier request where none is given."""
        least, most, actual = self._desired.capacity_min_bytes, self._desired.capacity_max_bytes, self._actual
        changed = [
            (name, given, live)
            for name, given, live in (
                ("capacity_min", least, actual.capacity_min_bytes),
                ("capacity_max", most, actual.capacity_max_bytes),
            )
            if given != live
        ]
        if not (least or most) or not changed:
            return
        shrunk = shrinking(self._desired, actual.capacity_bytes, actual.capacity_min_bytes)
        for name, given, live in changed:
            if 0 < most < least:
                why = f"capacity_max {listing.size(most)} is less than capacity_min {listing.size(least)}"
                yield _refused(name, given, live, why, "ask for at least what it has")
            elif shrunk in {name, "capacity_max"}:
                why = f"storage never shrinks, and has {listing.size(actual.capacity_bytes)}"
                yield _refused(name, given, live, why, "ask for at least what it has")
            else:
                yield Difference(field=name, desired=given, actual=live)

    def _fixed(self, field: str, desired: object, actual: object, why: str, effect: Effect = _REPLACED) -> Difference:
        fix = (CREATE_ANEW if desired else COMPLETE_SPEC) if self._made_by_plugin else REGISTER_ANEW
        return Difference(field=field, desired=desired, actual=actual, effect=effect, why=why, fix=fix)


def _refused(field: str, desired: object, actual: object, why: str, fix: str) -> Difference:
    return Difference(field=field, desired=desired, actual=actual, effect="refused", why=why, fix=fix)


def _masked(desired: Mapping[str, str], actual: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return both with secret values (by name or form) masked; a difference between two stays visible."""
    shown = dict(desired), dict(actual)
    for name in desired.keys() | actual.keys():
        values = desired.get(name), actual.get(name)
        if any(value is not None and secrets.is_secret(name, value) for value in values):
            marks = redaction.HIDDEN, redaction.HIDDEN if values[0] == values[1] else _ANOTHER
            for side, value, mark in zip(shown, values, marks, strict=True):
                if value is not None:
                    side[name] = mark
    return shown


def _listed(segments: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    return [dict(each) for each in segments]
