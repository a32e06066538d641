"""Find a plugin's controller endpoint: fill the placeholders of a configured endpoint from Nomad."""

from nomad_csi import errors, nomad
from nomad_csi.csi import endpoint, forward, placeholders
from nomad_csi.nomad import nodes, plugins


def find(client: nomad.Nomad, plugin: plugins.Plugin, written: str) -> str:
    """
    Return *written* with a healthy controller of *plugin* filled in; no request without placeholders.

    Of several, use the first whose socket can be opened from here, else the first. Raises `errors.RefusedError` if
    none is healthy.
    """
    if not placeholders.are_in(written):
        return written
    healthy = [item for item in plugin.controllers if item.healthy]
    if not healthy:
        raise errors.RefusedError(f"Nomad has no healthy controller of plugin {plugin.plugin_id}; nothing was changed")
    names = {node.node_id: node.name for node in nodes.list_nodes(client)} if placeholders.NODE_NAME in written else {}
    found = [
        placeholders.fill(
            written,
            {placeholders.ALLOC_ID: item.alloc_id, placeholders.NODE_NAME: names.get(item.node_id, item.node_id)},
        )
        for item in healthy
    ]
    return next((text for text in found if _is_here(text)), found[0])


def _is_here(text: str) -> bool:
    """Return whether *text* is a socket on this machine that can be opened."""
    if text.lower().startswith(forward.SCHEME):
        return False
    where = endpoint.parse(text)
    return where.socket is not None and endpoint.obstacle(where) is None
