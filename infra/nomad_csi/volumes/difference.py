"""Differences between a desired volume and Nomad's record of it, and the effect of a registration on each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi.text import listing

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
        """
        Return ``context: Nomad has {"tier": "slow"}, wanted {"tier": "fast"}``, and why not.

        For lists, the items removed and added: ``capability: removed single-node-writer file-system``.
        """
        if self.actual and self.desired and isinstance(self.actual, list) and isinstance(self.desired, list):
            text = f"{self.field}: {'; '.join(_moved(self.actual, self.desired))}"
        elif self.actual and self.desired and self.field in _SIZES:
            text = f"{self.field}: {listing.size(self.actual)} -> {listing.size(self.desired)}"
        else:
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
    def is_refused_to_plugins(self) -> bool:
        """Whether a volume that its plugin created stays unchanged, with all of its differences."""
        return any(item.effect != "in-place" for item in self.differences)

    @property
    def kind(self) -> Kind:
        """The result of the comparison; the most severe difference decides."""
        if self.is_new:
            return "new"
        found = next((kind for kind in _KINDS.values() if self.differences_of_kind(kind)), None)
        return found or ("hidden" if self.hidden else "equal")


def sentences(differences: Iterable[Difference]) -> tuple[str, ...]:
    """Return *differences* as text, followed by their fixes, each once."""
    found = tuple(differences)
    fixes = dict.fromkeys(item.fix for item in found if item.fix)
    return (*(str(item) for item in found), *fixes)


def _moved(actual: list[Any], desired: list[Any]) -> Iterator[str]:
    """Yield the items removed (*actual* only) and added (*desired* only), as text."""
    for verb, one, other in (("removed", actual, desired), ("added", desired, actual)):
        items = [item if isinstance(item, str) else _shown(item) for item in one if item not in other]
        if items:
            yield f"{verb} {', '.join(items)}"


def _shown(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False) if value else "nothing"
