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


def volumes(
    planned: Iterable[model.VolumePlan], keys: Iterable[tuple[str, str]], command: str
) -> tuple[model.VolumePlan, ...]:
    """
    Return those of *planned* that *keys* name, each by its own key or by that of its set, in the order of the spec.

    Raises `usage.UsageError` for a key that names none.
    """
    found = tuple(planned)
    wanted = {"/".join(key) for key in keys}
    own = {item.key for item in found}
    known = own | {set_of(key) for key in own}
    allowed = f"one of {', '.join(sorted(known)) or 'none: the spec has no such volume'}"
    usage.refuse(
        (errors.Problem(path="NAMESPACE/ID", got=repr(key), allowed=allowed) for key in sorted(wanted - known)), command
    )
    sets = wanted - own
    return tuple(item for item in found if item.key in wanted or set_of(item.key) in sets)
