"""
Nomad over HTTP: one request function, then jobs, plugins, nodes and volumes; `records` has Nomad's objects.

Only translates and sends. Not a general client: it has only the calls that this package needs, and no volume *delete*.
The two names below are imported when they are first used, so that `records` can be imported without the HTTP library.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nomad_csi.nomad.http.connection import Connection
    from nomad_csi.nomad.http.request import Nomad

__all__ = ["Connection", "Nomad"]

_HOMES = {"Connection": "nomad_csi.nomad.http.connection", "Nomad": "nomad_csi.nomad.http.request"}


def __getattr__(name: str) -> Any:
    """Import *name* from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return found
