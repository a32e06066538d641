"""
Compare versions like Nomad's constraint operators ``version`` and ``semver`` (order of Semantic Versioning).

``semver`` treats a pre-release like any other version. Nomad accepted the conditions when the job was registered.
Source: hashicorp/go-version v1.9.0, ``version.go`` and ``constraint.go``; hashicorp/nomad,
``helper/constraints/semver/constraints.go``, 2026-08-21.
"""

import functools
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["version", "semver"]

_CORE = r"v?(\d{1,18}(?:\.\d{1,18})*)"
_WORDS = r"[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*"
_BUILD = r"(?:\+[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*)?"
_VERSION = re.compile(rf"{_CORE}(?:-(\d+{_WORDS})|-?([A-Za-z~-]+{_WORDS}))?{_BUILD}", re.ASCII)
_CONDITION = re.compile(r"\s*(<=|>=|!=|~>|<|>|=|)\s*(.*?)\s*", re.DOTALL)
_LEAST_SEGMENTS = 3


@functools.total_ordering
@dataclass(frozen=True, kw_only=True)
class Version:
    """A version: ``1.2-beta`` is ``(1, 2, 0)`` with two segments written and the pre-release ``beta``."""

    segments: tuple[int, ...]
    """At least three."""

    written: int = field(compare=False)
    """Number of segments in the text."""

    prerelease: str = ""

    def __lt__(self, other: "Version") -> bool:
        """Return whether this version is lower; a release is higher than its pre-releases, a word than a number."""
        return self._rank < other._rank

    @property
    def _rank(self) -> tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]:
        parts = self.prerelease.split(".")
        ranks = tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in parts)
        return self.segments, not self.prerelease, ranks


def parse(text: str) -> Version | None:
    """Return the version in *text*; ``None`` where it is invalid."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    segments = tuple(map(int, match[1].split(".")))
    padded = segments + (0,) * (_LEAST_SEGMENTS - len(segments))
    return Version(segments=padded, written=len(segments), prerelease=match[2] or match[3] or "")


def fits(version: str, conditions: str, kind: Kind) -> bool:
    """Return whether *version* meets all *conditions*; ``False`` where either is invalid."""
    parsed = parse(version)
    required = [_condition(part) for part in conditions.split(",")]
    return parsed is not None and all(item is not None and _meets(parsed, *item, kind) for item in required)


def _condition(text: str) -> tuple[str, Version] | None:
    match = _CONDITION.fullmatch(text)
    version = parse(match[2]) if match else None
    return (match[1] or "=", version) if match and version else None


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _meets(version: Version, sign: str, wanted: Version, kind: Kind) -> bool:
    # ``version`` orders a pre-release only among those of the same version.
    is_ordered = sign not in ("=", "!=")
    is_same = bool(wanted.prerelease) and version.segments == wanted.segments
    if is_ordered and kind == "version" and version.prerelease and not is_same:
        return False
    if sign == "~>":  # differs only from the last written segment on
        fixed = wanted.written - 1
        return version >= wanted and version.segments[:fixed] == wanted.segments[:fixed]
    return _OPERATORS[sign](version, wanted)
