"""
Clients and plugin instances in numbers, with no process behind them. Part of the Nomad emulator, for measurements.

A job is taken as it is registered; its allocations and what its instances would say are written down as they would be.
Nothing is scheduled, so only what reads is at home here.
"""

import threading
from typing import Any

from nomad_csi_sandbox.nomad import clock, cluster
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.crowds import crowd_allocations
from nomad_csi_sandbox.nomad.storage import plugins
from nomad_csi_sandbox.nomad.tasks import events

Json = dict[str, Any]

ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
ZONE_KEY = "topology.kubernetes.io/zone"


class Crowd:
    """Many clients of a cluster, each with an instance of every plugin of which a job is added."""

    def __init__(self, host: cluster.Cluster, count: int) -> None:
        self._known = host.state
        self._jobs: list[tuple[Json, str, str]] = []
        self._lock = threading.Lock()
        self._next = 0
        for _ in range(count):
            self.join()

    def run(self, source: str, provider: str, version: str) -> None:
        """Add the job of *source*, a system job in HCL, whose plugin answers as *provider* and *version*."""
        with self._lock:
            job = crowd_allocations.registered(self._known, source)
            self._jobs.append((job, provider, version))
            for node_id in list(self._known.nodes):
                self._place(node_id, job, provider, version)

    def join(self) -> str:
        """Let one more client come, with its instances; return its id."""
        with self._lock:
            zone = ZONES[self._next % len(ZONES)]
            spec = nodes.NodeSpec(name=f"client-{self._next:05}", zone=zone, instance_id=f"i-{self._next:017x}")
            self._next += 1
            node = nodes.document(spec, http_address="127.0.0.1:0", now=clock.rfc3339(clock.now_ns()))
            with self._known.lock:
                index = self._known.commit("nodes")
                self._known.nodes[spec.node_id] = node | {"CreateIndex": index, "ModifyIndex": index}
            for job, provider, version in self._jobs:
                self._place(spec.node_id, job, provider, version)
            return spec.node_id

    def leave(self, node_id: str) -> None:
        """Let a client go, as when its machine is ended and forgotten."""
        with self._known.lock:
            for alloc in [alloc for alloc in self._known.allocs.values() if alloc.node_id == node_id]:
                alloc.client_status, alloc.desired_status = "lost", "stop"
                plugins.drop_instances(self._known, alloc.alloc_id)
            del self._known.nodes[node_id]
            self._known.commit("nodes", "allocs")

    def _place(self, node_id: str, job: Json, provider: str, version: str) -> None:
        [plugin_id] = [name for name, _, _ in plugins.plugin_groups(job)]
        told = (events.received(), events.setup("Building Task Directory"), events.started())
        with self._known.lock:
            alloc = crowd_allocations.running(self._known, job, node_id, *told, events.plugin_healthy(plugin_id))
            info = _info(self._known.nodes[node_id], alloc.alloc_id, plugin_id, provider, version)
            plugins.note_instance(self._known, "node", node_id, info, "")


def _info(node: Json, alloc_id: str, plugin_id: str, provider: str, version: str) -> Json:
    zone = node["Attributes"]["platform.aws.placement.availability-zone"]
    return {
        "AllocID": alloc_id,
        "Healthy": True,
        "HealthDescription": "healthy",
        "NodeInfo": {
            "AccessibleTopology": {"Segments": {ZONE_KEY: zone}},
            "ID": node["Attributes"].get("unique.platform.aws.instance-id", ""),
            "MaxVolumes": 0,
            "RequiresNodeStageVolume": False,
        },
        "PluginID": plugin_id,
        "Provider": provider,
        "ProviderVersion": version,
        "RequiresControllerPlugin": False,
        "UpdateTime": clock.rfc3339(clock.now_ns()),
    }
