"""
How the mount that holds Nomad's data is propagated, where the agent that answers is a client on this machine.

Source: proc(5), ``/proc/pid/mountinfo``: a field ``shared:N`` before the dash; path names in octal escapes.
"""

import re
from http import HTTPStatus
from pathlib import Path
from urllib import parse

from nomad_csi import errors, nomad
from nomad_csi.doctor import model
from nomad_csi.nomad.http import replies, request

MOUNTS = Path("/proc/self/mountinfo")

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_FIELDS = 6
"""Fixed fields of a line: mount point is the fifth, options of the mount the sixth."""


def seen_here(client: nomad.Nomad) -> dict[str, str] | model.Unknown:
    """
    Return ``shared`` or ``private`` by node id for the client on this machine; nothing where there is none.

    Who may not ask the agent of itself need not: it is one of several ways to see it.
    """
    if parse.urlsplit(client.connection.address).hostname not in _LOOPBACK:
        return {}
    path = request.path_of("agent", "self")
    try:
        item = replies.checked(client.request("GET", path))
        text = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except errors.NomadApiError as error:
        return model.Unknown(reason=str(error), is_expected=error.status == HTTPStatus.FORBIDDEN)
    except OSError as error:
        return model.Unknown(reason=f"{MOUNTS} cannot be read: {error.strerror}")
    node_id = replies.text(replies.table(replies.table(item, "stats"), "client"), "node_id")
    data_dir = replies.text(replies.table(item, "config"), "DataDir")
    if not node_id or not data_dir or not Path(data_dir).is_dir():
        return {}
    return {node_id: propagation(text, str(Path(data_dir).resolve()))}


def propagation(mounts: str, path: str) -> str:
    """Return how the mount that holds *path* is propagated: ``shared`` or ``private``."""
    best, found = -1, "private"
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) <= _FIELDS:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        is_above = point in {"/", path} or path.startswith(f"{point}/")
        if is_above and len(point) >= best:  # of two at one place the later one lies on top
            options = fields[_FIELDS : fields.index("-")]
            best, found = len(point), "shared" if any(item.startswith("shared:") for item in options) else "private"
    return found
