"""`pulumi up` from a process that sees no socket: registrations wait for what plugins answer on two real clients."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
from concurrent import futures
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import probe_job
from tests.contract import agents
from tests.real import two_clients
from tests.real.program.conftest import DEADLINE_S, OWN_PROGRAMS

pytestmark = pytest.mark.real_nomad

PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
HIDDEN = 'mount -t tmpfs none "$0" && exec "$@"'
"""Run within a mount namespace of its own: what is below a folder is not seen."""

ASKED = r"asking 2 clients with job (nomad-csi-probe-[0-9a-f]{8}): c1, c2"


@pytest.fixture(scope="module")
def cluster():
    """One server and two clients, on which no plugin runs yet."""
    with two_clients.started() as made:
        yield made


@pytest.fixture
def world(cluster, tmp_path):
    """What a program finds: that cluster."""
    environment = agents.task_environment("http://127.0.0.1:1", "i-1")
    return SimpleNamespace(environment=environment | {"HOME": str(tmp_path), "NOMAD_ADDR": cluster.address})


@pytest.fixture
def begin(stack, world, cluster, tmp_path):
    """Begin an `up` of two plugins and a volume: ``begin(timeout_s)`` returns its process."""
    folder = tmp_path / "storage"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: nomad-csi\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    config = folder / "Pulumi.dev.yaml"
    settings = yaml.safe_load(config.read_text())
    running = []

    def run(timeout_s):
        settings["config"] = {"nomad-csi:storage": spec(cluster, timeout_s)}
        config.write_text(yaml.safe_dump(settings))
        words = ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive", "--color", "never")
        process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", HIDDEN, str(cluster.folder), *words],
            cwd=folder,
            env=made.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process

    run.stack = made
    yield run
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def spec(cluster, timeout_s):
    """Return the spec: a real driver, which is a controller too, and an emulator with a volume."""
    on_nodes = {"command": str(OWN_PROGRAMS / "nomad-csi"), "timeout_s": 30}
    own = {"name": "raw_exec", "client_data_dir": str(cluster.folder / "c1")}
    verify = {"evidence": "csi", "on_nodes": on_nodes, "timeout_s": timeout_s, "stable_s": 3}
    hostpath = {
        "id": "hostpath0",
        "driver": "csi-hostpath",
        "config": {"state_dir": str(cluster.folder / "state")},
        "task_driver": own | {"command": shutil.which("hostpathplugin")},
        "verify": verify,
    }
    efs = {
        "id": "efs0",
        "driver": "aws-efs",
        "aws_region": "us-east-1",
        "task_driver": own | {"command": two_clients.EMULATOR, "arguments": ["--driver", "aws-efs"]},
        "verify": verify,
    }
    volume = {"id": "shared", "plugin_id": "efs0", "existing": {"external_id": "fs-0123456789abcdef0"}}
    return {"plugins": [hostpath, efs], "volumes": [volume]}


@contextlib.contextmanager
def hung(cluster):
    """Stop the process of a plugin on one client for as long as a job asks there. In between Nomad finds it healthy."""
    over = threading.Event()

    def run():
        plugin = two_clients.Plugin(cluster, "efs0", "plugin-efs0-nodes", cluster.folder)
        is_stopped = False
        while not over.wait(0.1) or is_stopped:
            is_wanted = not over.is_set() and is_asked(cluster, "c2")
            if is_wanted != is_stopped:
                plugin.signal("c2", signal.SIGSTOP if is_wanted else signal.SIGCONT)
                is_stopped = is_wanted

    with futures.ThreadPoolExecutor(1) as pool:
        stopping = pool.submit(run)
        try:
            yield
        finally:
            over.set()
            stopping.result()


def is_asked(cluster, name):
    """Return whether a probe job has, or will have, its task on a client."""
    return any(
        item.node_name == name and item.client_status in {"pending", "running"}
        for job_id, _ in probe_jobs(cluster)
        for item in jobs.allocations(cluster.client, "default", job_id)
    )


def healthy_nodes(cluster):
    found = plugins.get(cluster.client, "efs0")
    return sum(item.healthy for item in found.nodes) if found else 0


def probe_jobs(cluster):
    """Return the probe jobs of the cluster: id and status."""
    return [(item.job_id, item.status) for item in jobs.list_jobs(cluster.client, "default", probe_job.PREFIX)]


def until_asked(cluster):
    """Wait until a job asks; return its id."""

    def asking():
        for job_id, _ in probe_jobs(cluster):
            found = jobs.allocations(cluster.client, "default", job_id)
            if any(item.client_status == "running" for item in found):
                return job_id
        return ""

    return two_clients.until(asking)


def interrupt(process, _cluster):
    """Send Ctrl-C as a terminal does: to all processes in the foreground."""
    os.killpg(process.pid, signal.SIGINT)


def kill(_process, cluster):
    """Kill our provider."""
    found = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if is_provider(path, cluster)]
    assert found
    for path in found:
        os.kill(int(path.name), signal.SIGKILL)


def is_provider(path, cluster):
    with contextlib.suppress(OSError):
        ours = f"NOMAD_ADDR={cluster.address}\0".encode() in path.with_name("environ").read_bytes()
        return ours and b"nomad_csi.provider" in path.read_bytes()
    return False


def test_a_hung_plugin_stops_the_up(cluster, begin):
    """Nomad calls it healthy, and its socket is silent: the error says where, nothing is registered, no job is left."""
    process = begin(75)
    with hung(cluster):
        text, _ = process.communicate(timeout=DEADLINE_S)

    assert process.returncode != 0, text
    assert re.search(ASKED, text), text
    assert "plugin efs0 is not verified healthy after 75 s" in text, text
    assert "asked over CSI by a job: node on c1: ready, node on c2: silent" in text, text
    assert "plugin hostpath0: verified by CSI probes on 2 clients" in text, text
    assert volumes.get(cluster.client, "default", "shared") is None
    assert probe_jobs(cluster) == []


@pytest.mark.parametrize("end", [interrupt, kill])
def test_what_ends_an_up_that_asks_leaves_nothing_behind_after_the_next(cluster, begin, end):
    """Ctrl-C purges the job; that of a killed provider ends by itself. The next `up` asks both plugins by one job."""
    process = begin(120)
    with hung(cluster):
        left = until_asked(cluster)
        end(process, cluster)
        text, _ = process.communicate(timeout=DEADLINE_S)
        after = probe_jobs(cluster)
    assert process.returncode != 0, text
    assert volumes.get(cluster.client, "default", "shared") is None
    if end is interrupt:
        assert "cancelled while waiting for plugin efs0; nothing was registered" in text
        assert after == []
    else:
        assert [job_id for job_id, _ in after] == [left]
        two_clients.until(lambda: probe_jobs(cluster) == [(left, "dead")])

    two_clients.until(lambda: healthy_nodes(cluster) == 2)  # else its plugin is steady later, and a job of its own asks
    again = begin(120)
    text, _ = again.communicate(timeout=DEADLINE_S)

    assert again.returncode == 0, text
    assert len(set(re.findall(ASKED, text))) == 1, text
    told = re.findall("plugin ([a-z0-9]+): verified by CSI probes on 2 clients", text)
    assert sorted(set(told)) == ["efs0", "hostpath0"]
    assert (f"removing job {left}, which an earlier probe left behind" in text) == (end is kill)
    assert volumes.get(cluster.client, "default", "shared").external_id == "fs-0123456789abcdef0"
    assert probe_jobs(cluster) == []
    begin.stack.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    begin.stack.run("destroy", "--yes", "--skip-preview")
