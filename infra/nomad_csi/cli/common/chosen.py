"""Volumes of a spec that the words of a command name."""

import re
from collections.abc import Iterable

from nomad_csi import errors
from nomad_csi.cli.common import usage
from nomad_csi.plan import model

_INDEX = re.compile(r"\[\d+\]$")
"""Behind the id of each volume of a set."""


def set_of(key: str) -> str:
    """Return the set that the volume *key* is of: ``default/data`` for ``default/data[0]``; itself where of none."""
    return _INDEX.sub("", key)


def volumes(planned: Iterable[model.VolumePlan], keys: Iterable[tuple[str, str]]) -> tuple[model.VolumePlan, ...]:
    """
    Return those of *planned* that *keys* name, each by its own key or by that of its set, in the order of the spec.

    A key without a namespace names the one volume of that id. Raises `usage.UsageError` for a key that names none.
    """
    found = tuple(planned)
    own = {item.key for item in found}
    known = own | {set_of(key) for key in own}
    named = {"/".join(filter(None, key)): _meant(known, *key) for key in keys}
    problems = [
        errors.Problem(path="VOLUME", got=repr(text), allowed=_allowed(meant or known), fix=_nearest(text, known))
        for text, meant in sorted(named.items())
        if len(meant) != 1
    ]
    usage.refuse(problems)
    wanted = set().union(*named.values())
    sets = wanted - own
    return tuple(item for item in found if item.key in wanted or set_of(item.key) in sets)


def _meant(known: set[str], namespace: str, volume_id: str) -> set[str]:
    return {key for key in known if key == f"{namespace or key.partition('/')[0]}/{volume_id}"}


def _nearest(text: str, known: set[str]) -> str:
    return usage.nearest(text, known if "/" in text else {key.partition("/")[2] for key in known})


def _allowed(keys: Iterable[str]) -> str:
    return f"one of {', '.join(sorted(keys)) or 'none: the spec has no such volume'}"
