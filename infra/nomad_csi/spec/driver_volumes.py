"""What a driver takes of a volume: the keys of its maps, and how its external ids look."""

import re
from collections.abc import Mapping
from typing import TypeVar

import pydantic

from nomad_csi.spec import base

ValueT = TypeVar("ValueT")


class KeysSpec(base.Model):
    """Which keys a map of the volume may have."""

    allowed: frozenset[base.Text] | None = None
    """Keys that the driver accepts; ``None``: it tolerates unknown keys. ``a*`` allows all keys with prefix ``a``."""

    ignore_case: bool = False
    """Whether the driver ignores the case of keys."""

    required: frozenset[base.Text] = frozenset()
    """Keys without which the volume cannot be used."""

    values: dict[base.Text, frozenset[base.Text]] = pydantic.Field(default_factory=dict)
    """Keys that accept only certain values, with these values."""

    required_with: dict[base.Text, dict[base.Text, frozenset[base.Text]]] = pydantic.Field(default_factory=dict)
    """Keys that another key requires: by that key, then by its value. Of ``a|b``, either key is enough."""

    refused: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Keys that look right but are wrong, each with the fix."""

    settings: frozenset[base.Text] = frozenset()
    """Keys that say how a volume is used, never which data it holds. With ``protect``, no other key may change."""

    meanings: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """What keys are for, in words."""

    def missing(self, values: Mapping[str, str]) -> dict[str, str]:
        """
        Return the keys that *values* lacks, each with the key that calls for it; with nothing where it always must be.

        Of alternatives, such as ``a|b``, the whole text is returned.
        """
        wanted = dict.fromkeys(self.required, "")
        for key, by_value in self.required_with.items():
            for other in by_value.get(values.get(key, ""), ()):
                wanted.setdefault(other, key)
        given = {self._fold(key) for key in values}
        return {
            key: cause
            for key, cause in sorted(wanted.items())
            if given.isdisjoint(self._fold(one) for one in key.split("|"))
        }

    def takes(self, key: str) -> bool:
        """Return whether the driver takes *key*."""
        if self.allowed is None:
            return True
        fold = self._fold
        return any(
            fold(key).startswith(fold(known[:-1])) if known.endswith("*") else fold(key) == fold(known)
            for known in self.allowed
        )

    def entry(self, table: Mapping[str, ValueT], key: str) -> ValueT | None:
        """Return what *table* has for *key*, as the driver compares keys; ``None`` where it has nothing."""
        return next((value for name, value in table.items() if self._fold(name) == self._fold(key)), None)

    def is_setting(self, key: str) -> bool:
        """Return whether *key* never says which data a volume is."""
        return self._fold(key) in {self._fold(name) for name in self.settings}

    def _fold(self, key: str) -> str:
        return key.lower() if self.ignore_case else key


class ExternalIdFormSpec(base.Model):
    """A form of external ids for which other rules apply than for the usual form."""

    prefix: base.Word
    """How such ids begin."""

    text: base.Text = ""
    """What they mean."""

    flag: base.Word | None = None
    """Flag that the controller or monolith needs for such ids, without dashes; ``None``: none."""

    capabilities: tuple[base.CapabilitySpec, ...] = ()
    """Capabilities that such volumes have in addition to the driver's."""

    context: KeysSpec | None = None
    """Keys of the context, in place of the driver's; ``None``: the same."""

    zoned: bool = True
    """Whether such a volume is bound to a zone, if the driver's volumes are."""


class ExternalIdSpec(base.Model):
    """What external ids of this driver's storage provider look like."""

    pattern: base.Expression = r".+"
    """Regular expression for the whole id."""

    allowed: base.Text = "the storage provider's id of the volume"
    """The pattern in words, with an example."""

    forms: tuple[ExternalIdFormSpec, ...] = ()
    """Forms of the id for which other rules apply."""

    def fits(self, external_id: str) -> bool:
        """Return whether *external_id* looks as it should."""
        return re.fullmatch(self.pattern, external_id) is not None

    def form(self, external_id: str) -> ExternalIdFormSpec | None:
        """Return the form that *external_id* has; ``None`` for the usual one."""
        return next((form for form in self.forms if external_id.startswith(form.prefix)), None)
