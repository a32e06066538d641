"""
Find a plugin's controller endpoint: fill the placeholders of a configured endpoint from Nomad.

The socket path of a plugin has the id of its allocation, which changes with each change of the job. So an
endpoint in a spec has ``{alloc_id}``, and ``{node_name}`` for the client, as ``ssh`` knows it.
"""

from nomad_csi import errors, nomad
from nomad_csi.csi import endpoint, forward
from nomad_csi.nomad import nodes, plugins

ALLOC_ID = "{alloc_id}"
NODE_NAME = "{node_name}"

_SAMPLE = {ALLOC_ID: "00000000-0000-0000-0000-000000000000", NODE_NAME: "client-1"}


def check(written: str) -> None:
    """Raise `errors.CsiError` if *written* is no endpoint, for any values of its placeholders."""
    forward.check(_filled(written, _SAMPLE))


def find(client: nomad.Nomad, plugin: plugins.Plugin, written: str) -> str:
    """
    Return *written* with a healthy controller of *plugin* filled in; no request without placeholders.

    Of several, use the first whose socket can be opened from here, else the first. Raises `errors.RefusedError` if
    none is healthy.
    """
    if not any(place in written for place in _SAMPLE):
        return written
    healthy = [item for item in plugin.controllers if item.healthy]
    if not healthy:
        raise errors.RefusedError(f"Nomad has no healthy controller of plugin {plugin.plugin_id}; nothing was changed")
    names = {node.node_id: node.name for node in nodes.list_nodes(client)} if NODE_NAME in written else {}
    found = [
        _filled(written, {ALLOC_ID: item.alloc_id, NODE_NAME: names.get(item.node_id, item.node_id)})
        for item in healthy
    ]
    return next((text for text in found if _is_here(text)), found[0])


def _filled(written: str, values: dict[str, str]) -> str:
    for place, value in values.items():
        written = written.replace(place, value)
    return written


def _is_here(text: str) -> bool:
    """Return whether *text* is a socket on this machine that can be opened."""
    if text.lower().startswith(forward.SCHEME):
        return False
    where = endpoint.parse(text)
    return where.socket is not None and endpoint.obstacle(where) is None
