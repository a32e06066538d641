"""SIGINT and SIGTERM at every request of a command, and while it imports its modules: one sentence, one exit code."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi.nomad import volumes
from tests import deadlines
from tests.faults import conftest

SAID = {
    signal.SIGINT: (130, "interrupted; safe to re-run\n"),
    signal.SIGTERM: (143, "ended by SIGTERM; safe to re-run\n"),
}
AT_IMPORT = """
import os, signal, sys
left = int(sys.argv.pop(1))

class Interrupter:
    def find_spec(name, *_):
        global left
        if name.partition(".")[0] in ("nomad_csi", "click", "yaml", "pydantic", "regex"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter)
from nomad_csi.__main__ import main
code = main()
print(left)
sys.exit(code)
"""
"""The command, with an interrupt at the import of a module of ours or of a library; at its end, how many were too few."""


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "nomad_csi", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def interrupted(proxy, words, at, number):
    """Run the command, which gets the signal *number* at its request *at*, before it is answered; return how it ended."""
    seen, running = [], SimpleNamespace(pid=0)

    def send(handler):
        seen.append(handler.path)
        if len(seen) == at + 1:
            os.kill(running.pid, number)
        with contextlib.suppress(OSError):  # the command has gone
            handler.answer(*handler.forward())

    proxy.faults.clear()
    for method in ("GET", "PUT", "POST", "DELETE"):
        proxy.fault(method, send, times=10**6)
    with start(*words, "--address", proxy.address) as running_now:
        running.pid = running_now.pid
        _, err = running_now.communicate(timeout=deadlines.PATIENT_S)
    return running_now.returncode, err, len(seen)


def interrupt_every_request(proxy, words, number, *, step=1):
    """
    Interrupt a run of the command at its first request, another *step* requests later, and so on; return how many.

    ``words(at)`` are those of a run with volumes of its own. After each, a run that no one interrupts does the rest.
    """
    at = 0
    while (ended := interrupted(proxy, words(at), at * step, number))[2] > at * step:
        code, said = SAID[number]
        assert (ended[0], ended[1].splitlines(keepends=True)[-1:]) == (code, [said]), f"at request {at * step + 1}"
        assert "Traceback" not in ended[1]
        code, err, _ = interrupted(proxy, words(at), -2, number)
        assert code == 0, err
        at += 1
    assert ended[0] == 0, ended[1]  # it needed no more requests than these
    return at


@deadlines.MANY_RUNS
@pytest.mark.parametrize("number", SAID)
def test_apply_of_files_ends_at_every_third_request(number, proxy, files, held, ids):
    """What was registered is registered, and the next run registers the rest."""

    def words(at):
        for path in Path(files()).iterdir():
            path.unlink()
        return ["apply", files(f"v{2 * at}", f"v{2 * at + 1}"), "--yes"]

    # Each run has two volumes more to read about: a smaller step would never come to the end of one.
    at = interrupt_every_request(proxy, words, number, step=3)

    assert at >= 5
    assert held() == ids(2 * at + 2)


@pytest.fixture(name="plugin")
def _plugin(make_agent):
    """An agent with a plugin that makes volumes."""
    return make_agent(environment={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"})


@deadlines.MANY_RUNS
@pytest.mark.parametrize("number", SAID)
def test_apply_ends_at_every_eighth_request(number, plugin, tmp_path):
    """No volume is created twice, and none is lost."""
    path = tmp_path / "storage.yaml"

    def words(at):
        create = {"capacity_min_bytes": 100 * 2**20}
        items = [{"id": f"v{2 * at + index}", "plugin_id": "hostpath0", "create": create} for index in range(2)]
        driver = {
            "name": "raw_exec",
            "command": "nomad-csi-sandbox-csi-plugin",
            "arguments": ["--driver", "csi-hostpath"],
        }
        driver["client_data_dir"] = str(plugin.settings.data_dir)
        plugin_spec = {"id": "hostpath0", "driver": "csi-hostpath", "task_driver": driver, "verify": {"stable_s": 0.1}}
        path.write_text(yaml.safe_dump({"plugins": [plugin_spec], "volumes": items}))
        return ["apply", str(path), "--owner", "shop/prod", "--yes"]

    with conftest.proxied(plugin.url) as proxy:
        cli.main([*words(0), "--address", proxy.address])  # the plugin runs from then on
        at = interrupt_every_request(proxy, words, number, step=8)

    with nomad.Nomad(nomad.Connection(address=plugin.url)) as client:
        found = [volumes.get(client, "default", each.volume_id) for each in volumes.list_volumes(client, "default")]
    assert at >= 5
    assert sorted(each.volume_id for each in found) == sorted(f"v{index}" for index in range(2 * at + 2))
    assert len({each.external_id for each in found}) == 2 * at + 2


@deadlines.MANY_RUNS
def test_interrupt_while_modules_are_imported():
    """From the first module of ours to those of the command."""

    def run(at):
        command = [sys.executable, "-B", "-c", AT_IMPORT, str(at), "check", "/nonexistent.yaml"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=deadlines.PATIENT_S, check=False)
        return done.returncode, done.stderr, done.stdout

    code, _, left = run(10**6)
    count = 10**6 - int(left)
    step = max(count // int(os.environ.get("INTERRUPTS", "8")), 1)

    assert code == 2
    assert count > 100
    ended = {run(at)[:2] for at in [3, 4, *range(5, count, step)]}
    assert ended == {SAID[signal.SIGINT]}
