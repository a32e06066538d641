"""The Nomad emulator but for its HTTP side: state, scheduler thread, running allocations."""

import base64
import hashlib
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.acl import acl_store
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.jobs import evaluation, job_store, worker
from nomad_csi_sandbox.nomad.storage import csi_supervisor, volume_store
from nomad_csi_sandbox.nomad.tasks import alloc_runner

Json = dict[str, Any]

_FOREVER_S = 3600.0

KEPT_REQUESTS = 10_000
"""Requests in the log for tests; the oldest go first."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a cluster is made of."""

    data_dir: Path
    """Keep it short: ``<data_dir>/client/csi/plugins/<alloc_id>/csi.sock`` may have 107 bytes."""

    nodes: Sequence[nodes.NodeSpec]
    environment: Mapping[str, str] = field(default_factory=alloc_runner.agent_environment)
    """What tasks inherit; default: this process's."""

    token: str = field(default="", repr=False)
    """The token that may do anything; empty: no ACLs."""

    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Other tokens, and the rules (HCL) of the one policy that each has. More are made over HTTP."""

    pace: csi_supervisor.Pace = field(default_factory=csi_supervisor.Pace)


class Cluster:
    """A started emulator. `close` ends every task that it started."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.state = state.State()
        self.acl = acl_store.Acl(settings.token, settings.tokens)
        self.requests: deque[Json] = deque(maxlen=KEPT_REQUESTS)
        self.address = "127.0.0.1:0"
        """Set by whoever serves it."""
        self._runners: dict[str, alloc_runner.AllocRunner] = {}
        self._runners_lock = threading.Lock()
        self._closed = False
        self._host = alloc_runner.Host(
            data_dir=settings.data_dir,
            environment=settings.environment,
            node_environment={},
            pace=settings.pace,
        )
        self._worker = worker.Worker(self._evaluate)
        self._worker.start()
        self._join_nodes()
        self._unblocker = threading.Thread(target=self._unblock, name="unblocker", daemon=True)
        self._unblocker.start()

    def _join_nodes(self) -> None:
        default = {"Description": "Default shared namespace", "Name": "default"}
        self.state.namespaces["default"] = namespace(default, index=1)
        for spec in self.settings.nodes:
            self.join(spec)

    def join(self, spec: nodes.NodeSpec) -> None:
        """Let another client join; jobs that want it are placed on it."""
        self._host.node_environment[spec.node_id] = _inherited(spec, self.settings.data_dir)
        node = nodes.document(spec, http_address=self.address, now=clock.rfc3339(clock.now_ns()))
        with self.state.lock:
            index = self.state.commit("nodes", "csi_plugins")
            self.state.nodes[spec.node_id] = node | {"CreateIndex": index, "ModifyIndex": index}
        self._evaluate_system_jobs()

    def _evaluate_system_jobs(self) -> None:
        with self.state.lock:
            keys = [key for key, record in self.state.jobs.items() if record.spec["Type"] == "system"]
        for key in keys:
            self.evaluate_soon(*key)

    def serve_at(self, address: str) -> None:
        """Note the *address* (``127.0.0.1:4646``) at which the cluster is served."""
        self.address = address
        with self.state.lock:
            for node in self.state.nodes.values():
                node["HTTPAddr"] = address
                node["Attributes"]["unique.advertise.address"] = address

    def evaluate_soon(self, namespace: str, job_id: str) -> None:
        """Have a job evaluated."""
        self._worker.put((namespace, job_id))

    def _unblock(self) -> None:
        """Whenever nodes, plugins or volumes change, have the jobs evaluated that wait for a place."""
        seen = 0
        while not self._closed:
            self.state.wait_for(lambda before=seen: self._closed or self._blocking_index() > before, _FOREVER_S)  # type: ignore[misc]  # a default binds the loop's value
            seen = self._blocking_index()
            volume_store.release_returned(self.state)
            self._evaluate_blocked()

    def _blocking_index(self) -> int:
        with self.state.lock:
            return max(self.state.table_index[table] for table in ("nodes", "csi_plugins", "csi_volumes"))

    def _evaluate_blocked(self) -> None:
        with self.state.lock:
            waiting = [key for key, record in self.state.jobs.items() if _waits(record)]
        for key in waiting:
            self._worker.put(key)

    def _evaluate(self, key: state.Key) -> None:
        outcome = evaluation.apply(self.state, key)
        with self._runners_lock:
            for alloc_id in outcome.stop:
                if alloc_id in self._runners:
                    self._runners[alloc_id].stop()
            for alloc in outcome.start if not self._closed else ():
                self._runners[alloc.alloc_id] = self._run(alloc)
        if outcome.again_in_s is not None:
            self._worker.put(key, outcome.again_in_s)

    def _run(self, alloc: state.Allocation) -> alloc_runner.AllocRunner:
        def ended() -> None:
            job_store.refresh_status(self.state, alloc.namespace, alloc.job_id)
            self.evaluate_soon(alloc.namespace, alloc.job_id)
            self._evaluate_blocked()

        return alloc_runner.AllocRunner(alloc, self.state, self._host, ended)

    def collect_garbage(self) -> None:
        """Forget stopped jobs and ended allocations, as ``PUT /v1/system/gc`` does, and free what they still claim."""
        with self.state.lock:
            dead = [key for key, record in self.state.jobs.items() if record.spec["Stop"] and self._is_over(key)]
            for key in dead:
                job_store.deregister(self.state, *key, purge=True)
            gone = [alloc.alloc_id for alloc in self.state.allocs.values() if _is_collectable(self.state, alloc)]
            for alloc_id in gone:
                del self.state.allocs[alloc_id]
        volume_store.release_ended(self.state)

    def _is_over(self, key: state.Key) -> bool:
        return all(alloc.terminal for alloc in self.state.allocs_of(*key))

    def close(self) -> None:
        """End every task, and wait until all have ended."""
        self._worker.stop()
        with self._runners_lock:
            self._closed = True
            runners = list(self._runners.values())
        self.state.commit()
        self._unblocker.join()
        for runner in runners:
            runner.stop()
        for runner in runners:
            runner.join()


def _waits(record: state.JobRecord) -> bool:
    return not record.spec["Stop"] and (any(record.queued.values()) or bool(record.failures))


def _is_collectable(known: state.State, alloc: state.Allocation) -> bool:
    replaced = alloc.desired_status == "stop" or (alloc.namespace, alloc.job_id) not in known.jobs
    return alloc.terminal and replaced


def _inherited(spec: nodes.NodeSpec, data_dir: Path) -> dict[str, str]:
    """Return what tasks on a node learn of it, and where emulators of drivers keep what storage would hold."""
    found = {"NOMAD_CSI_SANDBOX_ZONE": spec.zone, "NOMAD_CSI_SANDBOX_STORAGE": str(data_dir / "storage")}
    return found | ({"NOMAD_CSI_SANDBOX_INSTANCE_ID": spec.instance_id} if spec.instance_id else {})


def namespace(given: Json, *, index: int) -> Json:
    """Return the body of one namespace."""
    empty = (
        *("Capabilities", "ConsulConfiguration", "Meta", "NodePoolConfiguration", "OptionalExtraClaims"),
        *("RequiredExtraClaims", "VaultConfiguration"),
    )
    own = {"Description": given.get("Description") or "", "Name": given["Name"], "Quota": ""}
    own["Hash"] = base64.b64encode(hashlib.sha256(repr(own).encode()).digest()).decode()  # not Nomad's, but as long
    return dict.fromkeys(empty) | own | {"CreateIndex": index, "ModifyIndex": index}
