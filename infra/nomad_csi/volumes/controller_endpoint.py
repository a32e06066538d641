"""Find a plugin's controller endpoint: fill the placeholders of a configured endpoint from Nomad."""

from nomad_csi import errors, nomad
from nomad_csi.csi import endpoint, forward
from nomad_csi.nomad import nodes, plugins


def find(client: nomad.Nomad, plugin: plugins.Plugin, written: str) -> str:
    """
    Return *written* with a healthy controller of *plugin* filled in; no request without placeholders.

    Of several, use the first whose socket can be opened from here, else the first. Raises `errors.RefusedError` if
    none is healthy.
    """
    if not forward.has_placeholders(written):
        return written
    healthy = [item for item in plugin.controllers if item.healthy]
    if not healthy:
        raise errors.RefusedError(f"Nomad has no healthy controller of plugin {plugin.plugin_id}; nothing was changed")
    names = {node.node_id: node.name for node in nodes.list_nodes(client)} if forward.NODE_NAME in written else {}
    found = [
        forward.fill(
            written,
            {forward.ALLOC_ID: item.alloc_id, forward.NODE_NAME: names.get(item.node_id, item.node_id)},
        )
        for item in healthy
    ]
    return next((text for text in found if _is_here(text)), found[0])


def _is_here(text: str) -> bool:
    """Return whether *text* is a socket on this machine that can be opened."""
    if text.lower().startswith(forward.SCHEME):
        return False
    where = endpoint.parse(text)
    try:
        endpoint.check(where)
    except endpoint.ObstacleError:
        return False
    return where.socket is not None
