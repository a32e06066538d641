"""
Watch one CSI plugin task: wait until it is ready, register it, look at it now and then. Part of the Nomad emulator.

As in Nomad, only a plugin that never became ready restarts its task; later failures are events and health.
Nomad asks every 5 s at first and every 30 s later; this one is quicker, so that a demonstration is.
Source: hashicorp/nomad, ``client/allocrunner/taskrunner/plugin_supervisor_hook.go`` and
``client/pluginmanager/csimanager/fingerprint.go``, 2026-08-21.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.storage import csi_client, plugins
from nomad_csi_sandbox.nomad.tasks import events

Json = dict[str, Any]

NOT_READY = "plugin is not ready"


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How often plugins are looked at."""

    start_s: float = 0.5
    """Between tries until the first success (Nomad: 5 s)."""

    watch_s: float = 2.0
    """Between later looks (Nomad: 30 s)."""

    answer_s: float = 5.0
    """How long a plugin may take to answer one call, as in Nomad; more where the machine is known to be slow."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """The plugin to watch."""

    config: Json
    """``CSIPluginConfig`` of the task."""

    alloc_id: str
    node_id: str
    socket: str


class Supervisor:
    """One thread for one task. Ends by `stop`, or by itself after it asked for a restart."""

    def __init__(
        self,
        watched: Watched,
        known: state.State,
        *,
        pace: Pace,
        record: Callable[[Json], None],
        restart: Callable[[], None],
    ) -> None:
        self._watched = watched
        self._known = known
        self._pace = pace
        self._record = record
        self._restart = restart
        self._stop = threading.Event()
        self._identity: tuple[str, str] | None = None
        self.unready = csi_client.no_socket(watched.socket)
        """Why the plugin is not ready yet; empty once it is, and after it was said."""
        self._thread = threading.Thread(target=self._run, name=f"csi-{watched.alloc_id[:8]}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it is still watching."""
        return self._thread.is_alive() and not self._stop.is_set()

    def stop(self) -> None:
        """End the watch; a call under way may take its time to return, and is then ignored."""
        self._stop.set()

    def _run(self) -> None:
        if self._await_ready():
            self._watch()

    def _await_ready(self) -> bool:
        timeout_ns = self._watched.config["HealthTimeout"]
        deadline = time.monotonic() + timeout_ns / 1e9
        while not self._stop.is_set():
            left_s = max(0.05, deadline - time.monotonic())
            self.unready = self._try_register(min(self._pace.answer_s, left_s))
            if not self.unready:
                return True
            if time.monotonic() + self._pace.start_s >= deadline:
                break
            self._stop.wait(self._pace.start_s)
        if not self._stop.is_set():
            self._record(events.plugin_never_ready(self.unready))
            self.unready = ""
            self._restart()
        return False

    def _try_register(self, timeout_s: float) -> str:
        """Return the reason why the plugin is not ready yet; empty when it is, and is registered."""
        try:
            with csi_client.connected(self._watched.socket, timeout_s) as client:
                if not client.probe():
                    return NOT_READY
                self._identity = client.plugin_info()
        except csi_client.CsiCallError as error:
            return str(error)
        if not self._stop.is_set():
            watched = self._watched
            plugins.note_ready(self._known, watched.config, watched.node_id, watched.alloc_id)
            self._record(events.plugin_healthy(watched.config["ID"]))
        return ""

    def _watch(self) -> None:
        healthy = True
        while not self._stop.is_set():
            error = self._fingerprint()
            if not self._stop.is_set() and healthy != (not error):
                healthy = not error
                self._record(_health_event(self._watched.config["ID"], error))
            self._stop.wait(self._pace.watch_s)

    def _fingerprint(self) -> str:
        """Ask the plugin everything and note it; return what was wrong."""
        base = self._base()
        found: dict[plugins.Role, Json] = {}
        error = ""
        try:
            with csi_client.connected(self._watched.socket, self._pace.answer_s) as client:
                base |= _health(client.probe()) | client.plugin_capabilities()
                error = "" if base["Healthy"] else NOT_READY
                found = self._roles(client)
        except csi_client.CsiCallError as failure:
            error = str(failure)
            base |= {"Healthy": False, "HealthDescription": f"failed fingerprinting with error: {failure}"}
        if not self._stop.is_set():
            self._note(base, found)
        return error

    def _roles(self, client: csi_client.PluginClient) -> dict[plugins.Role, Json]:
        kind = self._watched.config["Type"]
        found: dict[plugins.Role, Json] = {}
        if kind in {"controller", "monolith"}:
            found["controller"] = {"ControllerInfo": client.controller_info()}
        if kind in {"node", "monolith"}:
            found["node"] = {"NodeInfo": client.node_info()}
        return found

    def _base(self) -> Json:
        provider, version = self._identity or ("", "")
        return {
            "AllocID": self._watched.alloc_id,
            "PluginID": self._watched.config["ID"],
            "Provider": provider,
            "ProviderVersion": version,
            "UpdateTime": clock.rfc3339(clock.now_ns()),
        }

    def _note(self, base: Json, found: dict[plugins.Role, Json]) -> None:
        if found:
            for role, info in found.items():
                plugins.note_instance(self._known, role, self._watched.node_id, base | info, self._watched.socket)
        else:
            plugins.note_failure(self._known, self._watched.alloc_id, base)


def _health(ready: bool) -> Json:
    return {"Healthy": ready, "HealthDescription": "healthy" if ready else "unhealthy"}


def _health_event(plugin_id: str, error: str) -> Json:
    if not error:
        return events.plugin_healthy(plugin_id)
    return events.plugin_unhealthy("" if error == NOT_READY else error)
