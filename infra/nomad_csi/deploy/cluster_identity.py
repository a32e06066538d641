"""
Which cluster and region answers: an id of our own in a Nomad variable, made once.

An address says little: it changes while the cluster stays, and it stays while the cluster behind it is another. A
region's name is ``global`` nearly everywhere, and the id that Nomad gives a cluster is in no answer (hashicorp/nomad,
``nomad/server.go``, ``ClusterMetadata``, 2026-08-21). Variables are kept by the servers of one region, so this id is
the region's: it survives new servers and a restored snapshot, and no other region has it.
"""

import threading
import time
import uuid
import weakref
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.nomad import variables

PATH = "nomad-csi/cluster"
NAMESPACE = "default"
"""The namespace that every cluster has; a namespace with a variable in it cannot be deleted."""

ITEM = "id"

ABSENT_S = 5.0
"""How long an absent id is not looked for again."""


class _Identity:
    """What is known of the identity of one cluster."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value = ""
        self.tried_at = {False: -ABSENT_S, True: -ABSENT_S}
        """When it was last looked for, and when it was last to be made."""


_LOCK = threading.Lock()
_KNOWN: weakref.WeakKeyDictionary[nomad.Nomad, _Identity] = weakref.WeakKeyDictionary()


def of(client: nomad.Nomad, *, make: bool = False) -> str:
    """
    Return the identity of the cluster of *client*; empty where it has none, or the token may not read it.

    Where *make*, one that has none is given one, if the token may. Raises `errors.NomadApiError` where Nomad does not
    answer.
    """
    with _LOCK:
        known = _KNOWN.setdefault(client, _Identity())
    with known.lock:
        if not known.value and time.monotonic() - known.tried_at[make] > ABSENT_S:
            known.value = _allowed(client, make=make)
            known.tried_at[make] = time.monotonic()
        return known.value


def is_another(recorded: str, found: str) -> bool:
    """Return whether what was *recorded* in one cluster is looked for in another; unknown ones are none."""
    return bool(recorded and found) and recorded != found


def _allowed(client: nomad.Nomad, *, make: bool) -> str:
    try:
        found = _read(client)
        if found or not make:
            return found
        variables.put(client, NAMESPACE, PATH, {ITEM: str(uuid.uuid4())}, index=variables.NEW)
        return _read(client)  # ours, or that of one who was faster
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return ""


def _read(client: nomad.Nomad) -> str:
    found = variables.get(client, NAMESPACE, PATH)
    return found.items.get(ITEM, "") if found else ""
