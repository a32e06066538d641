"""
Propagation of the mount of Nomad's data directory, if the agent is a client on this machine.

Source: proc(5), ``/proc/pid/mountinfo``: a field ``shared:N`` before the dash; path names in octal escapes.
"""

import dataclasses
import re
from pathlib import Path
from typing import Annotated
from urllib import parse

import pydantic

from nomad_csi import nomad
from nomad_csi.nomad import replies, request
from nomad_csi.spec import names

MOUNTS = Path("/proc/self/mountinfo")

_FIELDS = 6
"""Fixed fields of a line: mount point is the fifth, options of the mount the sixth."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Agent(replies.Record):
    node_id: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("stats", "client", "node_id"))] = ""
    data_dir: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("config", "DataDir"))] = ""


def seen_here(client: nomad.Nomad) -> dict[str, str]:
    """
    Return ``shared`` or ``private`` by node id for the client on this machine; empty: there is none.

    Raises `errors.NomadApiError`, and `OSError` where the mounts cannot be read.
    """
    if not names.is_loopback(parse.urlsplit(client.connection.address).hostname or ""):
        return {}
    item = replies.read(client.request("GET", request.path_of("agent", "self")), _Agent)
    text = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    node_id, data_dir = item.node_id, item.data_dir
    if not node_id or not data_dir or not Path(data_dir).is_dir():
        return {}
    return {node_id: propagation(text, str(Path(data_dir).resolve()))}


def propagation(mounts: str, path: str) -> str:
    """Return the propagation of the mount that contains *path*: ``shared`` or ``private``."""
    best, found = -1, "private"
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) <= _FIELDS:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        is_above = point in {"/", path} or path.startswith(f"{point}/")
        if is_above and len(point) >= best:  # of two on one mount point the later one is on top
            options = fields[_FIELDS : fields.index("-")]
            best, found = len(point), "shared" if any(item.startswith("shared:") for item in options) else "private"
    return found
