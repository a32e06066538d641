"""
Whether two volumes may stand for the same storage: one rule for those of a spec and for those of a cluster. Pure.

Nomad counts claims by volume id. Under two ids, two jobs mount the same storage as if each were alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ACCESS_POINT = re.compile(r"fsap-[0-9a-f]+")

SINGLE = "single-node"
"""How the access modes begin that promise a volume to one client."""


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A volume that stands for some storage."""

    name: str
    """``volumes[2]`` or ``prod/mysql``."""

    access_modes: tuple[str, ...] = ()
    """Those it may be claimed with; empty: not known."""

    shares: bool = False
    """Whether the spec says that other volumes stand for it, too."""


def identities(external_id: str) -> tuple[str, ...]:
    """Return what of *external_id* names storage by itself: all of it, and an access point of EFS in it."""
    return external_id, *_ACCESS_POINT.findall(external_id)


def is_same(one: str, other: str) -> bool:
    """Return whether two external ids mean the same storage: equal, or with the same access point of EFS."""
    return not set(identities(one)).isdisjoint(identities(other))


def refusal(wanted: User, other: User) -> str:
    """Return why *wanted* may not stand for storage that *other* stands for, as a fix; empty where it may."""
    for user in (wanted, other):
        single = next((mode for mode in user.access_modes if mode.startswith(SINGLE)), "")
        if single:
            return f"{user.name} is {single}, and by two ids two jobs would mount it as if they were alone"
    return "" if wanted.shares else "set shares_storage: true on it, if both are meant to be the same data"


def is_shareable(access_modes: Iterable[str]) -> bool:
    """Return whether a volume with *access_modes* may share its storage."""
    return not any(mode.startswith(SINGLE) for mode in access_modes)
