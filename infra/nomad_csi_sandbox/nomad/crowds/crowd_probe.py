"""
A crowd that answers the probe job: each placed probe ends at once. Part of the Nomad emulator, for measurements.

No process runs and no socket is asked: what is written into a probe's log is what the crowd's instances would say.
"""

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.nomad import cluster, state
from nomad_csi_sandbox.nomad.crowds import crowd
from nomad_csi_sandbox.nomad.jobs import job_store

Json = dict[str, Any]


class Answering(cluster.Cluster):
    """A cluster whose tasks are never started: they are probes, and have answered."""

    silent: Collection[str] = ()
    """Clients whose instances hang, whatever Nomad calls them."""

    full: Collection[str] = ()
    """Clients on which the probe never begins."""

    def _run(self, alloc: state.Allocation) -> Any:
        if alloc.node_id not in self.full:
            logs = Path(self.settings.data_dir, "alloc", alloc.alloc_id, "alloc", "logs")
            logs.mkdir(parents=True)
            [task] = alloc.group["Tasks"]
            with self.state.lock:
                said = {"folder": "/plugins", "problem": "", "reports": dict(self._reports(alloc.node_id))}
                (logs / f"{task['Name']}.stdout.0").write_text(json.dumps(said), encoding="utf-8")
                alloc.tasks = {task["Name"]: state.TaskState(state="dead")}
                alloc.client_status = "complete"
                alloc.modify_index = self.state.commit("allocs")
            job_store.refresh_status(self.state, alloc.namespace, alloc.job_id)
        return _Over(alloc)

    def _reports(self, node_id: str) -> list[tuple[str, Json]]:
        found = []
        for plugin in self.state.plugins.values():
            for role, instances in (("controller", plugin.controllers), ("node", plugin.nodes)):
                if node_id in instances:
                    info = instances[node_id]
                    found.append((info["AllocID"], _report(role, info, is_silent=node_id in self.silent)))
        return found


class _Over:
    """A probe that has ended, or that never began and ends when it is told to."""

    def __init__(self, alloc: state.Allocation) -> None:
        self._alloc = alloc

    def stop(self) -> None:
        """End it."""
        if not self._alloc.terminal:
            self._alloc.client_status = "complete"

    def join(self, timeout_s: float | None = None) -> bool:
        """Return that it has ended."""
        del timeout_s
        return True


def _report(role: str, info: Json, *, is_silent: bool) -> Json:
    """Return what ``nomad-csi csi probe --folder --json`` prints of one instance."""
    place = info.get("NodeInfo", {}).get("AccessibleTopology", {}).get("Segments", {crowd.ZONE_KEY: ""})
    words = {"status": "silent", "detail": "Probe: no answer within 5 s"} if is_silent else {"status": "ready"}
    empty = {
        "endpoint": os.path.join("/plugins", info["AllocID"], "csi.sock"),  # noqa: PTH118  # a client's path, not ours
        "ready": not is_silent,
        "detail": "every question was answered as expected",
        "latency_ms": 5.0,
        "name": info["Provider"],
        "vendor_version": info["ProviderVersion"],
        "plugin_capabilities": ["VOLUME_ACCESSIBILITY_CONSTRAINTS"],
        "controller_capabilities": ["PUBLISH_UNPUBLISH_VOLUME"] if role == "controller" else None,
        "node_capabilities": ["STAGE_UNSTAGE_VOLUME"] if role == "node" else None,
        "node_id": info.get("NodeInfo", {}).get("ID", ""),
        "segments": place if role == "node" else {},
        "max_volumes": None,
    }
    return empty | words
