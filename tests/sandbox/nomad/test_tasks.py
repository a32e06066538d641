"""Tasks are real processes: environment, restarts, ends, and no survivors."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests import servers

SHOW = 'import json, os, sys; print(json.dumps({"args": sys.argv[1:], "env": dict(os.environ)}))'


def events_of(alloc):
    """Return type and message of the events of task ``t``."""
    return [(event["Type"], event["DisplayMessage"]) for event in alloc["TaskStates"]["t"]["Events"]]


def test_task_gets_its_names_and_the_agents_environment(api, job, data_dir):
    """Options are filled in, env keeps what is unknown, and the node's zone is handed down."""
    env = 'env {\n A = "${node.unique.name} ${NOT_KNOWN}"\n}'
    args = ["-c", SHOW, "${node.unique.name}", "${NOMAD_JOB_ID}", "${attr.unique.hostname}"]

    api.run(job("j", kind="batch", command=sys.executable, args=args, task=env))

    [alloc] = api.until_status("j", "complete")
    log = data_dir / "alloc" / alloc["ID"] / "alloc" / "logs" / "t.stdout.0"
    found = json.loads(log.read_text(encoding="utf-8"))
    assert found["args"] == ["one", "j", "one"]
    assert found["env"]["A"] == "one ${NOT_KNOWN}"
    assert found["env"]["NOMAD_ALLOC_ID"] == alloc["ID"]
    assert found["env"]["NOMAD_CSI_SANDBOX_ZONE"] == "us-east-1a"
    assert found["env"]["NOMAD_CSI_SANDBOX_INSTANCE_ID"] == "i-1"
    assert found["env"]["PATH"] == os.environ["PATH"]


def test_batch_task_ends_well(api, job):
    """Its events are Nomad's."""
    api.run(job("j", kind="batch", command="true", args=[]))

    [alloc] = api.until_status("j", "complete")
    assert events_of(alloc) == [
        ("Received", "Task received by client"),
        ("Task Setup", "Building Task Directory"),
        ("Started", "Task started by client"),
        ("Terminated", "Exit Code: 0"),
    ]


def test_unknown_name_in_an_option_fails_the_task(api, job):
    """As measured: parse, plan and register pass, the client refuses."""
    status, _, _ = api.run(job("j", kind="batch", args=["${NOT_KNOWN}"]))

    [alloc] = api.until_status("j", "failed")
    assert status == 200
    assert [kind for kind, _ in events_of(alloc)[-2:]] == ["Failed Validation", "Not Restarting"]


def test_missing_program_is_a_driver_failure(api, job):
    """The event names the program, and the policy decides."""
    restart = "restart {\n attempts = 0\n}"

    api.run(job("j", kind="system", command="/no/such/program", group=restart))

    alloc = api.until_status("j", "failed", "failed")[0]
    kinds = [kind for kind, _ in events_of(alloc)]
    assert kinds == ["Received", "Task Setup", "Driver Failure", "Not Restarting"]
    assert "/no/such/program" in events_of(alloc)[2][1]


def test_failed_task_restarts_as_its_policy_says(api, job):
    """Two restarts, then the end in mode fail; a system job stays down."""
    restart = 'restart {\n attempts = 2\n delay = "10ms"\n interval = "1h"\n mode = "fail"\n}'

    api.run(job("j", kind="system", command="false", args=[], group=restart))

    alloc = api.until_status("j", "failed", "failed")[0]
    assert alloc["TaskStates"]["t"]["Restarts"] == 2
    assert events_of(alloc)[-1] == (
        "Not Restarting",
        'Exceeded allowed attempts 2 in interval 1h0m0s and mode is "fail"',
    )


def test_stopped_task_that_ignores_interrupts_is_killed(api, job):
    """After its kill_timeout, by force."""
    task = 'kill_timeout = "100ms"'
    api.run(job("j", command="sh", args=["-c", "trap '' INT; echo up; while true; do sleep 0.1; done"], task=task))
    api.until_status("j", "running")

    api.call("DELETE", "/v1/job/j")

    [alloc] = api.until_status("j", "complete")
    kinds = [kind for kind, _ in events_of(alloc)]
    assert kinds[-3:] == ["Killing", "Terminated", "Killed"]


def test_raw_exec_cannot_use_volumes_but_exec_needs_them_registered(api, job):
    """A job with an unknown volume waits, with the scheduler's sentence in its plan."""
    block = 'volume "d" {\n type = "csi"\n source = "v"\n access_mode = "single-node-writer"\n'
    source = job("j", driver="exec", group=block + ' attachment_mode = "file-system"\n}')

    _, planned, _ = api.call("POST", "/v1/job/j/plan", {"Job": api.parse(source), "Diff": False})

    assert planned["FailedTGAllocs"]["g"]["ConstraintFiltered"] == {"missing CSI volume(s) v": 2}


@pytest.fixture
def agent(data_dir):
    """The emulator as a process; ends with the test."""
    words = ("--data-dir", data_dir, "--node", "one=us-east-1a=i-1")
    process, port, _ = servers.start("nomad_csi_sandbox.nomad", data_dir, *words)
    yield process, port
    process.kill()
    process.wait()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_task_survives_its_agent(agent, api, job, data_dir, number):
    """Neither an ended nor a killed agent leaves a process behind."""
    process, port = agent
    api.url = f"http://127.0.0.1:{port}"
    pid_file = data_dir / "pid"
    api.run(job("j", command="sh", args=["-c", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 600"]))
    api.until(pid_file.exists, bool)

    process.send_signal(number)

    assert process.wait(120) == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    pid = int(pid_file.read_text(encoding="utf-8"))
    api.until(lambda: _runs(pid), lambda runs: not runs)


def _runs(pid):
    """Tell whether a process lives; one that only waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
