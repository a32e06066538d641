"""Findings on clients with claimed volumes that drain, or run no healthy instance of the volumes' plugin. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi import findings
from nomad_csi.findings import causes
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.text import listing

RUN_AGAIN = (
    "run the plugin on this client again: start its node job with `pulumi up`, or `nomad-csi apply` and the spec; "
    "`nomad-csi verify` shows why an instance is not healthy"
)
"""What to do where a ready client has no healthy instance."""

_Held = dict[str, list[tuple[volumes.Volume, volumes.Claim]]]


def check(
    held: Iterable[volumes.Volume],
    running: Mapping[str, plugins.Plugin | None],
    clients: Iterable[nodes.Node],
) -> Iterator[findings.Finding]:
    """
    Yield findings on claims of the volumes *held* on clients that drain, or have no healthy node plugin for them.

    *running*: their plugins by id; ``None`` or absent: Nomad has none of that id. A client that is not ready is not
    checked here: its claims are `claim-node-down`.
    """
    claimed = [volume for volume in held if volume.claims]
    by_client: _Held = defaultdict(list)
    for volume in claimed:
        for claim in volume.claims:
            by_client[claim.node_id].append((volume, claim))
    ready = [node for node in clients if node.status == "ready"]
    for node in sorted(ready, key=lambda item: (item.name, item.node_id)):
        yield from _client_findings(node, by_client[node.node_id], running)
    draining = {node.node_id: node for node in ready if node.draining}
    for plugin_id in sorted({volume.plugin_id for volume in claimed}):
        own = [volume for volume in claimed if volume.plugin_id == plugin_id]
        yield from _controller_findings(plugin_id, running.get(plugin_id), own, draining)


def _client_findings(
    node: nodes.Node,
    held: list[tuple[volumes.Volume, volumes.Claim]],
    running: Mapping[str, plugins.Plugin | None],
) -> Iterator[findings.Finding]:
    is_leaving = node.draining or not node.eligible
    state = "draining" if node.draining else "not eligible for scheduling" if is_leaving else "ready"
    live = [volume for volume, claim in held if claim.client_status not in volumes.ENDED]
    if live and is_leaving:
        yield findings.finding(
            "claim-node-draining",
            f"client {node.name}",
            found=f"{state}; allocations there claim {_named(live)}",
            about=_subjects(live),
            names={"CLIENT": node.node_id[:8]},
            links=(causes.of_client(node.node_id),),
        )
    for plugin_id in sorted({volume.plugin_id for volume, _ in held}):
        plugin = running.get(plugin_id)
        if any(item.node_id == node.node_id and item.healthy for item in (plugin.nodes if plugin else ())):
            continue
        stranded = [volume for volume, _ in held if volume.plugin_id == plugin_id]
        yield findings.finding(
            "claim-without-node-plugin",
            f"plugin {plugin_id} on {node.name}",
            expected="a healthy instance until nothing there claims its volumes",
            found=f"none; the client is {state}, and {_named(stranded)} claimed there",
            about=_subjects(stranded),
            advice="" if is_leaving else RUN_AGAIN,
            names={"CLIENT": node.node_id[:8]},
            links=(f"node instance of plugin {plugin_id} on {node.name}", causes.of_all_nodes(plugin_id)),
        )


def _controller_findings(
    plugin_id: str,
    plugin: plugins.Plugin | None,
    claimed: list[volumes.Volume],
    draining: Mapping[str, nodes.Node],
) -> Iterator[findings.Finding]:
    healthy = [item.node_id for item in (plugin.controllers if plugin else ()) if item.healthy]
    if healthy and all(node_id in draining for node_id in healthy):
        names = ", ".join(sorted(draining[node_id].name for node_id in healthy))
        yield findings.finding(
            "controller-draining",
            f"plugin {plugin_id}",
            expected="a healthy controller on a client that is not drained",
            found=f"all on draining clients ({names}); {_named(claimed)} claimed",
            about=_subjects(claimed),
            links=(causes.of_role(plugin_id, "controller"),),
        )


def _named(found: Iterable[volumes.Volume]) -> str:
    """Return ``default/a, default/b and 3 more``."""
    return listing.shortened(sorted({volume.key for volume in found}))


def _subjects(found: Iterable[volumes.Volume]) -> tuple[str, ...]:
    return tuple(sorted({f"volume {volume.namespace}/{volume.volume_id}" for volume in found}))
