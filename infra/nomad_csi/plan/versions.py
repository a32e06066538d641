"""
Compare versions like Nomad's constraint operators ``version`` and ``semver`` (order of Semantic Versioning).

``semver`` treats a pre-release like any other version. Nomad accepted the conditions when the job was registered.
Source: hashicorp/go-version v1.9.0, ``version.go`` and ``constraint.go``; hashicorp/nomad,
``helper/constraints/semver/constraints.go``, 2026-08-21.
"""

import itertools
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["version", "semver"]

_CORE = r"v?(\d{1,18}(?:\.\d{1,18})*)"
_WORDS = r"[0-9A-Za-z~-]*(?:\.[0-9A-Za-z~-]+)*"
_BUILD = r"(?:\+[0-9A-Za-z~-]+(?:\.[0-9A-Za-z~-]+)*)?"
_VERSION = re.compile(rf"{_CORE}(?:-(\d+{_WORDS})|-?([A-Za-z~-]+{_WORDS}))?{_BUILD}", re.ASCII)
_CONDITION = re.compile(r"\s*(<=|>=|!=|~>|<|>|=|)\s*(.*?)\s*", re.DOTALL)
_LEAST_SEGMENTS = 3


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version: ``1.2-beta`` is ``(1, 2, 0)`` with two segments written and the pre-release ``beta``."""

    segments: tuple[int, ...]
    """At least three."""

    written: int
    """Number of segments in the text."""

    prerelease: str = ""

    def compare(self, other: "Version") -> int:
        """Return -1, 0 or 1: this version is lower than, equal to or higher than *other*."""
        if self.segments == other.segments:
            return _compare_prereleases(self.prerelease, other.prerelease)
        length = max(len(self.segments), len(other.segments))
        mine, theirs = (item.segments + (0,) * (length - len(item.segments)) for item in (self, other))
        return _order(mine, theirs)


def parse(text: str) -> Version | None:
    """Return the version in *text*; ``None`` where it is invalid."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    segments = tuple(map(int, found[1].split(".")))
    padded = segments + (0,) * (_LEAST_SEGMENTS - len(segments))
    return Version(segments=padded, written=len(segments), prerelease=found[2] or found[3] or "")


def fits(version: str, conditions: str, kind: Kind) -> bool:
    """Return whether *version* meets all *conditions*; ``False`` where either is invalid."""
    found = parse(version)
    parsed = [_condition(part) for part in conditions.split(",")]
    return found is not None and all(item is not None and _meets(found, *item, kind) for item in parsed)


def _condition(text: str) -> tuple[str, Version] | None:
    found = _CONDITION.fullmatch(text)
    version = parse(found[2]) if found else None
    return (found[1] or "=", version) if found and version else None


def _meets(version: Version, sign: str, wanted: Version, kind: Kind) -> bool:
    if sign == "~>":
        return _is_near(version, wanted)
    order = version.compare(wanted)
    if kind == "version" and sign in _ORDERS and not _comparable(version, wanted):
        return False
    return _CHECKS[sign](order, 0)


_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CHECKS: Mapping[str, Callable[[int, int], bool]] = {"=": operator.eq, "!=": operator.ne, **_ORDERS}


def _comparable(version: Version, wanted: Version) -> bool:
    """Return whether the two may be compared: a pre-release only with a pre-release of the same version."""
    if not version.prerelease:
        return True
    return bool(wanted.prerelease) and version.segments == wanted.segments


def _is_near(version: Version, wanted: Version) -> bool:
    """Return whether *version* is at least *wanted*, and differs only from its last written segment on."""
    if not _comparable(version, wanted) or (wanted.prerelease and not version.prerelease):
        return False
    if version.compare(wanted) < 0 or len(wanted.segments) > len(version.segments):
        return False
    fixed = wanted.written - 1
    last = len(wanted.segments) - 1
    return version.segments[:fixed] == wanted.segments[:fixed] and wanted.segments[last] <= version.segments[last]


def _compare_prereleases(mine: str, theirs: str) -> int:
    if not mine or not theirs:
        return _order(not mine, not theirs)  # a release is higher than its pre-releases
    pairs = itertools.zip_longest(mine.split("."), theirs.split("."), fillvalue="")
    return next((order for pair in pairs if (order := _compare_parts(*pair))), 0)


def _compare_parts(mine: str, theirs: str) -> int:
    """Compare one part of each: missing is lower than a number, a number than a word, a word than missing."""
    if not mine or not theirs:
        there = 1 if (mine or theirs).isdecimal() else -1
        return there if mine else -there
    if mine.isdecimal() != theirs.isdecimal():
        return -1 if mine.isdecimal() else 1
    return _order(int(mine), int(theirs)) if mine.isdecimal() else _order(mine, theirs)


def _order(mine: Any, theirs: Any) -> int:
    return int(mine > theirs) - int(mine < theirs)
