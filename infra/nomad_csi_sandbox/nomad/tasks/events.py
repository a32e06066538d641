"""
What happened to a task, in the shape and the words of `TaskEvent`. Pure. Part of the Nomad emulator.

Source: hashicorp/nomad, ``nomad/structs/structs.go`` (``PopulateEventDisplayMessage``), 2026-08-21; ``02-alloc.json``.
"""

from typing import Any

from nomad_csi_sandbox.nomad import clock

Json = dict[str, Any]

KEPT_EVENTS = 10
"""Events that a task keeps; the oldest go first."""

_EMPTY: Json = dict.fromkeys(
    (
        *("DownloadError", "DriverError", "DriverMessage", "FailedSibling", "GenericSource", "KillError", "KillReason"),
        *("Message", "RestartReason", "SetupError", "TaskSignal", "TaskSignalReason", "ValidationError", "VaultError"),
    ),
    "",
) | {"DiskLimit": 0, "ExitCode": 0, "FailsTask": False, "KillTimeout": 0, "Signal": 0, "StartDelay": 0}


def _event(kind: str, display: str, details: dict[str, str] | None = None, **fields: Any) -> Json:
    own = {"Details": details or {}, "DisplayMessage": display, "Time": clock.now_ns(), "Type": kind}
    return _EMPTY | own | fields


def received() -> Json:
    """Return the first event of every task."""
    return _event("Received", "Task received by client")


def setup(message: str) -> Json:
    """Return a step of the preparation."""
    return _event("Task Setup", message, {"message": message}, Message=message)


def started() -> Json:
    """Return the start of the process."""
    return _event("Started", "Task started by client")


def terminated(exit_code: int, signal: int) -> Json:
    """Return the end of the process; *signal* is 0 when none ended it."""
    display = f"Exit Code: {exit_code}" + (f", Signal: {signal}" if signal else "")
    details = {"exit_code": str(exit_code), "oom_killed": "false", "signal": str(signal)}
    return _event("Terminated", display, details, ExitCode=exit_code, Signal=signal)


def restarting(delay_ns: int, reason: str) -> Json:
    """Return the announcement of the next start."""
    display = f"Task restarting in {clock.go_duration(delay_ns)}"
    if reason != "Restart within policy":
        display = f"{reason} - {display}"
    details = {"restart_reason": reason, "start_delay": str(delay_ns)}
    return _event("Restarting", display, details, RestartReason=reason, StartDelay=delay_ns)


def plugin_restart(health_timeout_ns: int) -> Json:
    """Return the restart of a CSI plugin that did not become healthy in time."""
    timeout = clock.go_duration(health_timeout_ns)
    return _event("Restarting", f"CSI plugin did not become healthy before configured {timeout} health timeout")


def not_restarting(reason: str) -> Json:
    """Return the end by the restart policy."""
    details = {"restart_reason": reason, "fails_task": "true"}
    return _event("Not Restarting", reason, details, RestartReason=reason, FailsTask=True)


def driver_failure(message: str) -> Json:
    """Return a process that could not be started."""
    return _event("Driver Failure", message, {"driver_error": message}, DriverError=message)


def template_missing(paths: tuple[str, ...], namespace: str) -> Json:
    """Return the wait for Nomad variables that do not exist."""
    missing = ", ".join(f"nomad.var.block({path}@{namespace}.global)" for path in paths)
    return _event("Template", f"Missing: {missing}")


def setup_failure(message: str) -> Json:
    """Return a failed preparation, such as a volume that could not be claimed."""
    kept = {"FailsTask": True, "KillReason": "Failed Restoring Task"}
    return _event("Setup Failure", message, {"message": message}, **kept)


def failed_validation(message: str) -> Json:
    """Return a configuration that the driver cannot read."""
    return _event("Failed Validation", message, {"validation_error": message}, ValidationError=message)


def killing(timeout_ns: int) -> Json:
    """Return the interrupt before the kill."""
    display = f"Sent interrupt. Waiting {clock.go_duration(timeout_ns)} before force killing"
    return _event("Killing", display, {"kill_timeout": clock.go_duration(timeout_ns)}, KillTimeout=timeout_ns)


def killed() -> Json:
    """Return the end on request."""
    return _event("Killed", "Task successfully killed")


def plugin_healthy(plugin_id: str) -> Json:
    """Return the first successful probe, and every recovery."""
    message = f"plugin: {plugin_id}"
    return _event("Plugin became healthy", message, {"message": message}, Message=message)


def plugin_never_ready(error: str) -> Json:
    """Return the end of the health timeout, or of a task whose plugin never became ready."""
    return plugin_unhealthy(f"CSI plugin failed probe: {error}")


def plugin_unhealthy(error: str) -> Json:
    """Return a failed probe after a good one; *error* may be empty."""
    message = f"Error: {error}" if error else "Unknown Reason"
    return _event("Plugin became unhealthy", message, {"message": message}, Message=message)
