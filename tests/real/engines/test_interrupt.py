"""Ctrl-C at a terminal while `up` waits for a plugin, once and twice; then `up` again."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from nomad_csi.nomad import volumes

WAITS = "PluginHealth aws-ebs0 creating"
RECEIVED = "^C received"


def break_plugin(storage):
    """Leave out the other plugin, and let the tasks of this one end at once."""
    del storage["plugins"][1:], storage["volumes"][1:]
    storage["plugins"][0]["task_driver"] |= {"command": "false", "arguments": []}


def mend_plugin(storage):
    task_driver = storage["plugins"][0]["task_driver"]
    task_driver |= {"command": "nomad-csi-sandbox-csi-plugin", "arguments": ["--driver", "aws-ebs"]}


def read_until(process, words):
    """Return what *process* wrote up to a line with *words*."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    pytest.fail(f"ended without {words!r}: " + "".join(lines))


def interrupt(process):
    """Send Ctrl-C as a terminal does: to all processes in the foreground."""
    os.killpg(process.pid, signal.SIGINT)


def begin(engine):
    """Start `up` of a plugin that does not get healthy; return the process when it waits, and what it wrote."""
    engine.sandbox.edit(break_plugin)
    process = engine.sandbox.start("up", "--engine", engine.kind, "--nomad", "emulator")
    return process, read_until(process, f"{WAITS} (")


def providers(sandbox):
    """Return the process ids of our provider that run for *sandbox*."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = f"NOMAD_CSI_ROOT={sandbox.project}\0".encode() in (path / "environ").read_bytes()
            if ours and b"nomad_csi.provider" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def assert_whole(engine):
    """Everything is there once, in AWS and in Nomad, and the state knows it."""
    [volume_id] = engine.sandbox.owned()[0]
    with engine.sandbox.nomad() as client:
        jobs = sorted(job["ID"] for job in client.request("GET", "/v1/jobs").data)
        assert volumes.get(client, "default", "mysql").external_id == volume_id
        assert [each.volume_id for each in volumes.list_volumes(client, "*")] == ["mysql"]
    assert jobs == ["plugin-aws-ebs0-controller", "plugin-aws-ebs0-nodes"]
    assert [each["id"] for each in engine.resources() if each["type"] == "aws:ebs/volume:Volume"] == [volume_id]


def test_one_interrupt_is_told_in_a_sentence_and_the_next_up_goes_on(each_engine, noise):
    """What waits ends with our words, nothing is pending, and nothing is made twice."""
    process, before = begin(each_engine)

    interrupt(process)
    text, _ = process.communicate(timeout=60)

    assert process.returncode == 1, before + text
    assert "error: cancelled while waiting for plugin aws-ebs0; nothing was registered" in text
    assert noise(before + text) == []
    assert "pending_operations" not in each_engine.deployment()
    each_engine.sandbox.edit(mend_plugin)
    again = each_engine.run("up", "--skip-preview")
    assert (again.code, noise(again.text)) == (0, []), again.text
    assert_whole(each_engine)


def test_two_interrupts_leave_a_pending_operation_that_a_refresh_clears(engine, noise):
    """`up` goes on and makes nothing twice; what is pending goes as the documentation says."""
    real = engine("real")
    process, before = begin(real)
    stopped = providers(real.sandbox)
    try:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)  # so that the step still waits at the second one
        interrupt(process)
        between = read_until(process, RECEIVED)
        interrupt(process)
        text, _ = process.communicate(timeout=60)
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    assert process.returncode != 0
    assert noise(before + between + text) == []
    pending = real.deployment()["pending_operations"]
    assert [(each["type"], each["resource"]["urn"].rpartition("$")[2]) for each in pending] == [
        ("creating", "nomad-csi:index:PluginHealth::aws-ebs0")
    ]
    real.sandbox.edit(mend_plugin)
    again = real.run("up", "--skip-preview")
    assert (again.code, noise(again.text)) == (0, []), again.text
    assert_whole(real)
    assert [each["type"] for each in real.deployment()["pending_operations"]] == ["creating"]
    cleared = real.run("refresh", "--skip-preview", "--clear-pending-creates")
    assert (cleared.code, noise(cleared.text)) == (0, []), cleared.text
    assert "pending_operations" not in real.deployment()


def end_tasks(storage):
    """Let the tasks of the EBS plugin end at once."""
    storage["plugins"][0]["task_driver"] |= {"command": "false", "arguments": []}


def test_what_a_killed_pulumi_leaves_running_is_ended_by_down(engine):
    """It was run by hand in the sandbox's environment; its providers outlive it, but not the sandbox."""
    real = engine("real")
    up = real.start_sandbox()
    assert up.code == 0, up.text
    real.sandbox.edit(end_tasks)
    process = real.sandbox.start("exec", "--", *map(str, real.command("up", "--skip-preview")))
    read_until(process, "PluginHealth aws-ebs0 updating (")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    outlived = providers(real.sandbox)

    down = real.sandbox.run("down")

    assert outlived != []
    assert (down.returncode, providers(real.sandbox)) == (0, []), down.stdout + down.stderr
