"""One allocation on its node: volumes claimed, tasks run, volumes released. Part of the Nomad emulator.

Source: hashicorp/nomad, ``client/allocrunner/alloc_runner.go``, ``client/allocrunner/csi_hook.go``, 2026-08-21.
"""

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.storage import claims, csi_supervisor, plugins, volume_store
from nomad_csi_sandbox.nomad.tasks import events, task_env, task_runner

ALLOCS = "allocs"


@dataclass(frozen=True, kw_only=True)
class Host:
    """What allocations find on the machine."""

    data_dir: Path
    environment: Mapping[str, str]
    """The agent's own: raw_exec tasks inherit it."""

    node_environment: dict[str, Mapping[str, str]]
    """What tasks inherit besides, by node id."""

    pace: csi_supervisor.Pace


class AllocRunner:
    """Runs one allocation in a thread of its own, from construction until it is terminal."""

    def __init__(self, alloc: state.Allocation, known: state.State, host: Host, ended: Callable[[], None]) -> None:
        self._alloc = alloc
        self._known = known
        self._host = host
        self._ended = ended
        self._stopping = threading.Event()
        self._siblings: threading.Thread | None = None
        with known.lock:
            alloc.tasks = {task["Name"]: state.TaskState() for task in alloc.group["Tasks"]}
        self._runners = {task["Name"]: self._runner(task["Name"]) for task in alloc.group["Tasks"]}
        self._thread = threading.Thread(target=self._run, name=f"alloc-{alloc.alloc_id[:8]}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask for the end, and return at once."""
        self._stopping.set()
        threading.Thread(target=self._kill_all, name=f"kill-{self._alloc.alloc_id[:8]}", daemon=True).start()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; return whether it came."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _runner(self, name: str) -> task_runner.TaskRunner:
        alloc = self._alloc
        task = next(task for task in alloc.group["Tasks"] if task["Name"] == name)
        inherited = {**self._host.environment, **self._host.node_environment.get(alloc.node_id, {})}
        place = task_env.TaskPlace(
            alloc_id=alloc.alloc_id,
            alloc_name=alloc.name,
            alloc_index=alloc.index,
            node=self._known.nodes[alloc.node_id],
            job=alloc.job,
            group=alloc.group,
            task=task,
            alloc_dir=self._host.data_dir / "alloc" / alloc.alloc_id,
            csi_socket=self._socket() if task["CSIPluginConfig"] else None,
            client_environment=inherited,
        )
        return task_runner.TaskRunner(
            place, self._known, alloc.tasks[name], pace=self._host.pace, changed=self._task_changed
        )

    def _socket(self) -> Path:
        return self._host.data_dir / "client" / "csi" / "plugins" / self._alloc.alloc_id / "csi.sock"

    def _run(self) -> None:
        for runner in self._runners.values():
            runner.record(events.received())
        try:
            self._claim()
            self._make_stage_dirs()
        except volume_store.ClaimError as error:
            self._fail(f'failed to setup alloc: pre-run hook "csi_hook" failed: {error}')
        else:
            self._run_tasks()
        volume_store.release(self._known, self._alloc)
        plugins.collect(self._known)
        shutil.rmtree(self._host.data_dir / "alloc" / self._alloc.alloc_id / "alloc" / "tmp", ignore_errors=True)
        self._ended()

    def _run_tasks(self) -> None:
        for runner in self._runners.values():
            runner.start()
        for runner in self._runners.values():
            runner.join()

    def _claim(self) -> None:
        requests = claims.requests(self._alloc.group)
        if requests and not any(task["Driver"] in {"exec", "docker", "java"} for task in self._alloc.group["Tasks"]):
            raise volume_store.ClaimError("no task supports CSI")
        for request in requests:
            try:
                volume_store.claim(self._known, self._alloc, request)
            except volume_store.ClaimError as error:
                raise volume_store.ClaimError(f"claiming volumes: {error}") from error

    def _make_stage_dirs(self) -> None:
        """Make the folder in which a plugin mounts, where it lies in the agent's own data."""
        root = self._host.data_dir / "client" / "csi"
        for task in self._alloc.group["Tasks"]:
            plugin = task["CSIPluginConfig"]
            if plugin:
                folder = root / plugin["Type"] / plugin["ID"]
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)

    def _fail(self, reason: str) -> None:
        for name, runner in self._runners.items():
            with self._known.lock:
                self._alloc.tasks[name].finished_ns = clock.now_ns()
            runner.record(events.setup_failure(reason), state="dead", failed=True)

    def _task_changed(self) -> None:
        """Derive the allocation's status from its tasks, and end the siblings of a failed one."""
        with self._known.lock:
            alloc = self._alloc
            if alloc.client_status != "lost":  # a client that is down says nothing any more
                status = _client_status(alloc)
                alloc.client_status, alloc.client_description = status, _DESCRIPTIONS[status]
            alloc.modify_ns = clock.now_ns()
            alloc.modify_index = self._known.commit(ALLOCS)
            failed = any(task.failed and task.state == "dead" for task in alloc.tasks.values())
            alive = any(task.state != "dead" for task in alloc.tasks.values())
            if failed and alive and self._siblings is None:
                self._siblings = threading.Thread(target=self._kill_all, daemon=True)
                self._siblings.start()

    def _kill_all(self) -> None:
        killers = [threading.Thread(target=runner.kill, daemon=True) for runner in self._runners.values()]
        for killer in killers:
            killer.start()
        for killer in killers:
            killer.join()


_DESCRIPTIONS = {
    "pending": "No tasks have started",
    "running": "Tasks are running",
    "complete": "All tasks have completed",
    "failed": "Failed tasks",
}


def _client_status(alloc: state.Allocation) -> str:
    tasks = alloc.tasks.values()
    if any(task.state == "dead" and task.failed for task in tasks):
        return "failed"
    if any(task.state == "running" for task in tasks):
        return "running"
    if any(task.state == "pending" for task in tasks):
        # a task between two starts does not make its allocation pending again
        return "running" if any(task.started_ns for task in tasks) else "pending"
    return "complete"


def agent_environment() -> dict[str, str]:
    """Return what tasks inherit from this process."""
    return dict(os.environ)
