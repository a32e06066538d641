"""One task of one allocation: prepared, started, watched, restarted, killed. Part of the Nomad emulator.

Source: hashicorp/nomad, ``client/allocrunner/taskrunner/task_runner.go``, 2026-08-21.
"""

import dataclasses
import json
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.jobs import validate
from nomad_csi_sandbox.nomad.storage import csi_supervisor, plugins
from nomad_csi_sandbox.nomad.tasks import events, interpolate, process, restarts, task_env, task_templates

Json = dict[str, Any]

MAX_KILL_TIMEOUT_NS = 30_000_000_000
"""A client's ``max_kill_timeout``."""


_COMMON_OPTIONS = {"args", "command", "work_dir"}
OPTIONS = {
    "exec": _COMMON_OPTIONS | {"cap_add", "cap_drop", "ipc_mode", "pid_mode"},
    "raw_exec": _COMMON_OPTIONS | {"cgroup_v1_override", "cgroup_v2_override", "oom_score_adj"},
}
"""Driver -> options that it takes. Source: ``drivers/exec/driver.go``, ``drivers/rawexec/driver.go``."""


class PrepareError(Exception):
    """The task cannot run at all; carries the event that says so."""

    def __init__(self, event: Json) -> None:
        super().__init__(event["DisplayMessage"])
        self.event = event


class TaskRunner:
    """Runs one task in a thread of its own, from `start` until it ended for good."""

    def __init__(
        self,
        place: task_env.TaskPlace,
        known: state.State,
        task_state: state.TaskState,
        *,
        pace: csi_supervisor.Pace,
        changed: Callable[[], None],
    ) -> None:
        self._place = place
        self._known = known
        self._state = task_state
        self._pace = pace
        self._changed = changed
        self._stopping = threading.Event()
        self._process: process.TaskProcess | None = None
        self._process_lock = threading.Lock()
        self._unhealthy = False
        self._supervisor: csi_supervisor.Supervisor | None = None
        job_type = place.job["Type"]
        self._tracker = restarts.RestartTracker(place.task["RestartPolicy"], job_type, clock.now_ns())
        self._thread = threading.Thread(target=self._run, name=f"task-{place.alloc_id[:8]}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def record(self, event: Json, **changes: Any) -> None:
        """Note an event, and *changes* of the task's state."""
        with self._known.lock:
            self._state.events = [*self._state.events, event][-events.KEPT_EVENTS :]
            for name, value in changes.items():
                setattr(self._state, name, value)
        self._changed()

    def kill(self) -> None:
        """End the task for good: interrupt, then kill after its ``kill_timeout``. Returns when it has ended."""
        self._stopping.set()
        if self._supervisor is not None:
            self._supervisor.stop()
        timeout_ns = min(self._place.task["KillTimeout"], MAX_KILL_TIMEOUT_NS)
        with self._process_lock:
            running = self._process
        if running is not None:
            self.record(events.killing(timeout_ns))
            _end(running, self._place.task["KillSignal"], timeout_ns)
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        failed = True
        try:
            failed = not self._run_until_done()
        except PrepareError as error:
            self.record(error.event)
            if error.event["Type"] == "Failed Validation":
                status = self._status(successful=False, event=error.event)
                self.record(events.not_restarting(status.reason))
        finally:
            self._clean_up()
            with self._known.lock:
                self._state.state, self._state.failed = "dead", failed
                self._state.finished_ns = clock.now_ns()
            self._changed()

    def _clean_up(self) -> None:
        if self._supervisor is not None:
            self._supervisor.stop()
            if self._supervisor.unready and not self._stopping.is_set():
                self.record(events.plugin_never_ready(self._supervisor.unready))
        if self._place.csi_socket is not None:
            shutil.rmtree(self._place.csi_socket.parent, ignore_errors=True)
            health = {"Healthy": False, "HealthDescription": "unhealthy", "UpdateTime": clock.rfc3339(clock.now_ns())}
            plugins.note_failure(self._known, self._place.alloc_id, health)

    def _run_until_done(self) -> bool:
        """Run, and run again as the policy says; return whether it ended well."""
        self._prepare()
        while not self._stopping.is_set():
            successful, event = self._run_once()
            if event is not None:
                self.record(event)
            if self._stopping.is_set():
                break
            status = self._status(successful=successful, event=event)
            if status.action == "complete":
                return True
            if status.action == "fail":
                self.record(events.not_restarting(status.reason))
                return False
            self._announce_restart(status)
            self._stopping.wait(status.delay_ns / 1e9)
        self.record(events.killed())
        return True

    def _status(self, *, successful: bool, event: Json | None) -> restarts.Status:
        recoverable = event is None or event["Type"] not in {"Driver Failure", "Failed Validation"}
        well = successful and not self._unhealthy
        return self._tracker.ended(successful=well, now_ns=clock.now_ns(), recoverable=recoverable)

    def _announce_restart(self, status: restarts.Status) -> None:
        self._unhealthy = False
        restarted = {"restarts": self._state.restarts + 1, "last_restart_ns": clock.now_ns(), "state": "pending"}
        self.record(events.restarting(status.delay_ns, status.reason), **restarted)

    def _prepare(self) -> None:
        self.record(events.setup("Building Task Directory"))
        place = self._place
        for directory in (place.alloc_dir / "alloc" / "logs", place.task_dir / "local", place.task_dir / "secrets"):
            directory.mkdir(parents=True, exist_ok=True)
        try:
            templated = task_templates.write_all(place, self._known, self._stopping, self.record)
        except task_templates.TemplateError as error:
            raise PrepareError(events.setup_failure(str(error))) from error
        self._place = dataclasses.replace(place, templated=templated)
        if place.csi_socket is not None:
            place.csi_socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_private(place.csi_socket.parent)

    def _run_once(self) -> tuple[bool, Json | None]:
        """Return whether the process ended well, and the event of its end."""
        command = self._command()
        try:
            with self._process_lock:
                if self._stopping.is_set():
                    return False, None
                running = self._process = process.TaskProcess(command)
        except process.StartError as error:
            return False, events.driver_failure(_launch_failed(command, error))
        self.record(events.started(), state="running", started_ns=clock.now_ns())
        self._supervise()
        ended = running.wait()
        with self._process_lock:
            self._process = None
        if ended is None:
            return False, None
        return ended.exit_code == 0, events.terminated(ended.exit_code, ended.signal)

    def _command(self) -> process.Command:
        place = self._place
        known = task_env.names(place)
        try:
            config = interpolate.option(place.task["Config"] or {}, known)
        except interpolate.UnknownVariableError as error:
            raise _misconfigured(str(error)) from error
        strange = sorted(config.keys() - OPTIONS.get(place.task["Driver"], config.keys()))
        if strange:
            raise _misconfigured(f'Invalid label: No argument or block type is named "{strange[0]}".')
        environment = task_env.environment(place)
        program = _find_program(str(config.get("command", "")), environment.get("PATH", ""), place.task_dir)
        logs = place.alloc_dir / "alloc" / "logs"
        return process.Command(
            argv=[program, *(str(item) for item in config.get("args") or [])],
            written=str(config.get("command", "")),
            environment=environment,
            directory=place.task_dir,
            stdout=logs / f"{place.task['Name']}.stdout.0",
            stderr=logs / f"{place.task['Name']}.stderr.0",
        )

    def _supervise(self) -> None:
        config = self._place.task["CSIPluginConfig"]
        if not config or (self._supervisor is not None and self._supervisor.alive):
            return
        watched = csi_supervisor.Watched(
            config=config,
            alloc_id=self._place.alloc_id,
            node_id=self._place.node["ID"],
            socket=str(self._place.csi_socket),
        )
        self._supervisor = csi_supervisor.Supervisor(
            watched, self._known, pace=self._pace, record=self.record, restart=self._restart_unhealthy
        )

    def _restart_unhealthy(self) -> None:
        """End the process of a CSI plugin that did not become healthy; the restart policy decides what follows."""
        config = self._place.task["CSIPluginConfig"]
        self._unhealthy = True
        restarted = {"restarts": self._state.restarts + 1, "last_restart_ns": clock.now_ns()}
        self.record(events.plugin_restart(config["HealthTimeout"]), **restarted)
        with self._process_lock:
            running = self._process
        if running is not None:
            _end(running, self._place.task["KillSignal"], self._place.task["KillTimeout"])


def _misconfigured(problem: str) -> PrepareError:
    return PrepareError(events.failed_validation(validate.multi_error(["failed to parse config: ", problem])))


def _make_private(directory: Path) -> None:
    """Give the socket's folder and the one above it to the agent's user alone, as Nomad does."""
    for folder in (directory, directory.parent):
        folder.chmod(0o700)


def _end(running: process.TaskProcess, kill_signal: str, timeout_ns: int) -> None:
    running.signal(signal.Signals[kill_signal] if kill_signal else signal.SIGINT)
    if running.wait(timeout_ns / 1e9) is None:
        running.signal(signal.SIGKILL)
        running.wait()


def _find_program(command: str, path: str, directory: Path) -> str:
    """Return the absolute path of *command*; one that is not found stays, and the start fails."""
    found = shutil.which(command, path=path) or command
    return found if Path(found).is_absolute() else str(directory / found)


def _launch_failed(command: process.Command, error: process.StartError) -> str:
    program = command.argv[0]
    written = " ".join(json.dumps(word) for word in command.argv)
    reason = f'failed to start command path="{program}" --- args=[{written}]: fork/exec {program}: {error.reason}'
    if not Path(program).exists():
        reason = f'binary "{command.written}" could not be found'
    return f"failed to launch command with executor: rpc error: code = Unknown desc = {reason}"
