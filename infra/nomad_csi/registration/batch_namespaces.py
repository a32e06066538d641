"""
Volumes in namespaces that Nomad does not have, found before anything is sent.

Nomad checks the namespace only when it stores a volume. By then the batches of other namespaces may be in, and a
wrong name is as often the wrong cluster.
"""

import difflib
from collections.abc import Iterable, Iterator
from itertools import groupby

from nomad_csi import errors, nomad
from nomad_csi.nomad import namespaces, volume_lookup
from nomad_csi.text import listing

NAMED = 3
"""Volumes that are named for each namespace; the others are counted."""


def check(client: nomad.Nomad, keys: Iterable[volume_lookup.Key]) -> None:
    """
    Raise `errors.SpecError` where Nomad says that it lacks namespaces of *keys*; all of them are named.

    Raises `errors.NomadApiError` where nobody answers.
    """
    wanted = tuple(keys)
    missing = namespaces.missing(client, (namespace for namespace, _ in wanted))
    if problems := tuple(_problems(wanted, missing)):
        raise errors.SpecError(problems, client.connection.address)


def fix(namespace: str, there: Iterable[str]) -> str:
    """Return what to do about a *namespace* that is not *there*."""
    close = difflib.get_close_matches(namespace, tuple(there), n=1)
    other = f"did you mean {close[0]}" if close else "name another, or another cluster"
    return f"{other}; or make it first with `nomad namespace apply {namespace}`"


def _problems(wanted: Iterable[volume_lookup.Key], missing: namespaces.Missing) -> Iterator[errors.Problem]:
    inside = sorted(key for key in wanted if key[0] in missing.names)
    for namespace, group in groupby(inside, key=lambda key: key[0]):
        yield errors.Problem(
            path=_volumes(["/".join(key) for key in group]),
            got=repr(namespace),
            allowed=namespaces.one_of(missing.there),
            fix=fix(namespace, missing.there),
        )


def _volumes(names: list[str]) -> str:
    return f"{'volume' if len(names) == 1 else 'volumes'} {listing.shortened(names, NAMED)}"
